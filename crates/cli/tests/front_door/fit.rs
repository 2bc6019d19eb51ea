//! Logs that know block numbers only, of cartridges whose wraps nobody told: to profile, maps and order.

use crate::program::{Desk, Ran};
use std::fmt::Write;
use tapewise_model::locate::{LocateModel, LtoCoefficients, LtoRegression};
use tapewise_model::{Direction, Geometry, Position, PositionSource, Random, profile};

/// A file of CTA: 2 GB in blocks of 256 KiB, and its nine labels and filemarks.
const FILE_BYTES: u64 = 2_000_000_000;
const FILE_BLOCKS: u64 = 7_639;
/// What reading the header of a file adds to each locate.
const HEADER_S: f64 = 2.1;

/// Cartridges of LTO-8 in a drive that is not the one of the profile.
struct Site {
    geometry: Geometry,
    model: LocateModel,
    /// The first block of each wrap, and one behind the last, for each cartridge.
    edges: Vec<Vec<f64>>,
}

/// A file read behind another in one mount.
struct Recall {
    volume: usize,
    mount: usize,
    from_file: Option<u64>,
    file: u64,
    seconds: f64,
}

impl Recall {
    fn name(&self) -> String {
        format!("V{:05}", self.volume)
    }
}

/// The block of a file's first header: the label of the volume is block 0.
fn first_block(file: u64) -> u64 {
    1 + file * FILE_BLOCKS
}

impl Site {
    fn new(volumes: u64) -> Site {
        let drive = profile::find("lto8").expect("a profile");
        let geometry = drive.geometry().expect("its geometry");
        let published = drive.lto_coefficients().expect("its regression");
        let coefficients = LtoCoefficients {
            intercept_s: published.intercept_s + 1.0,
            wrap_change_s: 0.9 * published.wrap_change_s,
            per_lpos_s: 1.1 * published.per_lpos_s,
            ..published
        };
        let model = LocateModel::LtoRegression(LtoRegression::new(&coefficients, &geometry));
        let wrap_gb = drive.cartridge.wrap_gb.expect("what a wrap holds").value;
        let nominal = wrap_gb * 1e9 / FILE_BYTES as f64 * FILE_BLOCKS as f64;
        let edges = (0..volumes).map(|volume| {
            let mut random = Random::new(7, volume);
            let tape = nominal * (1.0 + 0.01 * random.normal().clamp(-2.0, 2.0));
            let wraps = (0..geometry.wraps).scan(0.0, |edge, _| {
                *edge += tape * (1.0 + 0.003 * random.normal());
                Some(*edge)
            });
            [0.0].into_iter().chain(wraps).collect()
        });
        Site {
            edges: edges.collect(),
            model,
            geometry,
        }
    }

    fn place(&self, volume: usize, block: u64) -> Position {
        let (edges, block) = (&self.edges[volume], block as f64);
        let wraps = usize::from(self.geometry.wraps);
        let wrap = edges.partition_point(|&edge| edge <= block).clamp(1, wraps) - 1;
        let into = (block - edges[wrap]) / (edges[wrap + 1] - edges[wrap]);
        let into = (into * f64::from(self.geometry.wrap_lpos())) as u32;
        let lpos = match self.geometry.direction(wrap as u16) {
            Direction::Forward => self.geometry.lpos_min + into,
            Direction::Reverse => self.geometry.lpos_max - into,
        };
        Position {
            partition: 0,
            wrap: wrap as u16,
            lpos,
            source: PositionSource::Recorded,
            error_lpos: 0,
        }
    }

