//! What a drive does with a cartridge, and how long it takes.

use crate::distribution::{Distribution, Way};
use crate::scenario::{DriveGroup, Scenario, ScenarioError};
use std::ops::Range;
use std::sync::Arc;
use tapewise_model::profile::ProfileError;
use tapewise_model::{BlockMap, Micros, NominalLayout, Position, Profile, Random};
use tapewise_order::{
    Algorithm, Alternatives, Effort, End, Inputs, Limits, Objective, Options, PlacedExtent,
    Problem, Request, Tape, Wishes, order_for,
};

/// The times of a group of drives.
pub(super) struct Mechanics {
    pub load: Distribution,
    pub unload: Distribution,
    /// The head of a tape that has just been loaded.
    pub rewound: Head,
    motion: Motion,
}

/// How tape moves.
enum Motion {
    Stated {
        search: Way,
        rewind: Way,
        s_per_mb: f64,
    },
    Modelled(Box<Modelled>),
}

/// A drive whose profile has a locate-time model.
struct Modelled {
    tape: Arc<Tape>,
    map: BlockMap,
    blocks: u64,
    rewound: Position,
    /// What is stated of a rewind, instead of the model's.
    rewind: Option<Distribution>,
}

/// Blocks of modelled cartridges: fine enough beside the tens of metres of a locate.
const BLOCK_BYTES: u64 = 1_000_000;

/// Arcs looked at for one batch by orders that search: a hundredth of what is usual, as a
/// replication has thousands of batches.
const WORK: u64 = 700_000;

/// The same where the mean completion counts: kicks beyond it shorten the mean response by less than it varies from
/// seed to seed, and take longer than all else.
const WORK_FOR_MEAN: u64 = 20_000;

/// In which order the reads of a mount are read, and what the order is good for.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadOrder {
    pub algorithm: Algorithm,
    /// The mean or the total.
    pub objective: Objective,
}

/// Where the head is: as a share of the tape, and, where the drive is modelled, its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    place: f64,
    position: Position,
}

/// What is to be read: where, as a share of the whole tape, and how much.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub place: f64,
    pub size_mb: f64,
}

/// A search and a read, and which of the round's requests are answered by them.
#[derive(Clone, Debug)]
pub(super) struct Leg {
    pub search: Micros,
    pub read: Micros,
    /// Indices into the round's sequence.
    pub answers: Range<usize>,
    /// Where the head is then.
    pub to: Head,
}

/// The reads of a mount that are ordered together.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    pub legs: Vec<Leg>,
    /// Indices of the targets, in the order in which they are read.
    pub sequence: Vec<u32>,
}

impl Head {
    /// The position, where the drive is modelled.
    pub(super) fn position(&self, mechanics: &Mechanics) -> Option<Position> {
        match mechanics.motion {
            Motion::Stated { .. } => None,
            Motion::Modelled(_) => Some(self.position),
        }
    }
}

impl Motion {
    fn rewound(&self) -> Head {
        Head {
            place: 0.0,
            position: match self {
                Motion::Stated { .. } => Position::beginning_of_tape(0),
                Motion::Modelled(model) => model.rewound,
            },
        }
    }
}

impl Mechanics {
    /// The times of a group: those that are stated, and the profile's for the rest.
    pub(super) fn new(
        scenario: &Scenario,
        group: &DriveGroup,
        key: &str,
        profile: Option<&Profile>,
    ) -> Result<Mechanics, ScenarioError> {
        let mounting = profile.map(Profile::mounting);
        let known = |time: Option<Micros>| time.map(|t| Distribution::constant(t.as_secs_f64()));
        let missing = |name: &str| ScenarioError::Value {
            scenario: scenario.name.clone(),
            key: format!("{key}.{name}"),
            reason: match profile {
                Some(profile) => format!("profile {} does not know it: state it", profile.name),
                None => "state it, or name a `profile` that knows it".to_owned(),
            },
        };
        let load = group.load_s.clone();
        let load = load.or_else(|| known(mounting.and_then(|m| m.mount)));
        let unload = group.unload_s.clone();
        let unload = unload.or_else(|| known(mounting.and_then(|m| m.unmount)));
        let motion = motion(scenario, group, key, profile, &missing)?;
        Ok(Mechanics {
            load: load.ok_or_else(|| missing("load_s"))?,
            unload: unload.ok_or_else(|| missing("unload_s"))?,
            rewound: motion.rewound(),
            motion,
        })
    }

