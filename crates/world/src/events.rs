//! What happens to an archive: what its users ask for, what its operators do, and what goes wrong meanwhile.

use crate::fate::{End, Kind, Plan, Wrong};
use tapewise_model::Random;

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Files are stored; then they go to tape, unless that is for later. With `replace`, some take the place of others.
    Store {
        /// How many.
        files: u64,
        /// Whether some take the place of others.
        replace: bool,
        /// Whether they stay in the cache for now.
        later: bool,
    },
    /// What waits goes to tape.
    Migrate,
    /// Files are recalled and compared.
    Recall {
        /// How many.
        files: u64,
    },
    /// Volumes are read and summed, and what is lost is made again.
    Verify,
    /// What is wanted of a volume goes onto others, and its cartridge is used again.
    Repack,
    /// The cache drops what it may.
    Evict,
    /// A file is given up.
    Retire,
    /// `catalog rebuild`, though nothing was lost.
    Rebuild,
    /// An operator copies the directory of the archive.
    Snapshot,
    /// An operator puts a copy of the whole directory back.
    RestoreDirectory,
    /// An operator puts the catalogue of such a copy back, and leaves the cache as it is.
    RestoreCatalogue,
    /// `catalog backup`.
    Backup,
    /// An operator puts a backup back.
    RestoreBackup,
    /// The catalogue is lost.
    LoseCatalogue {
        /// An empty file stands in its place.
        empty: bool,
    },
    /// The disk of the archive is lost, with catalogue and cache; the settings are put on a new one.
    LoseDirectory,
    /// Two cartridges change their places, and their barcodes say otherwise. Where two were swapped, they go back.
    Swap,
    /// Another program writes over a cartridge from its beginning.
    Overwrite,
    /// Somebody changes the clock of the host, by so many hours.
    Clock {
        /// Forwards, or backwards.
        hours: i64,
    },
    /// A second process reads the catalogue and asks for files while the first one works.
    Second,
    /// The archive moves to another host.
    Move,
    /// Another host takes the drives, or gives them back.
    OtherHost,
    /// A volume of LTFS is looked at, one of whose indexes cannot be read.
    Ltfs,
    /// A bit of a file in the cache turns.
    Rot,
}

impl What {
    /// Whether an operator does it, who may destroy what was acknowledged.
    pub fn is_operators(&self) -> bool {
        matches!(
            self,
            What::RestoreDirectory
                | What::RestoreCatalogue
                | What::LoseDirectory
                | What::Overwrite
                | What::Rot
        )
    }

    /// One word for it.
    pub fn name(&self) -> String {
        let words = format!("{self:?}");
        words.split(' ').next().unwrap_or_default().to_owned()
    }
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// What happens.
    pub what: What,
    /// What goes wrong meanwhile.
    pub plan: Plan,
    /// What all chance in it comes from, so that it is the same whatever came before.
    pub seed: u64,
    /// Hours that pass before it.
    pub hours: u64,
}

impl Event {
    /// The event of this number in the life of a world.
    pub fn draw(seed: u64, number: u64) -> Event {
        let mut random = Random::new(seed, 1_000 + number);
        let what = draw_what(&mut random);
        let plan = draw_plan(what, &mut random);
        Event {
            what,
            plan: with_log(plan, &mut Random::new(seed, 1_000_000 + number)),
            seed: seed ^ (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15),
            hours: random.below(200),
        }
    }
}

