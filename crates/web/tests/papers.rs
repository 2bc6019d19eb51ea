//! Figures of the papers, held against what the papers print.

use serde_json::{Value, json};
use tapewise_web::answer::Line;
use tapewise_web::papers::{Figure, figure};

fn lines(question: Value) -> Vec<Line> {
    let asked: Figure = serde_json::from_value(question).expect("a figure");
    figure(&asked).expect("lines")
}

fn find<'a>(lines: &'a [Line], name: &str) -> &'a Line {
    let found = lines.iter().find(|line| line.name == name);
    found.unwrap_or_else(|| panic!("no line {name}"))
}

/// "The mean locate time from the beginning of tape to a random segment is 96.5 s" (1996, section 3).
#[test]
fn locates_from_the_beginning_of_tape_take_what_the_paper_says() {
    let lines = lines(json!({"of": "hillyer_locate", "cartridge": 1, "from": 0.0}));
    let places = &lines[0].places;
    let mean_s = places.iter().map(|place| place.1).sum::<f64>() / places.len() as f64;
    assert!((90.0..103.0).contains(&mean_s), "{mean_s}");
}

#[test]
fn orders_come_in_the_papers_sequence_and_batches_do_not_depend_on_how_they_are_asked_for() {
    let ask = |first: u64, batches: u64| {
        lines(json!({
            "of": "hillyer_orders", "cartridge": 1, "from_bot": false, "requests": 10, "first": first,
            "batches": batches
        }))
    };
    let all = ask(0, 6);
    let halves = [ask(0, 3), ask(3, 3)];
    let mean = |name: &str| {
        let places = &find(&all, name).places;
        assert_eq!(places.len(), 6, "{name}");
        let joined: Vec<(f64, f64)> = halves
            .iter()
            .flat_map(|half| find(half, name).places.clone())
            .collect();
        assert_eq!(&joined, places, "{name}");
        places.iter().map(|place| place.1).sum::<f64>() / 6.0
    };
    let [fifo, sort, loss, opt] = ["FIFO", "SORT", "LOSS", "OPT"].map(mean);
    assert!(
        opt <= loss && loss < sort && sort < fifo,
        "{opt} {loss} {sort} {fifo}"
    );
}

/// The slides: LINEAR takes 2.5 to 3 times as long as SLTF; 42 s from file to file in logical order.
#[test]
fn positioning_on_lto_is_what_the_slides_say() {
    let lines = lines(json!({
        "of": "cern_orders", "lto8": false, "files": 20_000, "requests": 100, "first": 0, "batches": 16
    }));
    let mean = |name: &str| {
        let places = &find(&lines, name).places;
        places.iter().map(|place| place.1).sum::<f64>() / places.len() as f64
    };
    let [linear, sltf, best] = ["LINEAR", "SLTF", "tapewise best"].map(mean);
    assert!((38.0..48.0).contains(&linear), "{linear}");
    assert!((2.4..3.1).contains(&(linear / sltf)), "{linear} {sltf}");
    assert!(best < sltf, "{best} {sltf}");
    assert_eq!(find(&lines, "tapewise best").places.len(), 4);
    let none = json!({
        "of": "cern_orders", "lto8": true, "files": 5, "requests": 10, "first": 0, "batches": 1
    });
    assert!(figure(&serde_json::from_value(none).expect("a figure")).is_err());
}

#[test]
fn the_formula_lies_by_the_papers_model() {
    let times = json!({"of": "gniewek_response", "robot_s": 5.0, "load_s": 11.0, "search_s": 13.0, "drives": 8});
    let lines = lines(times);
    for (drives, per_hour, theirs) in [(2, 50.0, 36.0), (4, 150.0, 39.0), (6, 250.0, 51.0)] {
        let line = find(&lines, &format!("formula, {drives} drives"));
        let at = line
            .places
            .iter()
            .find(|place| place.0 == per_hour)
            .expect("a place");
        assert!(
            (at.1 - theirs).abs() < 2.5,
            "{drives} drives: {} and {theirs}",
            at.1
        );
    }
    assert_eq!(find(&lines, "measured in the paper").places.len(), 9);
}

#[test]
fn a_seek_to_where_the_head_is_takes_least_and_a_place_off_the_tape_is_refused() {
    let seeks = lines(json!({"of": "johnson_miller_seek", "from": 0.5, "track": 0}));
    assert_eq!(seeks.len(), 6);
    for line in &seeks {
        let [here, end] = [100, 200].map(|step: usize| line.places[step].1);
        assert!(here <= end, "{}: {here} {end}", line.name);
    }
    let off = serde_json::from_value(json!({"of": "johnson_miller_seek", "from": 1.5, "track": 0}));
    assert!(figure(&off.expect("a figure")).is_err());
}