    /// Mounts of 25 files in any order; every tenth file is the one behind the last.
    fn recalls(&self, moves_each: usize) -> Vec<Recall> {
        let mut recalls = Vec::new();
        for (volume, edges) in self.edges.iter().enumerate() {
            let mut random = Random::new(8, volume as u64);
            let files = edges[edges.len() - 1] as u64 / FILE_BLOCKS - 2;
            let (mut moves, mut before) = (0, None);
            while moves < moves_each {
                let nth = recalls.len();
                before = before.filter(|_| nth % 25 > 0);
                let next = before.filter(|_| nth % 10 == 9).map(|file| file + 1);
                let file = next.unwrap_or_else(|| random.below(files));
                let seconds = before.map_or(0.0, |before| {
                    let from = self.place(volume, first_block(before + 1));
                    let to = self.place(volume, first_block(file));
                    match next {
                        Some(_) => 0.0,
                        None => self.model.locate(&from, &to).as_secs_f64(),
                    }
                });
                let seconds = (seconds + HEADER_S + 0.5 * random.normal()).max(0.2);
                moves += usize::from(before.is_some());
                recalls.push(Recall {
                    volume,
                    mount: nth / 25,
                    from_file: before,
                    file,
                    seconds,
                });
                before = Some(file);
            }
        }
        recalls
    }
}

/// As the tape daemon writes it, with a line of something else before each.
fn cta_log(recalls: &[Recall]) -> String {
    let mut log = String::new();
    for recall in recalls {
        let head = "Aug 24 15:14:13.521000000 tpsrv01 cta-taped: LVL=\"INFO\" PID=\"71\"";
        let line = format!(
            "{head} MSG=\"Recall order\"\n\
             {head} MSG=\"File successfully read from tape\" tapeDrive=\"D1\" tapeVid=\"{}\" \
             mountId=\"{}-{}\" BlockId=\"{}\" fSeq=\"{}\" positionTime=\"{:.6}\" dataVolume=\"{FILE_BYTES}\"",
            recall.name(),
            recall.volume,
            recall.mount,
            first_block(recall.file),
            recall.file + 1,
            recall.seconds
        );
        writeln!(log, "{line}").expect("a string");
    }
    log
}

/// The same moves as CSV, as a site would export them.
fn block_csv(recalls: &[Recall]) -> String {
    let mut text = "volume;from_block;to_block;locate_ms\n".to_owned();
    for recall in recalls {
        if let Some(before) = recall.from_file {
            let (from, to) = (first_block(before + 1), first_block(recall.file));
            let (name, ms) = (recall.name(), 1e3 * recall.seconds);
            writeln!(text, "{name};{from};{to};{ms:.3}").expect("a string");
        }
    }
    text
}

fn refused(ran: &Ran, words: &str) {
    assert_eq!((ran.code, ran.text()), (2, ""), "{}", ran.err);
    assert!(ran.err.contains(words), "{words:?} not in {}", ran.err);
}

#[test]
fn a_log_of_cta_gives_maps_a_profile_and_an_order() {
    let (desk, site) = (Desk::new(), Site::new(5));
    let recalls = site.recalls(80);
    let (early, late) = recalls.split_at(200);
    desk.put("early.log", cta_log(early));
    desk.put("late.log", cta_log(late));
    let ran = desk.done("fit early.log late.log --base lto8 --output mine.toml --maps maps --json");
    assert!(
        ran.err.contains("early.log: read as log of cta-taped: 200 files read, 200 other lines passed over; 190 moves, 10 first of their mount"),
        "{}",
        ran.err
    );
    let maps = &ran.json()["maps"];
    assert!((maps["read_on_median_s"].as_f64().expect("seconds") - HEADER_S).abs() < 0.5);
    for (volume, found) in maps["volumes"]
        .as_array()
        .expect("volumes")
        .iter()
        .enumerate()
    {
        let edges = &site.edges[volume];
        let true_blocks = edges[edges.len() - 1] / (edges.len() - 1) as f64;
        let blocks = found["wrap_blocks"].as_f64().expect("a map was found");
        // A hundredth of a wrap at the end of the tape is 1 in 20,000.
        assert!(
            (blocks / true_blocks - 1.0).abs() < 2e-4,
            "{blocks} {true_blocks}"
        );
    }
    let typical_s = |map: &str| {
        let error = &maps["held_out_moves"][map]["typical_error_s"];
        error.as_f64().expect("seconds")
    };
    assert!(
        typical_s("found") < 1.2 && typical_s("nominal") > 10.0,
        "{maps:#}"
    );

    // A map that was found says where blocks lie: within 3 % of a wrap of the truth.
    let mut batch = "id,start_block,block_count\n".to_owned();
    for file in (0..5_000).step_by(500) {
        writeln!(batch, "{file},{},{FILE_BLOCKS}", first_block(file)).expect("a string");
    }
    desk.put("batch.csv", batch);
    desk.done("profile validate mine.toml");
    let plan = desk
        .done(
            "order batch.csv --profile mine.toml --map maps/V00000.csv --block-size 262144 --json",
        )
        .json();
    let reads = plan["steps"].as_array().expect("steps").iter();
    let mut placed = 0;
    for read in reads.filter(|step| step["action"] == "read") {
        let truth = site.place(0, read["start_block"].as_u64().expect("a block"));
        if read["wrap"] == truth.wrap {
            let lpos = read["lpos"].as_f64().expect("a position");
            assert!(
                (lpos - f64::from(truth.lpos)).abs() < 0.03 * f64::from(site.geometry.wrap_lpos())
            );
            placed += 1;
        }
    }
    assert!(placed >= 9, "{placed} of 10 on their wraps");
}

