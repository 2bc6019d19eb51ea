//! What a batch handle holds: requests on a cartridge, where the head is, and what has been read.

use crate::cartridge::{partition, wrap};
use crate::fault::{Fault, Status};
use crate::values::*;
use std::time::Instant;
use tapewise::formats::deadline::Deadline;
use tapewise::formats::{self, Request, WrapLpos};
use tapewise::model::{Micros, PositionSource};
use tapewise::order::{Algorithm, Objective, SequenceFault};
use tapewise::{Cartridge, Effort, EndLocation, Found, Goal, Origin, Placed, Placement, order};

/// Requests on a cartridge.
#[derive(Debug)]
pub struct Batch {
    cartridge: Cartridge,
    block_bytes: Option<u64>,
    placement: Placement,
    requests: Vec<Request>,
    /// Whether each request has been read.
    is_read: Vec<bool>,
    /// What waits, with its positions: made when it is needed, dropped when anything changes.
    waiting: Option<Waiting>,
}

/// The requests that wait, placed.
#[derive(Debug)]
struct Waiting {
    /// The number of each in the batch.
    numbers: Vec<u64>,
    placed: Placed,
}

/// What to look for: [`Wanted`] without its pointer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wish<'a> {
    /// See [`Wanted::flags`].
    pub flags: u32,
    /// See [`Wanted::objective`].
    pub objective: u32,
    /// See [`Wanted::seed`].
    pub seed: u64,
    /// See [`Wanted::work`].
    pub work: u64,
    /// See [`Wanted::budget_us`].
    pub budget_us: u64,
    /// See [`Wanted::algorithm`].
    pub algorithm: Option<&'a str>,
}

impl Batch {
    /// An empty batch. `block_bytes` is how many bytes of tape a block takes, 0 if nobody knows.
    ///
    /// # Errors
    /// [`Status::Usage`] for unknown flags.
    pub fn new(cartridge: &Cartridge, block_bytes: u64, flags: u32) -> Result<Batch, Fault> {
        known_bits("batch", flags, NO_READ_THROUGH)?;
        Ok(Batch {
            cartridge: cartridge.clone(),
            block_bytes: Some(block_bytes).filter(|&bytes| bytes > 0),
            placement: Placement {
                read_through: flags & NO_READ_THROUGH == 0,
                ..Placement::default()
            },
            requests: Vec::new(),
            is_read: Vec::new(),
            waiting: None,
        })
    }

    /// How many requests were added.
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// Whether no request was added.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Adds requests; none is added if one is wrong.
    ///
    /// # Errors
    /// [`Status::Usage`], with the number of the extent.
    pub fn add(&mut self, extents: &[Extent]) -> Result<(), Fault> {
        let before = self.requests.len();
        for (at, extent) in extents.iter().enumerate() {
            if let Err(why) = self.add_one(extent, before) {
                self.forget_after(before);
                return Err(Fault::usage(format!("extent {at}: {why}")));
            }
        }
        self.is_read.resize(self.requests.len(), false);
        self.waiting = None;
        Ok(())
    }

    fn forget_after(&mut self, count: usize) {
        self.requests.truncate(count);
        self.is_read.truncate(count);
    }

    fn add_one(&mut self, given: &Extent, first_new: usize) -> Result<(), String> {
        const KNOWN: u32 =
            EXTENT_CONTINUES | EXTENT_HAS_START | EXTENT_HAS_END | EXTENT_HAS_DEADLINE;
        let has = |bit: u32| given.flags & bit != 0;
        known_bits("extent", given.flags, KNOWN).map_err(|fault| fault.text)?;
        let at = |known: bool, wrap_number: u32, lpos: u32| {
            let place = || {
                Ok::<_, String>(WrapLpos {
                    wrap: wrap(wrap_number)?,
                    lpos,
                })
            };
            known.then(place).transpose()
        };
        let blocks = self.blocks(given)?;
        let extent = formats::Extent {
            partition: Some(partition(given.partition)?),
            start_block: given.first_block,
            block_count: blocks,
            byte_count: Some(given.bytes).filter(|&bytes| bytes > 0),
            start: at(has(EXTENT_HAS_START), given.start_wrap, given.start_lpos)?,
            end: at(has(EXTENT_HAS_END), given.end_wrap, given.end_lpos)?,
            ..formats::Extent::default()
        };
        if has(EXTENT_CONTINUES) {
            // Only a request of the same call: an earlier one may have been read already.
            let new = &mut self.requests[first_new..];
            let request = new
                .last_mut()
                .ok_or("continues a request, and is the first extent")?;
            request.extents.push(extent);
            return Ok(());
        }
        let deadline = Deadline::Seconds(given.deadline_us as f64 / 1e6);
        self.requests.push(Request {
            id: self.requests.len().to_string(),
            extents: vec![extent],
            priority: given.priority,
            deadline: has(EXTENT_HAS_DEADLINE).then_some(deadline),
            ..Request::default()
        });
        Ok(())
    }

