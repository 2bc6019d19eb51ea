//! A replication as a trace that is known in full, with the least time that everything takes: what
//! [`crate::bounds`] need.
//!
//! Times that are drawn count with the least that can be drawn. A read counts with the shortest way to it from
//! the beginning of tape or from the end of any other read of its cartridge in the whole replication. If reads of
//! a cartridge share blocks, one pass can answer several of them: on such a cartridge the ways count nothing, and of each
//! read only the blocks that no other one has.

use super::demand::Demand;
use super::mechanics::Target;
use super::site::{Hall, Kind, Site};
use crate::bounds::{Cartridge, Trace, Work};
use crate::mounts::MediumId;
use crate::scenario::Arrivals;
use std::collections::BTreeMap;
use tapewise_model::Micros;

/// What one cartridge is asked for: when, and what.
type Asked = Vec<(Micros, Target)>;

impl Site {
    /// What arrives in a replication, for each library; nothing if it cannot be known beforehand: users who
    /// wait for answers, or a disk that keeps what was read.
    ///
    /// Failures and cleaning are left out, so all drives are there all the time.
    pub fn known(&self, replication: u64) -> Option<Vec<Trace>> {
        let scenario = self.scenario();
        let keeps = |cache: &crate::scenario::Cache| cache.size_gb.is_some();
        if matches!(scenario.arrivals, Arrivals::Closed { .. })
            || scenario.cache.as_ref().is_some_and(keeps)
        {
            return None;
        }
        let mut demand = Demand::new(self, replication);
        let mut asked: Vec<BTreeMap<u32, Asked>> = vec![BTreeMap::new(); self.halls.len()];
        let mut now = Micros::ZERO;
        for _ in 0..scenario.requests {
            let Some(at) = demand.next_arrival(now) else {
                break;
            };
            now = now.max(at);
            let wanted = demand.take();
            if wanted.on_disk {
                continue;
            }
            let library = usize::from(wanted.library);
            let (_, filled) = self.halls[library].cartridges.get(wanted.cartridge);
            let target = Target {
                place: wanted.place * filled,
                size_mb: wanted.size_mb,
            };
            let software = &scenario.libraries[library].software;
            let looked_up = Micros::from_secs_f64(software.request_s.least());
            let list = asked[library].entry(wanted.cartridge).or_default();
            list.push((now + looked_up, target));
        }
        let traces = self.halls.iter().zip(asked).map(|(hall, asked)| Trace {
            drives: hall.drives.len() as u32,
            cartridges: asked
                .iter()
                .map(|(&number, list)| hall.least(number, list))
                .collect(),
        });
        Some(traces.collect())
    }

    /// The least time of a response that the bounds leave out, on average: software, before and after the
    /// tape, and answers from disk.
    pub fn besides(&self, library: usize) -> Micros {
        let software = &self.scenario().libraries[library].software;
        Micros::from_secs_f64(software.request_s.least() + software.answer_s.least())
    }
}

impl Hall {
    /// The least that a cartridge's mounts and reads take, on the quickest kind of drive for each.
    fn least(&self, number: u32, asked: &Asked) -> Cartridge {
        let (MediumId(medium), _) = self.cartridges.get(number);
        let targets: Vec<Target> = asked.iter().map(|&(_, target)| target).collect();
        let [get_s, put_s] = [self.get.least(), self.put.least()];
        let mut least: Option<Cartridge> = None;
        for kind in self.kinds.iter().filter(|kind| kind.reads[medium]) {
            let (works, rewind) = kind.mechanics.least(&targets);
            let reads = asked
                .iter()
                .zip(works)
                .map(|(&(arrived, _), work)| Work { arrived, work });
            let mount = |robot_s: f64, drive_s: f64| Micros::from_secs_f64(robot_s + drive_s);
            let Kind { mechanics, .. } = kind;
            let this = Cartridge {
                number,
                before: mount(get_s, mechanics.load.least()),
                after: mount(put_s, mechanics.unload.least()) + rewind,
                reads: reads.collect(),
            };
            least = Some(match least {
                Some(other) => other.least_of_both(&this),
                None => this,
            });
        }
        least.unwrap_or(Cartridge {
            number,
            before: Micros::ZERO,
            after: Micros::ZERO,
            reads: Vec::new(),
        })
    }
}
