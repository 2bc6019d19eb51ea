//! What placement at writing saves at recall, and what it costs at writing: `make placement` prints the tables of
//! docs/method/placement.md.
//!
//! Sixty datasets grow at the same time. What came is written every night, or after ten nights. Then users ask, in one
//! of three ways, and a library of four LTO-6 drives answers.
//!
//! `cargo run --release -p tapewise-archive --example placement -- [SEEDS]`

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Write as _;
use tapewise_archive::placement::{Asked, Begun, GroupBy, Item, learn, place, place_beside};
use tapewise_model::{Random, profile};
use tapewise_sim::Scenario;
use tapewise_sim::library::Site;
use tapewise_sim::statistics::Interval;

const DATASETS: u64 = 60;
const DIRECTORIES: u64 = 5;
const NIGHTS: i64 = 10;
/// Files that come in a day: of 2 GB on average, so 3 TB.
const A_DAY: u64 = 1_500;
const CARTRIDGE_BYTES: u64 = 2_500_000_000_000;
const ASKINGS: u64 = 60;
/// From one asking to the next, on average.
const GAP_S: f64 = 1_800.0;
const DAY_NS: i64 = 86_400_000_000_000;

struct File {
    path: String,
    bytes: u64,
    night: i64,
}

/// How users ask.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asking {
    /// For a directory.
    Directory,
    /// For a dataset.
    Dataset,
    /// For files that have nothing to do with each other.
    Independent,
}

/// What came of one seed.
struct Figures {
    /// Cartridges that were begun, mounts to write, and the tape of begun cartridges that is empty, as a share.
    writing: [f64; 3],
    /// Cartridges of an asking, on average; mounts; and the mean time until an asking is answered, in minutes.
    recall: [f64; 3],
}

fn main() -> Result<(), Box<dyn Error>> {
    let seeds: u64 = std::env::args().nth(1).map_or(Ok(5), |text| text.parse())?;
    for nights in [1, NIGHTS] {
        for (asking, name) in [
            (Asking::Dataset, "datasets together"),
            (Asking::Directory, "directories together"),
            (Asking::Independent, "files independently"),
        ] {
            println!("\n{nights} of {NIGHTS} nights written at once; users ask for {name}\n");
            println!(
                "| rule | cartridges | mounts to write | empty tape, % | cartridges an asking | mounts to recall | minutes until answered |"
            );
            println!("|---|--:|--:|--:|--:|--:|--:|");
            for (by, beside) in rules(nights) {
                let all = (1..=seeds).map(|seed| figures(seed, nights, asking, by, beside));
                let name = match beside {
                    1 => format!("`{}`", by.name()),
                    _ => format!("`{}`, {beside} side by side", by.name()),
                };
                print!("{}", row(&name, &all.collect::<Result<Vec<_>, _>>()?)?);
            }
            let taught = (1..=seeds).map(|seed| taught(&files(seed), asking, seed + 1_000).name());
            println!(
                "\n`learned` takes: {}",
                taught.collect::<Vec<_>>().join(", ")
            );
        }
    }
    Ok(())
}

/// The rules of a table, and how many cartridges each fills side by side: that matters only if few nights wait.
fn rules(nights: i64) -> Vec<(GroupBy, usize)> {
    let rules = GroupBy::ALL.into_iter();
    let rules = rules.filter(|by| *by != GroupBy::Learned);
    let mut rules: Vec<(GroupBy, usize)> = rules.map(|by| (by, 1)).collect();
    if nights == 1 {
        let beside = [2, 3, 4, 6];
        rules.extend(beside.map(|beside| (GroupBy::Dataset, beside)));
        rules.extend([3, 6].map(|beside| (GroupBy::Directory, beside)));
    }
    rules
}

fn row(name: &str, all: &[Figures]) -> Result<String, Box<dyn Error>> {
    let mut text = format!("| {name} ");
    let columns: [fn(&Figures) -> f64; 6] = [
        |one| one.writing[0],
        |one| one.writing[1],
        |one| 100.0 * one.writing[2],
        |one| one.recall[0],
        |one| one.recall[1],
        |one| one.recall[2],
    ];
    for column in columns {
        let values: Vec<f64> = all.iter().map(column).collect();
        let mean = Interval::of_mean(&values, 0.95)?;
        write!(text, "| {:.1} ± {:.1} ", mean.estimate, mean.half_width)?;
    }
    Ok(text + "|\n")
}

/// Files as they come: every dataset grows all the time.
fn files(seed: u64) -> Vec<File> {
    let mut random = Random::new(seed, 1);
    let file = |number: u64| {
        let (set, part) = (random.below(DATASETS), random.below(DIRECTORIES));
        File {
            path: format!("mc/set{set:02}/part{part}/{number:06}"),
            bytes: 500_000_000 + random.below(3_000_000_000),
            night: (number / A_DAY) as i64,
        }
    };
    (0..NIGHTS as u64 * A_DAY).map(file).collect()
}

fn item(file: &File) -> Item<'_> {
    Item {
        path: file.path.as_bytes(),
        bytes: file.bytes,
        modified_ns: file.night * DAY_NS,
    }
}

/// Who asks together for which files.
fn askings(files: &[File], asking: Asking, seed: u64) -> Vec<Vec<usize>> {
    let mut random = Random::new(seed, 2);
    let mut one = || {
        let (set, part) = (random.below(DATASETS), random.below(DIRECTORIES));
        let prefix = match asking {
            Asking::Dataset => format!("mc/set{set:02}/"),
            Asking::Directory => format!("mc/set{set:02}/part{part}/"),
            Asking::Independent => {
                return (0..50)
                    .map(|_| random.below(files.len() as u64) as usize)
                    .collect();
            }
        };
        let with = files
            .iter()
            .enumerate()
            .filter(|(_, file)| file.path.starts_with(&prefix));
        with.map(|(number, _)| number).collect()
    };
    (0..ASKINGS).map(|_| one()).collect()
}