    /// The times of drives of a profile; what it does not know of loads and unloads is left out.
    pub(super) fn of_profile(profile: &Profile) -> Result<Mechanics, ProfileError> {
        let mounting = profile.mounting();
        let known = |time: Option<Micros>| {
            Distribution::constant(time.map_or(0.0, |time| time.as_secs_f64()))
        };
        let motion = Motion::Modelled(Box::new(Modelled::new(profile, None, None)?));
        Ok(Mechanics {
            load: known(mounting.mount),
            unload: known(mounting.unmount),
            rewound: motion.rewound(),
            motion,
        })
    }

    /// Whether a locate-time model says what its moves cost.
    pub(super) fn is_modelled(&self) -> bool {
        matches!(self.motion, Motion::Modelled(_))
    }

    /// The time to rewind.
    pub(super) fn rewind(&self, head: &Head, random: &mut Random) -> Micros {
        match &self.motion {
            Motion::Stated { rewind, .. } => rewind.search(head.place, 0.0, random),
            Motion::Modelled(model) => match &model.rewind {
                Some(stated) => stated.time(random),
                None => model.rewind_from(&head.position),
            },
        }
    }

    /// The mean time of what cannot be shared by the requests of a mount: reading, and searching
    /// where `alone` says that each is the only one of its mount.
    pub(super) fn least_mean_s(&self, size_mb: f64, alone: Option<f64>) -> f64 {
        match &self.motion {
            Motion::Stated {
                search, s_per_mb, ..
            } => size_mb * s_per_mb + alone.map_or(0.0, |place| search.mean(place)),
            Motion::Modelled(model) => size_mb / model.tape.transfer.rate_mb_s,
        }
    }

    /// The mean time of a rewind where it is stated.
    pub(super) fn rewind_mean_s(&self, place: f64) -> f64 {
        match &self.motion {
            Motion::Stated { rewind, .. } => rewind.mean(place),
            Motion::Modelled(_) => 0.0,
        }
    }

    /// The least time of each of a cartridge's reads with the way to it, and the least rewind after
    /// any of them, in whatever order and mounts they are read.
    pub(super) fn least(&self, targets: &[Target]) -> (Vec<Micros>, Micros) {
        match &self.motion {
            Motion::Stated {
                search,
                rewind,
                s_per_mb,
            } => {
                let work = |target: &Target| search.least() + target.size_mb * s_per_mb;
                let works = targets
                    .iter()
                    .map(|target| Micros::from_secs_f64(work(target)));
                (works.collect(), Micros::from_secs_f64(rewind.least()))
            }
            Motion::Modelled(model) => model.least(targets),
        }
    }

    /// Searches and rewind of the reads of a mount, in the order of least total: what is drawn counts with its mean.
    pub(super) fn motion(&self, targets: &[Target], algorithm: Algorithm) -> Micros {
        match &self.motion {
            Motion::Stated { search, rewind, .. } => {
                let mut places: Vec<f64> = targets.iter().map(|target| target.place).collect();
                if algorithm != Algorithm::Fifo {
                    places.sort_by(f64::total_cmp);
                }
                let ways = std::iter::once(&0.0).chain(&places).zip(&places);
                let searches: f64 = ways.map(|(from, to)| search.search_mean(*from, *to)).sum();
                let last = places.last().copied().unwrap_or(0.0);
                Micros::from_secs_f64(searches + rewind.search_mean(last, 0.0))
            }
            Motion::Modelled(model) => {
                let order = ReadOrder {
                    algorithm,
                    objective: Objective::Total,
                };
                let mut round = Round::default();
                model.plan(self.rewound, targets, order, &mut round);
                let searches: Micros = round.legs.iter().map(|leg| leg.search).sum();
                let last = round.legs.last();
                searches + last.map_or(Micros::ZERO, |leg| model.usual_rewind(&leg.to.position))
            }
        }
    }

