//! The library tests: continuous mounting, and the time of an inventory.

use super::Facts;
use crate::PaperError;
use crate::claims::Ours;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tapewise_emulator::{Clock, Element, Faults, Library, LibrarySpec};
use tapewise_library::pool::Pace;
use tapewise_library::stress::{SlottedCartridge, Spread, Tally, Terms, Tested, stress};
use tapewise_model::Micros;
use tapewise_model::profile;
use tapewise_plot::Table;
use tapewise_run::NoLog;
use tapewise_scsi::{Changer, TapeDrive};
use tapewise_sim::library::Site;
use tapewise_sim::scenario::builtin::NERSC_2001;
use tapewise_sim::{Scenario, Shard};
use tempfile::TempDir;

/// The library that was tested: a base frame, four drives.
const DRIVES: u16 = 4;
const SLOTS: u16 = 281;

/// Cartridges in it: the paper does not say how many; a full frame.
const CARTRIDGES: u16 = SLOTS;

/// From 6:30 p.m. on Friday to 1:59 p.m. on Monday.
const HOURS: f64 = 67.48;

/// Without `--full` the tests that no claim is of are shorter.
const SHORT_HOURS: f64 = 8.0;

/// Cycles in flight that are held against the claims: what 133 mounts an hour need at least, when a
/// cycle takes 57 s.
const CLAIMED: usize = 2;

/// Until a starting library is ready.
const READY_LIMIT: Duration = Duration::from_secs(600);

/// One move in a thousand fails: not of the paper, which met none.
const FAULTY: f64 = 0.001;

/// The emulated library with its devices open.
struct Bench {
    changer: Changer,
    drives: Vec<Tested>,
    cartridges: Vec<SlottedCartridge>,
    _directory: TempDir,
}

pub fn tables(
    facts: &Facts,
    seed: u64,
    full: bool,
    ours: &mut Ours,
) -> Result<Vec<Table>, PaperError> {
    Ok(vec![
        mounting(facts, seed, full, ours)?,
        inventory(facts, seed)?,
    ])
}

impl Bench {
    fn new(seed: u64, faults: Faults) -> Result<Bench, PaperError> {
        let spec = LibrarySpec {
            faults,
            ..LibrarySpec::with_robot("ibm3584", "lto1", DRIVES, SLOTS, CARTRIDGES, seed)
        };
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("library");
        let library = Library::create(&path, &spec, Clock::virtual_time())?.apart();
        let mut changer = Changer::open(Box::new(library.transport_to_changer()?))?;
        changer.wait_until_ready(READY_LIMIT)?;
        let mut drives = Vec::new();
        for number in 0..DRIVES {
            let transport = library.transport_to_drive(usize::from(number))?;
            drives.push(Tested {
                drive: TapeDrive::open(Box::new(transport))?,
                element: library.elements().address(Element::Drive(number)),
            });
        }
        let cartridges = SlottedCartridge::all(&changer.inventory()?);
        Ok(Bench {
            changer,
            drives,
            cartridges,
            _directory: directory,
        })
    }

    fn stress(&mut self, in_flight: usize, hours: f64, seed: u64) -> Result<Tally, PaperError> {
        let terms = Terms {
            in_flight,
            limit: Duration::from_secs_f64(hours * 3600.0),
            seed,
        };
        let Bench {
            changer,
            drives,
            cartridges,
            ..
        } = self;
        let never = AtomicBool::new(false);
        Ok(stress(
            changer,
            drives,
            cartridges,
            terms,
            Pace::Turns,
            &mut NoLog,
            &never,
        )?)
    }
}

fn mounting(facts: &Facts, seed: u64, full: bool, ours: &mut Ours) -> Result<Table, PaperError> {
    let mut table = Table::new(
        "Continuous mounting: theirs, and ours by cycles in flight",
        &[
            "cycles",
            "hours",
            "mounts",
            "dismounts",
            "per hour",
            "mount s",
            "5-95 %",
            "unmount s",
            "5-95 %",
            "failures",
            "not in slots",
        ],
    );
    table.row(theirs(facts));
    let others = if full { HOURS } else { SHORT_HOURS };
    let mut unsound = 0;
    for in_flight in [1, 2, 3, 4] {
        let hours = if in_flight == CLAIMED { HOURS } else { others };
        let tally = Bench::new(seed, Faults::none())?.stress(in_flight, hours, seed)?;
        unsound += tally.failures.len() + tally.left.len();
        if in_flight == CLAIMED {
            claim_rate(&tally, ours);
        }
        table.row(row(&in_flight.to_string(), &tally));
    }
    ours.set(
        "mount-stress-failures",
        unsound as f64,
        "failures and cartridges out of place in four emulated tests without faults: of our side",
    );
    let faults = Faults {
        seed,
        robot_error: FAULTY,
        ..Faults::none()
    };
    let tally = Bench::new(seed, faults)?.stress(CLAIMED, others, seed)?;
    table.row(row("2, faults", &tally));
    table.note(without_waiting(facts));
    table.note(format!(
        "a simulation of the same times (`simulate scenarios/nersc-2001.toml --case 'mount stress'`): {:.1} an hour",
        simulated(seed)?
    ));
    table.note(format!(
        "faults: one move of the robot in {:.0} fails and is repeated; the paper met none",
        1.0 / FAULTY
    ));
    Ok(table)
}