#[test]
fn the_same_moves_as_csv_give_the_same_maps() {
    let (desk, site) = (Desk::new(), Site::new(2));
    let recalls = site.recalls(100);
    let fitted = |log: &str, more: &str| {
        let ran = desk
            .done_with(log, &format!("fit - --base lto8 --json {more}"))
            .json();
        let volumes = ran["maps"]["volumes"].as_array().expect("volumes").clone();
        volumes
            .into_iter()
            .map(|v| v["wrap_blocks"].as_f64().expect("a map"))
            .collect::<Vec<f64>>()
    };
    let csv = fitted(&block_csv(&recalls), "--block-size 262144");
    let cta = fitted(&cta_log(&recalls), "--log-format cta");
    for (csv, cta) in csv.iter().zip(&cta) {
        // CTA's labels are known, those in a CSV are not: what is expected differs by a little.
        assert!((csv / cta - 1.0).abs() < 1e-4, "{csv} {cta}");
    }
}

#[test]
fn the_report_says_what_was_placed_and_what_was_not() {
    let (desk, site) = (Desk::new(), Site::new(3));
    let mut recalls = site.recalls(100);
    let mut last = 0;
    recalls.retain(|recall| {
        last += usize::from(recall.volume == 2);
        last <= 20
    });
    desk.put("site.log", cta_log(&recalls));
    let ran = desk.done("fit site.log --base lto8");
    let text = ran.text();
    for words in [
        "Maps found from times",
        "nominal: too few moves",
        "The moves of 1 volume without a map of their own are not fitted.",
        "went to where the head stood, and took 2.",
        "a fifth of the moves    found",
        "maps that were found from all of them",
    ] {
        assert!(text.contains(words), "{words:?} not in\n{text}");
    }
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(110), "{widest:?}\n{text}");
}

#[test]
fn what_cannot_be_placed_is_said_with_its_reason() {
    let (desk, site) = (Desk::new(), Site::new(2));
    let recalls = site.recalls(60);
    let csv = block_csv(&recalls);
    desk.put("moves.csv", &csv);
    desk.put("site.log", cta_log(&recalls));
    refused(
        &desk.run("fit moves.csv --base lto8"),
        "add --block-size BYTES",
    );
    refused(
        &desk.run("fit site.log --base lto8 --block-size 524288"),
        "CTA writes blocks of 262144",
    );
    for again in ["site.log", "./site.log"] {
        refused(
            &desk.run(&format!("fit site.log {again} --base lto8")),
            "given twice",
        );
    }
    refused(
        &desk.run("fit site.log --base lto8 --log-format events"),
        "site.log: line 1: no JSON object",
    );
    refused(
        &desk.run("fit moves.csv --base lto8 --log-format cta"),
        "none of 121 lines says",
    );
    refused(
        &desk.run("fit moves.csv --base dat-4mm --block-size 262144"),
        "not serpentine",
    );
    let thin: String = csv
        .lines()
        .take(30)
        .map(|line| format!("{line}\n"))
        .collect();
    refused(
        &desk.run_with(thin, "fit - --base lto8 --block-size 262144"),
        "has 40 moves from one block to another; the most has ",
    );
    refused(
        &desk.run("fit moves.csv --base lto8 --block-size 2621440"),
        "would lie",
    );
    desk.put(
        "positions.csv",
        "from_wrap,from_lpos,to_wrap,to_lpos,locate_s\n1,9000,2,9000,9\n",
    );
    refused(
        &desk.run("fit positions.csv --base lto8 --maps maps"),
        "--maps is for logs with block numbers",
    );
    refused(
        &desk.run("fit positions.csv site.log --base lto8"),
        "some logs have positions",
    );
    desk.put("site.log.gz", [0x1f, 0x8b, 8, 0, 0, 0, 0, 0]);
    refused(&desk.run("fit site.log.gz --base lto8"), "zcat");
    assert!(!desk.path().join("maps").exists());
}

