//! Pictures of real orders: their shape, not their looks.

use super::*;
use tapewise_model::{NominalLayout, Position, Profile, Random, profile};
use tapewise_order::{
    Algorithm, Alternatives, End, Inputs, Options, PlacedExtent, Problem, Request, Tape,
};

const BLOCK_BYTES: u64 = 32_768;

/// Reads of one size at random places of a full cartridge.
fn problem(name: &str, requests: usize, read_bytes: u64) -> Problem {
    let profile: Profile = profile::find(name).unwrap();
    let map = profile
        .nominal_map(NominalLayout::Single, BLOCK_BYTES)
        .unwrap();
    let tape = Tape::new(&profile, None).unwrap();
    let blocks = read_bytes / BLOCK_BYTES;
    let mut random = Random::new(1, 0);
    let requests: Vec<Request> = (0..requests)
        .map(|_| {
            let first = random.below(map.end_block(0) - blocks);
            let last = first + blocks - 1;
            Request::single(PlacedExtent::on_map(&map, 0, first, last, read_bytes).unwrap())
        })
        .collect();
    let options = Options {
        head: Position::beginning_of_tape(tape.geometry.lpos_min),
        end: End::Anywhere,
        read_through: true,
    };
    Problem::new(tape, options, &requests)
}

fn plan(problem: &Problem, algorithm: Algorithm) -> Plan {
    let alternatives = Alternatives::none();
    let order = algorithm
        .order(problem, &Inputs::new(&alternatives))
        .expect("an order");
    Plan::new(problem, order)
}

fn picture(problem: &Problem, algorithms: &[Algorithm], title: &str) -> String {
    let plans: Vec<Plan> = algorithms
        .iter()
        .map(|&algorithm| plan(problem, algorithm))
        .collect();
    let panels: Vec<Panel> = algorithms
        .iter()
        .zip(&plans)
        .map(|(algorithm, plan)| Panel {
            title: algorithm.title().to_owned(),
            plan,
        })
        .collect();
    let svg = head_paths(&panels, &problem.tape().geometry, title);
    // To look at them: TAPEWISE_PICTURES=/tmp cargo test -p tapewise-plot
    if let Some(directory) = std::env::var_os("TAPEWISE_PICTURES") {
        let name = format!("{}.svg", title.replace([' ', ','], "-"));
        std::fs::write(std::path::Path::new(&directory).join(name), &svg).unwrap();
    }
    svg
}

const PAIR: [Algorithm; 2] = [Algorithm::Sort, Algorithm::Best];

#[test]
fn two_orders_of_200_reads_stand_side_by_side_and_the_bytes_repeat() {
    let problem = problem("lto8", 200, 2_000_000_000);
    let title = "200 random reads of 2 GB on one LTO-8 tape";
    let svg = picture(&problem, &PAIR, title);
    assert!(
        svg.starts_with("<svg width=\"1400\" height=\"698\" viewBox="),
        "{}",
        &svg[..90]
    );
    for words in [
        "sorted by block: ",
        "tapewise best: ",
        "km of tape",
        title,
        "wrap",
        "156",
        "band 3",
    ] {
        assert!(svg.contains(words), "{words}");
    }
    assert!(svg.len() < 400_000, "{} bytes", svg.len());
    assert_eq!(svg, picture(&problem, &PAIR, title));
}

#[test]
fn ten_reads_show_arrows_and_a_thousand_do_not() {
    let few = picture(&problem("lto8", 10, 2_000_000_000), &PAIR, "10 reads");
    assert!(few.contains("<polygon"));
    let many = picture(&problem("lto8", 1_000, 2_000_000_000), &PAIR, "1000 reads");
    assert!(!many.contains("<polygon"));
    assert!(many.len() < 2_000_000, "{} bytes", many.len());
}

#[test]
fn a_dlt4000_has_tracks_without_metres_and_a_helical_drive_one_strip() {
    let dlt = picture(&problem("dlt4000", 96, 1_000_000), &PAIR, "DLT4000");
    assert!(dlt.contains("along the tape, LPOS") && dlt.contains("lengths of tape"));
    let helical = problem("sony-dtf", 60, 100_000_000);
    let svg = picture(&helical, &[Algorithm::Fifo, Algorithm::Sort], "Sony DTF");
    assert!(svg.contains("GB of data") && !svg.contains("wrap"));
}

#[test]
fn four_panels_widen_the_page_and_none_leave_it_empty() {
    let problem = problem("lto6", 30, 2_000_000_000);
    let four = [
        Algorithm::Fifo,
        Algorithm::Sort,
        Algorithm::Sltf,
        Algorithm::Best,
    ];
    let svg = picture(&problem, &four, "four orders");
    assert!(svg.starts_with("<svg width=\"1826\""), "{}", &svg[..60]);
    let none = head_paths(&[], &problem.tape().geometry, "none");
    assert!(none.contains(">none</text>"));
}

#[test]
fn an_empty_plan_is_an_empty_picture() {
    let problem = problem("lto8", 0, 2_000_000_000);
    assert!(picture(&problem, &[Algorithm::Sort], "nothing").contains("sorted by block"));
}

#[test]
fn markup_and_control_characters_in_a_title_are_words() {
    let problem = problem("lto8", 3, 2_000_000_000);
    let svg = picture(&problem, &[Algorithm::Sort], "a <b> & \u{1} \"c\"");
    assert!(svg.contains("a &lt;b&gt; &amp;   &quot;c&quot;"));
}