/// Mounts an hour with two cycles in flight, of the library as the scenario states it: by another program, which shares
/// with the emulated one only the paper's times.
fn simulated(seed: u64) -> Result<f64, PaperError> {
    let scenarios = Scenario::cases(NERSC_2001)?;
    let found = scenarios
        .into_iter()
        .find(|case| case.name == "mount stress");
    let missing = || PaperError::from("scenarios/nersc-2001.toml has no mount stress");
    let mut scenario = found.ok_or_else(missing)?;
    scenario.seed = seed;
    let study = Site::new(&scenario, profile::find)?.study(Shard::WHOLE)?;
    let rates = study.summaries.iter().map(|summary| {
        (summary.cut + summary.requests) as f64 * 3600.0 / summary.duration.as_secs_f64()
    });
    Ok(rates.sum::<f64>() / study.summaries.len() as f64)
}

/// What the gated claim rests on.
pub fn gated(seed: u64, ours: &mut Ours) -> Result<(), PaperError> {
    let tally = Bench::new(seed, Faults::none())?.stress(CLAIMED, HOURS, seed)?;
    claim_rate(&tally, ours);
    Ok(())
}

fn claim_rate(tally: &Tally, ours: &mut Ours) {
    let how = "two cycles in flight; the robot of the paper's times, one move at a time";
    ours.set("mount-stress-rate", tally.per_hour(), how);
}

/// What the paper prints.
fn theirs(facts: &Facts) -> [String; 11] {
    let [mount, unmount] = [facts.mount_s, facts.unmount_s].map(range);
    let hours = HOURS.to_string();
    let (mount, unmount) = (mount.as_str(), unmount.as_str());
    [
        "not said", &hours, "8980", "8978", "133", "-", mount, "-", unmount, "0", "-",
    ]
    .map(str::to_owned)
}

fn without_waiting(facts: &Facts) -> String {
    let mean = |range: [f64; 2]| (range[0] + range[1]) / 2.0;
    let cycle_s = mean(facts.mount_s) + mean(facts.unmount_s);
    let an_hour = |cycles: u32| f64::from(cycles) * 3600.0 / cycle_s;
    format!(
        "without waiting for the robot a cycle takes {cycle_s} s in the mean: {:.1}, {:.1}, {:.1} and {:.1} \
         mounts an hour",
        an_hour(1),
        an_hour(2),
        an_hour(3),
        an_hour(4)
    )
}

fn row(name: &str, tally: &Tally) -> Vec<String> {
    let spread = |times: &[Micros]| match Spread::of(times) {
        None => ["-".to_owned(), "-".to_owned()],
        Some(spread) => {
            let [low, _, high, _] = spread.percentiles.map(|time| time.as_secs_f64());
            [
                format!("{:.1}", spread.mean.as_secs_f64()),
                range([low, high]),
            ]
        }
    };
    let counts = [tally.mounts.len(), tally.unmounts.len()].map(|count| count.to_string());
    let mut cells = vec![name.to_owned()];
    cells.push(format!("{:.2}", tally.took.as_secs_f64() / 3600.0));
    cells.extend(counts);
    cells.push(format!("{:.1}", tally.per_hour()));
    cells.extend(spread(&tally.mounts));
    cells.extend(spread(&tally.unmounts));
    cells.push(tally.failures.len().to_string());
    cells.push(tally.left.len().to_string());
    cells
}

fn range([low, high]: [f64; 2]) -> String {
    if low.fract() == 0.0 && high.fract() == 0.0 {
        format!("{low:.0}-{high:.0}")
    } else {
        format!("{low:.1}-{high:.1}")
    }
}

fn inventory(facts: &Facts, seed: u64) -> Result<Table, PaperError> {
    let mut bench = Bench::new(seed, Faults::none())?;
    let began = bench.changer.now();
    bench.changer.initialize(None)?;
    let took = bench.changer.now().saturating_sub(began);
    let mut table = Table::new("Inventory of a frame", &["what", "theirs", "ours"]);
    table.row([
        "seconds a frame".to_owned(),
        format!("<{}", facts.inventory_s_per_frame_max),
        format!("{:.0}", took.as_secs_f64()),
    ]);
    table.note("the emulated robot takes the profile's time, which is the paper's bound");
    Ok(table)
}