/// Writes the files of some nights at once by a rule, and has the users ask.
fn figures(
    seed: u64,
    nights: i64,
    asking: Asking,
    by: GroupBy,
    beside: usize,
) -> Result<Figures, Box<dyn Error>> {
    let files = files(seed);
    let mut begun: Vec<Begun> = Vec::new();
    let mut on = vec![(0, 0.0); files.len()];
    let (mut mounts, mut first) = (0, 0);
    for together in files.chunk_by(|a, b| a.night / nights == b.night / nights) {
        let items: Vec<Item<'_>> = together.iter().map(item).collect();
        let mut room: Vec<u64> = begun.iter().map(|one| one.room).collect();
        let placed = put(&items, by, &mut begun, beside);
        room.resize(begun.len(), CARTRIDGE_BYTES);
        let mut mounted = BTreeSet::new();
        for (at, number) in placed {
            let begins = (CARTRIDGE_BYTES - room[at]) as f64 / CARTRIDGE_BYTES as f64;
            on[first + number] = (at, begins);
            room[at] -= items[number].bytes;
            mounted.insert(at);
        }
        first += together.len();
        mounts += mounted.len();
    }
    let empty: u64 = begun.iter().map(|one| one.room).sum();
    let empty = empty as f64 / (begun.len() as u64 * CARTRIDGE_BYTES) as f64;
    let asked = askings(&files, asking, seed);
    Ok(Figures {
        writing: [begun.len() as f64, mounts as f64, empty],
        recall: recalled(&files, &on, begun.len(), &asked, seed)?,
    })
}

/// Where each file lies: cartridges are filled one after the other, or several side by side.
fn put(
    items: &[Item<'_>],
    by: GroupBy,
    begun: &mut Vec<Begun>,
    beside: usize,
) -> Vec<(usize, usize)> {
    if beside > 1 {
        return place_beside(items, by, begun, CARTRIDGE_BYTES, beside);
    }
    let mut rooms = begun.iter().map(|one| one.room).collect();
    let placed = place(items, by, &mut rooms, CARTRIDGE_BYTES);
    begun.resize_with(rooms.len(), Begun::default);
    for (one, room) in begun.iter_mut().zip(rooms) {
        one.room = room;
    }
    placed
}

/// The rule that other askings of the same kind teach, for the first half of the files.
fn taught(files: &[File], asking: Asking, seed: u64) -> GroupBy {
    let files = &files[..files.len() / 2];
    let mut asked = Vec::new();
    for (number, together) in askings(files, asking, seed).iter().enumerate() {
        asked.extend(together.iter().map(|&file| Asked {
            user: format!("user{number}"),
            at_ns: number as i64,
            file: file as i64,
            path: files[file].path.clone().into_bytes(),
            bytes: files[file].bytes,
            modified_ns: files[file].night * DAY_NS,
        }));
    }
    learn(&asked, CARTRIDGE_BYTES).by
}

/// Cartridges of an asking, mounts, and minutes until an asking is answered.
fn recalled(
    files: &[File],
    on: &[(usize, f64)],
    cartridges: usize,
    asked: &[Vec<usize>],
    seed: u64,
) -> Result<[f64; 3], Box<dyn Error>> {
    let mut random = Random::new(seed, 3);
    let mut text = format!(
        "name = \"placement\"\nseed = {seed}\nrequests = {}\nreplications = 2\nwarm_up = \"keep\"\n\
         policy = {{ mount = \"ahead\", order = \"best\", dismount = \"when-needed\" }}\n\
         [[library]]\nname = \"library\"\nrobot = {{ count = 1, get_s = 10, put_s = 10 }}\n\
         cartridge = [{{ count = {cartridges} }}]\n\
         drive = [{{ count = 4, profile = \"lto6\", load_s = 20, unload_s = 20 }}]\n\
         [arrivals]\npattern = \"trace\"\nlist = [\n",
        asked.iter().map(Vec::len).sum::<usize>(),
    );
    let (mut at_s, mut spread) = (0.0, 0);
    let mut asking_of = Vec::new();
    for (number, together) in asked.iter().enumerate() {
        at_s += -GAP_S * (1.0 - random.unit()).ln();
        spread += together
            .iter()
            .map(|&file| on[file].0)
            .collect::<BTreeSet<_>>()
            .len();
        for &file in together {
            let (cartridge, place) = on[file];
            let size_mb = files[file].bytes as f64 / 1e6;
            writeln!(
                text,
                "{{ at_s = {at_s:.3}, cartridge = {cartridge}, place = {place}, size_mb = {size_mb}, owner = {number} }},"
            )?;
            asking_of.push(number);
        }
    }
    text.push_str("]\n");
    let run = Site::new(&Scenario::from_toml(&text)?, profile::find)?.run(0)?;
    let mut until_s = vec![0.0f64; asked.len()];
    for answer in &run.answers {
        let until_s = &mut until_s[asking_of[answer.number as usize]];
        *until_s = until_s.max(answer.response.as_secs_f64());
    }
    let askings = asked.len() as f64;
    Ok([
        spread as f64 / askings,
        run.usage[0].mounts as f64,
        until_s.iter().sum::<f64>() / askings / 60.0,
    ])
}