    /// Orders a round and prices it.
    pub(super) fn plan(
        &self,
        head: Head,
        targets: &[Target],
        order: ReadOrder,
        random: &mut Random,
        round: &mut Round,
    ) {
        round.legs.clear();
        round.sequence.clear();
        match &self.motion {
            Motion::Stated {
                search, s_per_mb, ..
            } => {
                round.sequence.extend(0..targets.len() as u32);
                if order.algorithm != Algorithm::Fifo {
                    let place = |i: &u32| targets[*i as usize].place;
                    let sequence = &mut round.sequence;
                    sequence.sort_by(|a, b| place(a).total_cmp(&place(b)).then(a.cmp(b)));
                }
                let mut from = head;
                for index in 0..targets.len() {
                    let target = targets[round.sequence[index] as usize];
                    let to = Head {
                        place: target.place,
                        ..from
                    };
                    round.legs.push(Leg {
                        search: search.search(from.place, target.place, random),
                        read: Micros::from_secs_f64(target.size_mb * s_per_mb),
                        answers: index..index + 1,
                        to,
                    });
                    from = to;
                }
            }
            Motion::Modelled(model) => model.plan(head, targets, order, round),
        }
    }
}

/// How the tape of a group moves: as stated, or as the profile's model says.
fn motion(
    scenario: &Scenario,
    group: &DriveGroup,
    key: &str,
    profile: Option<&Profile>,
    missing: &dyn Fn(&str) -> ScenarioError,
) -> Result<Motion, ScenarioError> {
    let refuse = |error: ProfileError| ScenarioError::Profile {
        scenario: scenario.name.clone(),
        key: format!("{key}.profile"),
        error: Box::new(error),
    };
    if let (None, Some(profile)) = (&group.search_s, profile) {
        let rewind = match &group.rewind_s {
            None => None,
            Some(Way::Any(stated)) => Some(stated.clone()),
            Some(_) => {
                return Err(ScenarioError::Value {
                    scenario: scenario.name.clone(),
                    key: format!("{key}.rewind_s"),
                    reason: "is by distance, which goes with `search_s`: state a time, or values that are drawn"
                        .to_owned(),
                });
            }
        };
        return Modelled::new(profile, group.rate_mb_s, rewind)
            .map(|model| Motion::Modelled(Box::new(model)))
            .map_err(refuse);
    }
    let known = profile.and_then(|profile| profile.handling.rewind_mean_s.as_ref());
    let known = known.map(|mean| Way::Any(Distribution::constant(mean.value)));
    let rate = profile.and_then(|profile| profile.transfer.rate_mb_s.as_ref());
    let s_per_mb = match group.rate_mb_s.or(rate.map(|rate| rate.value)) {
        Some(rate) => 1.0 / rate,
        None if scenario.reads_nothing() => 0.0,
        None => return Err(missing("rate_mb_s")),
    };
    Ok(Motion::Stated {
        search: group.search_s.clone().ok_or_else(|| missing("search_s"))?,
        rewind: (group.rewind_s.clone().or(known)).ok_or_else(|| missing("rewind_s"))?,
        s_per_mb,
    })
}

impl Modelled {
    fn new(
        profile: &Profile,
        rate_mb_s: Option<f64>,
        rewind: Option<Distribution>,
    ) -> Result<Modelled, ProfileError> {
        let mut tape = Tape::new(profile, None)?;
        tape.transfer.rate_mb_s = rate_mb_s.unwrap_or(tape.transfer.rate_mb_s);
        let map = profile.nominal_map(NominalLayout::Single, BLOCK_BYTES)?;
        Ok(Modelled {
            rewound: Position::beginning_of_tape(tape.geometry.lpos_min),
            // Never empty: a profile's wraps hold something.
            blocks: map.end_block(0).max(1),
            tape: Arc::new(tape),
            map,
            rewind,
        })
    }

    /// By the model.
    fn rewind_from(&self, from: &Position) -> Micros {
        self.tape.model.rewind(&self.tape.model.point(from))
    }

    /// What is drawn counts with its mean.
    fn usual_rewind(&self, from: &Position) -> Micros {
        match &self.rewind {
            Some(stated) => Micros::from_secs_f64(stated.mean()),
            None => self.rewind_from(from),
        }
    }

    fn extent(&self, target: &Target) -> PlacedExtent {
        let count = (target.size_mb * 1e6 / BLOCK_BYTES as f64).ceil() as u64;
        let count = count.clamp(1, self.blocks);
        let first_block = (target.place * self.blocks as f64) as u64;
        let first_block = first_block.min(self.blocks - count);
        let last_block = first_block + count - 1;
        let place = |block, after| {
            let there = self.map.nearest_position(0, block, after);
            there.unwrap_or(self.rewound)
        };
        PlacedExtent {
            first_block,
            last_block,
            bytes: (target.size_mb * 1e6) as u64,
            start: place(first_block, false),
            end: place(last_block, true),
        }
    }