#[test]
fn a_volume_that_cannot_name_a_file_is_refused_before_any_map_is_written() {
    let (desk, site) = (Desk::new(), Site::new(2));
    let csv = block_csv(&site.recalls(100)).replace("V00001", "../V00001");
    desk.put("moves.csv", csv);
    let ran = desk.run("fit moves.csv --base lto8 --block-size 262144 --maps maps");
    refused(&ran, "volume \"../V00001\" cannot name a file");
    assert_eq!(desk.names(), ["moves.csv"]);
}

/// What is printed by each command is what the next one takes: measured, fitted, used.
#[test]
fn a_drive_that_tells_no_positions_is_measured_fitted_and_used() {
    for (drive, map, way, model) in [
        ("dat-4mm", "", "by nominal geometry", "helical linear"),
        ("ampex-dst310", "", "by nominal geometry", "helical linear"),
        ("sony-dtf", "", "by nominal geometry", "helical linear"),
        ("dlt7000", "", "by nominal geometry", ""),
        ("ibm3590", "", "by nominal geometry", ""),
        (
            "dlt4000",
            "--map key-points.csv",
            "by the map of the cartridge",
            "key points",
        ),
    ] {
        let desk = Desk::new();
        desk.done(&format!("measure emulated:{drive} -o log.jsonl {map}"));
        // The log of a DLT4000 has its key points itself.
        let ran = desk.done(&format!("fit log.jsonl --base {drive} --output mine.toml"));
        let text = ran.text();
        assert!(!text.contains("A rough fit"), "{drive}:\n{text}");
        assert!(
            text.contains(&format!("Moves were placed {way}")),
            "{drive}:\n{text}"
        );
        assert!(
            text.contains(&format!("For the profile: {model}")),
            "{drive}:\n{text}"
        );
        assert!(
            text.contains("Profile written to mine.toml"),
            "{drive}:\n{text}"
        );
        desk.done("profile validate mine.toml");
        desk.put(
            "batch.csv",
            "id,start_block,block_count\na,60000,10\nb,10,10\nc,30000,10\n",
        );
        let ordered = desk.done(&format!(
            "order batch.csv --profile mine.toml --block-size 16384 --head bot {map}"
        ));
        assert_eq!(ordered.text().lines().count(), 3, "{drive}");
    }
}

#[test]
fn a_fit_that_explains_little_is_refused_and_makes_no_profile() {
    let (desk, site) = (Desk::new(), Site::new(5));
    let mut random = Random::new(3, 0);
    let mut csv = "volume,from_wrap,from_lpos,to_wrap,to_lpos,locate_s\n".to_owned();
    for nth in 0..400 {
        let volume = nth % 5;
        let block = |random: &mut Random| random.below(site.edges[volume][208] as u64 - 1);
        let [from, to, other] = [0; 3].map(|_| site.place(volume, block(&mut random)));
        // The time is that of a move to somewhere else.
        let seconds = site.model.locate(&from, &other).as_secs_f64();
        let (a, b, c, d) = (from.wrap, from.lpos, to.wrap, to.lpos);
        writeln!(csv, "V{volume},{a},{b},{c},{d},{seconds:.3}").expect("a string");
    }
    desk.put("log.csv", csv);
    let ran = desk.run("fit log.csv --base lto8 --output mine.toml");
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(
        ran.err.contains("no profile is made: the best model"),
        "{}",
        ran.err
    );
    assert!(
        ran.text().contains("on cartridges held out"),
        "{}",
        ran.text()
    );
    assert_eq!(desk.names(), ["log.csv"]);
}