    /// How many blocks an extent has.
    fn blocks(&self, extent: &Extent) -> Result<u64, String> {
        let blocks = match (extent.blocks, extent.bytes, self.block_bytes) {
            (0, 0, _) => return Err("has neither blocks nor bytes".to_owned()),
            (0, _, None) => {
                return Err("has bytes only, and the batch has no block size".to_owned());
            }
            (0, bytes, Some(block_bytes)) => bytes.div_ceil(block_bytes),
            (blocks, ..) => blocks,
        };
        match extent.first_block.checked_add(blocks) {
            Some(_) => Ok(blocks),
            None => Err(format!(
                "begins at block {} and has {blocks} blocks, which is more than 64 bits hold",
                extent.first_block
            )),
        }
    }

    /// Says where the head is, and where to leave it after the last read.
    ///
    /// # Errors
    /// [`Status::Usage`] for what is no location.
    pub fn set_head(&mut self, head: &Location, end: &Location) -> Result<(), Fault> {
        let head_at = location(head).map_err(|why| Fault::usage(format!("head: {why}")))?;
        let end_at = match end.at {
            AT_ANYWHERE => EndLocation::Anywhere,
            AT_UNLOADED => EndLocation::Unloaded,
            AT_BEGINNING => EndLocation::Rewound,
            _ => EndLocation::At(location(end).map_err(|why| Fault::usage(format!("end: {why}")))?),
        };
        (self.placement.head, self.placement.end) = (head_at, end_at);
        self.waiting = None;
        Ok(())
    }

    /// Takes out requests that have been read, or that the host has handed on.
    ///
    /// # Errors
    /// [`Status::Usage`] for a request that does not wait; then none is taken out.
    pub fn mark_read(&mut self, numbers: &[u64]) -> Result<(), Fault> {
        let mut is_read = self.is_read.clone();
        for &number in numbers {
            let one = usize::try_from(number)
                .ok()
                .and_then(|at| is_read.get_mut(at));
            match one {
                Some(read) if !*read => *read = true,
                _ => return Err(not_waiting(number)),
            }
        }
        self.is_read = is_read;
        self.waiting = None;
        Ok(())
    }

    fn waiting(&mut self) -> Result<&Waiting, Fault> {
        if self.waiting.is_none() {
            self.waiting = Some(self.place()?);
        }
        self.waiting
            .as_ref()
            .ok_or_else(|| Fault::new(Status::Internal, "no placed requests"))
    }

    fn place(&self) -> Result<Waiting, Fault> {
        let waits = |&at: &usize| !self.is_read[at];
        let numbers: Vec<usize> = (0..self.requests.len()).filter(waits).collect();
        let batch = tapewise::Batch {
            requests: numbers
                .iter()
                .map(|&at| self.requests[at].clone())
                .collect(),
            block_size: self.block_bytes,
            ..tapewise::Batch::default()
        };
        let placed = self.cartridge.place(batch, &self.placement)?;
        let numbers = numbers.into_iter().map(|at| at as u64).collect();
        Ok(Waiting { numbers, placed })
    }

    /// Finds an order of what waits.
    ///
    /// # Errors
    /// Those of placing the requests, and [`Status::Goal`].
    pub fn order(&mut self, wish: &Wish) -> Result<(Vec<u64>, Estimate), Fault> {
        known_bits("order", wish.flags, ORDER_PROVE | ORDER_SPARE_TAPE)?;
        let goal = Goal {
            objective: objective(wish.objective)?,
            spare_tape: wish.flags & ORDER_SPARE_TAPE != 0,
            ..Goal::default()
        };
        let algorithm = wish.algorithm.map(algorithm_named).transpose()?;
        if algorithm.is_some() && !goal.is_least_total() {
            return Err(Fault::usage("an order by name has no objective of its own"));
        }
        let begin = Instant::now();
        let clock = move || Micros(i64::try_from(begin.elapsed().as_micros()).unwrap_or(i64::MAX));
        let time = |budget_us: u64| Micros(i64::try_from(budget_us).unwrap_or(i64::MAX));
        let effort = Effort {
            seed: wish.seed.max(1),
            prove: wish.flags & ORDER_PROVE != 0,
            work: Some(wish.work).filter(|&work| work > 0),
            budget: Some(wish.budget_us).filter(|&budget| budget > 0).map(time),
            is_stopped: &|| false,
            clock: &clock,
        };
        let waiting = self.waiting()?;
        let placed = &waiting.placed;
        let found = match algorithm {
            Some(algorithm) => placed.order(algorithm, &effort)?,
            None => placed.search(&goal, &effort)?,
        };
        let order = placed.reading_order(&found.plan).into_iter();
        let order = order.map(|at| waiting.numbers[at]).collect();
        Ok((order, estimate(placed, &found)))
    }