    fn problem(&self, head: Position, extents: impl Iterator<Item = PlacedExtent>) -> Problem {
        let requests: Vec<Request> = extents.map(Request::single).collect();
        let options = Options {
            head,
            end: End::Anywhere,
            read_through: true,
        };
        Problem::new(Arc::clone(&self.tape), options, &requests)
    }

    fn least(&self, targets: &[Target]) -> (Vec<Micros>, Micros) {
        let extents: Vec<PlacedExtent> = targets.iter().map(|target| self.extent(target)).collect();
        let rewind = match &self.rewind {
            Some(stated) => Some(Micros::from_secs_f64(stated.least())),
            None => (extents.iter().map(|extent| self.rewind_from(&extent.end))).min(),
        };
        let problem = self.problem(self.rewound, extents.iter().copied());
        let mut works = vec![Micros::ZERO; targets.len()];
        if problem.len() < targets.len() {
            for (work, bytes) in works.iter_mut().zip(own_bytes(&extents)) {
                *work = self.tape.transfer.time(bytes);
            }
            return (works, rewind.unwrap_or(Micros::ZERO));
        }
        for (to, visit) in problem.visits().iter().enumerate() {
            let others = (0..problem.len()).filter(|&from| from != to);
            let ways = others.map(|from| problem.arc(from, to));
            let way = ways.fold(problem.first_arc(to), Micros::min);
            works[visit.requests[0] as usize] = way + visit.read;
        }
        (works, rewind.unwrap_or(Micros::ZERO))
    }

    fn plan(&self, head: Head, targets: &[Target], order: ReadOrder, round: &mut Round) {
        let extents = targets.iter().map(|target| self.extent(target));
        let problem = self.problem(head.position, extents);
        let alternatives = Alternatives::none();
        let mut inputs = Inputs::new(&alternatives);
        inputs.effort = Effort {
            work: WORK,
            prove: false,
            out_of_time: &|| false,
        };
        // A scenario is refused if its order does not apply to every batch.
        let found = order.algorithm.order(&problem, &inputs);
        let found = match found {
            Some(found) if order.objective == Objective::Mean && problem.len() > 1 => {
                let limits = Limits::of(Objective::Mean, found.total_time(&problem));
                let wanted = (Objective::Mean, &Wishes::default());
                let effort = Effort {
                    work: WORK_FOR_MEAN,
                    ..inputs.effort
                };
                Some(order_for(&problem, wanted, &limits, &[found], &effort, 0).order)
            }
            found => found,
        };
        let visits = match found {
            Some(found) => found.visits().to_vec(),
            None => (0..problem.len() as u32).collect(),
        };
        let mut before = None;
        for visit in visits {
            let what = &problem.visits()[visit as usize];
            let first = round.sequence.len();
            round.sequence.extend_from_slice(&what.requests);
            let to = Head {
                place: head.place,
                position: what.extents[what.extents.len() - 1].end,
            };
            round.legs.push(Leg {
                search: problem.motion(before, visit as usize).0 + what.inner_locate,
                read: what.read,
                answers: first..round.sequence.len(),
                to,
            });
            before = Some(visit as usize);
        }
    }
}

/// Of each extent the bytes of blocks that no other one has.
fn own_bytes(extents: &[PlacedExtent]) -> Vec<u64> {
    let mut sorted: Vec<usize> = (0..extents.len()).collect();
    sorted.sort_by_key(|&index| extents[index].first_block);
    let mut own = vec![0; extents.len()];
    let mut covered = 0;
    for (at, &index) in sorted.iter().enumerate() {
        let PlacedExtent {
            first_block,
            last_block,
            bytes,
            ..
        } = extents[index];
        let next = sorted
            .get(at + 1)
            .map_or(u64::MAX, |&next| extents[next].first_block);
        let (from, to) = (first_block.max(covered), (last_block + 1).min(next));
        let blocks = to.saturating_sub(from);
        own[index] = bytes / (last_block - first_block + 1) * blocks;
        covered = covered.max(last_block + 1);
    }
    own
}
