//! Which drive reads which tape, and when.

use tapewise_model::Micros;

/// How long a tape keeps a drive busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TapeTime {
    /// From the cartridge in the drive until the last file is read.
    pub until_read: Micros,
    /// From then until the next cartridge can be put in: rewinding, unloading.
    pub until_free: Micros,
}

impl TapeTime {
    fn all(self) -> Micros {
        self.until_read + self.until_free
    }
}

/// A tape's turn in a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The tape, by its place in the list that was given.
    pub tape: usize,
    /// The drive, from 0.
    pub drive: usize,
    /// When it is put in.
    pub begin: Micros,
    /// When its last file is read.
    pub read: Micros,
}

/// The turns of all tapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rota {
    /// By the time at which they begin.
    pub turns: Vec<Turn>,
    /// When everything is read.
    pub end: Micros,
    /// Whether no other division of the tapes ends sooner, with these times.
    pub optimal: bool,
}

/// Divisions that are tried at most until the best one counts as not proven.
const MOST_TRIED: u64 = 2_000_000;

/// Gives tapes to drives so that everything is read soonest. In a drive the tape that takes longest to come out is
/// read last, because nobody waits for that; the others come shortest first, so that files are there sooner.
pub fn rota(tapes: &[TapeTime], drives: usize) -> Rota {
    let drives = drives.clamp(1, tapes.len().max(1));
    // The longest first: what is short fills the gaps.
    let mut order: Vec<usize> = (0..tapes.len()).collect();
    order.sort_by_key(|&tape| (std::cmp::Reverse(tapes[tape].all()), tape));
    let mut search = Search {
        tapes,
        order: &order,
        loads: vec![Load::default(); drives],
        given: vec![0; tapes.len()],
        best: Micros(i64::MAX),
        found: vec![0; tapes.len()],
        tried: 0,
    };
    search.give(0);
    let is_complete = search.tried < MOST_TRIED;
    let (found, end) = (search.found, search.best);
    let mut turns = Vec::with_capacity(tapes.len());
    for drive in 0..drives {
        let mut own: Vec<usize> = order
            .iter()
            .zip(&found)
            .filter(|(_, of)| **of == drive)
            .map(|(&tape, _)| tape)
            .collect();
        own.sort_by_key(|&tape| (tapes[tape].all(), tape));
        let last = own.iter().enumerate();
        let last = last.max_by_key(|&(at, &tape)| (tapes[tape].until_free, at));
        if let Some(last) = last.map(|(at, _)| at) {
            let tape = own.remove(last);
            own.push(tape);
        }
        let mut clock = Micros::ZERO;
        for tape in own {
            turns.push(Turn {
                tape,
                drive,
                begin: clock,
                read: clock + tapes[tape].until_read,
            });
            clock += tapes[tape].all();
        }
    }
    turns.sort_by_key(|turn| (turn.begin, turn.drive));
    let end = if tapes.is_empty() { Micros::ZERO } else { end };
    Rota {
        turns,
        end,
        optimal: is_complete,
    }
}

/// What a drive has been given.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Load {
    all: Micros,
    /// The longest time that a tape takes to come out: that of the last one.
    free: Micros,
}

impl Load {
    fn with(self, tape: TapeTime) -> Load {
        Load {
            all: self.all + tape.all(),
            free: self.free.max(tape.until_free),
        }
    }

    /// When the drive has read everything.
    fn end(self) -> Micros {
        self.all - self.free
    }
}

/// Tries divisions, depth first: the first one is that of whoever is free takes the longest tape left.
struct Search<'t> {
    tapes: &'t [TapeTime],
    order: &'t [usize],
    loads: Vec<Load>,
    given: Vec<usize>,
    best: Micros,
    found: Vec<usize>,
    tried: u64,
}

impl Search<'_> {
    fn give(&mut self, at: usize) {
        let Some(&tape) = self.order.get(at) else {
            let end = self.loads.iter().map(|load| load.end()).max();
            let end = end.unwrap_or(Micros::ZERO);
            if end < self.best {
                self.best = end;
                self.found.clone_from(&self.given);
            }
            return;
        };
        let mut drives: Vec<usize> = (0..self.loads.len()).collect();
        drives.sort_by_key(|&drive| (self.loads[drive].end(), drive));
        let mut tried: Vec<Load> = Vec::new();
        for drive in drives {
            let before = self.loads[drive];
            // Drives with the same load are alike.
            if tried.contains(&before) {
                continue;
            }
            tried.push(before);
            self.tried += 1;
            if self.tried >= MOST_TRIED {
                return;
            }
            let load = before.with(self.tapes[tape]);
            // A tape more never lets a drive end sooner.
            if load.end() >= self.best {
                continue;
            }
            self.loads[drive] = load;
            self.given[at] = drive;
            self.give(at + 1);
            self.loads[drive] = before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tapewise_model::Random;

    fn tape(until_read: i64, until_free: i64) -> TapeTime {
        TapeTime {
            until_read: Micros(until_read),
            until_free: Micros(until_free),
        }
    }

    /// The end of the best division, by trying all.
    fn least(tapes: &[TapeTime], drives: usize) -> Micros {
        let all = (0..drives.pow(tapes.len() as u32)).map(|mut code| {
            let mut loads = vec![Load::default(); drives];
            for &tape in tapes {
                let load = &mut loads[code % drives];
                *load = load.with(tape);
                code /= drives;
            }
            loads.into_iter().map(Load::end).max().unwrap()
        });
        all.min().unwrap()
    }

    #[test]
    fn one_drive_reads_the_tape_last_that_takes_longest_to_come_out() {
        let tapes = [tape(50, 9), tape(20, 3), tape(40, 5)];
        let rota = rota(&tapes, 1);
        let order: Vec<usize> = rota.turns.iter().map(|turn| turn.tape).collect();
        assert_eq!(order, [1, 2, 0]);
        assert_eq!(rota.end, Micros(20 + 3 + 40 + 5 + 50));
        assert_eq!(rota.turns.last().unwrap().read, rota.end);
    }

    #[test]
    fn several_drives_end_as_soon_as_any_division_does() {
        let mut random = Random::new(7, 1);
        for _ in 0..200 {
            let count = 1 + random.below(7) as usize;
            let tapes: Vec<TapeTime> = (0..count)
                .map(|_| tape(1 + random.below(100) as i64, random.below(30) as i64))
                .collect();
            for drives in 1..=3 {
                let rota = rota(&tapes, drives);
                assert!(rota.optimal);
                assert_eq!(
                    rota.end,
                    least(&tapes, drives.min(count)),
                    "{tapes:?} {drives}"
                );
                let last = rota.turns.iter().map(|turn| turn.read).max().unwrap();
                assert_eq!(last, rota.end);
                assert_eq!(rota.turns.len(), count);
            }
        }
    }

    #[test]
    fn many_tapes_and_none_are_given_out_too() {
        let tapes: Vec<TapeTime> = (0..80).map(|n| tape(1_000 + n * 37 % 911, 60)).collect();
        let many = rota(&tapes, 6);
        let fair = tapes.iter().map(|tape| tape.all().0).sum::<i64>() / 6;
        assert!(many.end.0 < fair + fair / 20, "{:?} {fair}", many.end);
        assert_eq!(rota(&[], 4).end, Micros::ZERO);
    }
}