fn draw_what(random: &mut Random) -> What {
    let flip = |random: &mut Random| random.below(2) == 0;
    match random.below(100) {
        0..30 => What::Store {
            files: 1 + random.below(8),
            replace: random.below(3) == 0,
            later: flip(random),
        },
        30..40 => What::Migrate,
        40..54 => What::Recall {
            files: 1 + random.below(8),
        },
        54..60 => What::Verify,
        60..64 => What::Repack,
        64..70 => What::Evict,
        70..73 => What::Retire,
        73 => What::Rebuild,
        74..78 => What::Snapshot,
        78..81 => What::RestoreDirectory,
        81..83 => What::RestoreCatalogue,
        83..85 => What::Backup,
        85 => What::RestoreBackup,
        86 => What::LoseCatalogue {
            empty: flip(random),
        },
        87 => What::LoseDirectory,
        88..91 => What::Swap,
        91 => What::Overwrite,
        92..94 => What::Clock {
            hours: random.below(2000) as i64 - 1000,
        },
        94..96 => What::Second,
        96 => What::Move,
        97 => What::OtherHost,
        98 => What::Ltfs,
        _ => What::Rot,
    }
}

/// A number up to `most`, small ones as likely as large ones.
pub fn spread(random: &mut Random, most: f64) -> u64 {
    ((most.ln() * random.unit()).exp() as u64).max(1)
}

fn draw_plan(what: What, random: &mut Random) -> Plan {
    let mut plan = Plan::default();
    match random.below(10) {
        0 | 1 => {
            let end = [End::Killed, End::PowerCut][random.below(2) as usize];
            plan.ends = Some((spread(random, 1500.0), end));
        }
        2..5 => {
            let all = [
                (Kind::Write, Wrong::Error),
                (Kind::Write, Wrong::Full),
                (Kind::Write, Wrong::Short),
                (Kind::Write, Wrong::Interrupted),
                (Kind::Read, Wrong::Error),
                (Kind::Read, Wrong::Short),
                (Kind::Read, Wrong::Interrupted),
                (Kind::Sync, Wrong::Error),
                (Kind::Name, Wrong::Error),
                (Kind::Name, Wrong::Full),
                (Kind::Database, Wrong::Error),
                (Kind::Database, Wrong::Full),
                (Kind::Lookup, Wrong::Error),
                (Kind::Command, Wrong::Error),
                (Kind::Command, Wrong::Rewound),
                (Kind::Command, Wrong::Unloaded),
                (Kind::Command, Wrong::Reserved),
                (Kind::TapeRead, Wrong::Bit),
                (Kind::TapeRead, Wrong::Bit),
                (Kind::TapeRead, Wrong::Error),
                (Kind::TapeWrite, Wrong::Error),
                (Kind::TapeWrite, Wrong::Rewound),
                (Kind::TapeWrite, Wrong::Rewound),
                (Kind::Source, Wrong::Error),
                (Kind::Source, Wrong::Short),
                (Kind::Source, Wrong::Interrupted),
                (Kind::Source, Wrong::Changed),
                (Kind::Source, Wrong::Changed),
                (Kind::Destination, Wrong::Error),
                (Kind::Destination, Wrong::Error),
                (Kind::Destination, Wrong::Full),
            ];
            let mut chosen = all[random.below(all.len() as u64) as usize];
            let reads = matches!(what, What::Recall { .. } | What::Verify | What::Repack);
            if reads && random.below(3) == 0 {
                chosen = (Kind::TapeRead, Wrong::Bit);
            } else if matches!(what, What::Recall { .. }) && random.below(3) == 0 {
                let wrong = [Wrong::Error, Wrong::Full][random.below(2) as usize];
                chosen = (Kind::Destination, wrong);
            }
            let (kind, wrong) = chosen;
            let most = match kind {
                Kind::Command => 400.0,
                Kind::Lookup | Kind::Database => 150.0,
                _ => 30.0,
            };
            plan.wrong = Some((kind, spread(random, most) - 1, wrong));
        }
        _ => {}
    }
    plan
}

/// Where nothing else goes wrong, the event log does now and then.
fn with_log(plan: Plan, random: &mut Random) -> Plan {
    if plan != Plan::default() || random.below(12) > 0 {
        return plan;
    }
    let all = [Wrong::Error, Wrong::Full, Wrong::Short, Wrong::Interrupted];
    let wrong = all[random.below(all.len() as u64) as usize];
    Plan {
        wrong: Some((Kind::Log, spread(random, 300.0) - 1, wrong)),
        ..plan
    }
}