    /// What an order of the host's takes.
    ///
    /// # Errors
    /// Those of placing the requests, and [`Status::Usage`] unless it has every request that waits, once.
    pub fn price(&mut self, sequence: &[u64]) -> Result<Estimate, Fault> {
        let waiting = self.waiting()?;
        let at = |&number: &u64| {
            let found = waiting.numbers.binary_search(&number);
            found.map(|at| at as u32).map_err(|_| not_waiting(number))
        };
        let sequence = sequence
            .iter()
            .map(at)
            .collect::<Result<Vec<u32>, Fault>>()?;
        let order = order::rao(&waiting.placed.problem, &sequence).map_err(|fault| {
            let number = |at: u32| {
                waiting
                    .numbers
                    .get(at as usize)
                    .copied()
                    .unwrap_or(u64::MAX)
            };
            Fault::usage(match fault {
                SequenceFault::Twice(at) => format!("the order has request {} twice", number(at)),
                SequenceFault::Missing(at) => format!("the order lacks request {}", number(at)),
                SequenceFault::Unknown(at) => format!("request {} does not wait", number(at)),
            })
        })?;
        let found = waiting.placed.priced(Origin::Drive, order);
        Ok(estimate(&waiting.placed, &found))
    }

    /// How many requests wait.
    pub fn count_waiting(&self) -> usize {
        self.is_read.iter().filter(|read| !**read).count()
    }
}

fn known_bits(what: &str, flags: u32, known: u32) -> Result<(), Fault> {
    match flags & !known {
        0 => Ok(()),
        other => Err(Fault::usage(format!("{what}: unknown flags {other:#x}"))),
    }
}

fn not_waiting(number: u64) -> Fault {
    Fault::usage(format!("request {number} does not wait"))
}

fn algorithm_named(name: &str) -> Result<Algorithm, Fault> {
    Algorithm::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Algorithm::ALL
            .iter()
            .map(|algorithm| algorithm.name())
            .collect();
        Fault::usage(format!(
            "there is no order \"{name}\"; known are {}",
            known.join(", ")
        ))
    })
}

fn objective(number: u32) -> Result<Objective, Fault> {
    match number {
        OBJECTIVE_TOTAL => Ok(Objective::Total),
        OBJECTIVE_MEAN => Ok(Objective::Mean),
        OBJECTIVE_DEADLINE => Ok(Objective::Deadline),
        other => Err(Fault::usage(format!("there is no objective {other}"))),
    }
}

fn location(given: &Location) -> Result<tapewise::Location, String> {
    match given.at {
        AT_BEGINNING => Ok(tapewise::Location::BeginningOfTape),
        AT_BLOCK => Ok(tapewise::Location::Block {
            partition: Some(partition(given.partition)?),
            block: given.block,
        }),
        AT_POSITION => Ok(tapewise::Location::Physical(WrapLpos {
            wrap: wrap(given.wrap)?,
            lpos: given.lpos,
        })),
        other => Err(format!("{other} is no location")),
    }
}

fn estimate(placed: &Placed, found: &Found) -> Estimate {
    let micros = |time: Micros| u64::try_from(time.0).unwrap_or(0);
    let bit = |is_set: bool, bit: u32| if is_set { bit } else { 0 };
    let totals = &found.plan.totals;
    Estimate {
        size: size_of::<Estimate>() as u32,
        flags: bit(found.bound.is_some(), ESTIMATE_HAS_BOUND)
            | bit(found.optimal, ESTIMATE_OPTIMAL)
            | bit(found.cut_short, ESTIMATE_CUT_SHORT),
        total_us: micros(totals.total),
        locate_us: micros(totals.locate),
        read_us: micros(totals.read),
        worst_us: micros(found.worst),
        bound_us: found.bound.map_or(0, micros),
        distance_lpos: totals.distance_lpos,
        requests: placed.batch.requests.len() as u64,
        positions: match placed.source {
            PositionSource::Exact | PositionSource::Recorded => POSITIONS_RECORDED,
            PositionSource::EndOfWrapTable => POSITIONS_WRAP_ENDS,
            PositionSource::Probed | PositionSource::KeyPoints | PositionSource::Timed => {
                POSITIONS_PLACES
            }
            PositionSource::Nominal => POSITIONS_NOMINAL,
        },
        reserved: 0,
    }
}
