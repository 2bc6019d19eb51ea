//! Bounds are below the best schedule, and the best schedule is below every policy.

use tapewise_model::{Micros, Random, profile};
use tapewise_sim::Scenario;
use tapewise_sim::bounds::{Cartridge, Effort, Trace, Work};
use tapewise_sim::library::Site;
use tapewise_sim::mounts::MountPolicy;

/// A small library in whole seconds.
struct Small {
    drives: usize,
    /// Robot and load; rewind, unload and robot.
    before: i64,
    after: i64,
    /// Cartridge, arrival and time of each read.
    reads: Vec<(usize, i64, i64)>,
}

impl Small {
    fn random(case: u64) -> Small {
        let mut random = Random::new(case, 0);
        let mut drawn =
            |least: i64, most: i64| least + random.below((most - least + 1) as u64) as i64;
        let cartridges = drawn(1, 3);
        let alike = drawn(0, 1) == 0;
        let mut reads: Vec<_> = (0..drawn(2, 5))
            .map(|_| {
                let work = if alike { 30 } else { drawn(1, 120) };
                (drawn(0, cartridges - 1) as usize, drawn(0, 200), work)
            })
            .collect();
        reads.sort_by_key(|read| read.1);
        Small {
            drives: drawn(1, 2) as usize,
            before: 2 * drawn(1, 20),
            after: 3 * drawn(1, 20),
            reads,
        }
    }

    fn trace(&self) -> Trace {
        let seconds = |s: i64| Micros(s * 1_000_000);
        let of = |cartridge| {
            let reads = self.reads.iter().filter(move |read| read.0 == cartridge);
            let work = |&(_, arrived, work): &(usize, i64, i64)| Work {
                arrived: seconds(arrived),
                work: seconds(work),
            };
            Cartridge {
                number: cartridge as u32,
                before: seconds(self.before),
                after: seconds(self.after),
                reads: reads.map(work).collect(),
            }
        };
        Trace {
            drives: self.drives as u32,
            cartridges: (0..3).map(of).collect(),
        }
    }

    /// The same as a scenario that the policies run on, with as many robots as drives.
    fn scenario(&self, policy: &str, dismount: &str) -> Scenario {
        let listed = |&(cartridge, at, work): &(usize, i64, i64)| {
            format!("{{ at_s = {at}, cartridge = {cartridge}, place = 0.5, size_mb = {work} }}")
        };
        let list: Vec<String> = self.reads.iter().map(listed).collect();
        let text = format!(
            r#"
            name = "small"
            requests = {}
            arrivals = {{ pattern = "trace", list = [{}] }}
            policy = {{ mount = "{policy}", dismount = "{dismount}" }}
            [[library]]
            name = "library"
            robot = {{ count = {drives}, get_s = {half}, put_s = {third} }}
            cartridge = [{{ count = 3 }}]
            drive = [{{ count = {drives}, load_s = {half}, unload_s = {third}, search_s = 0, rewind_s = {third}, rate_mb_s = 1 }}]
            "#,
            self.reads.len(),
            list.join(", "),
            drives = self.drives,
            half = self.before / 2,
            third = self.after / 3,
        );
        Scenario::from_toml(&text).expect("a scenario")
    }

    /// The least sum of responses and `price` times the work of drives, by trying everything: the next read of any
    /// request on any drive, as soon as it can be.
    fn best(&self, price: i64) -> i64 {
        let mut search = Search {
            small: self,
            price,
            best: i64::MAX,
            ends: [0; 2],
            loaded: [None; 2],
            back: [0; 3],
            open: vec![true; self.reads.len()],
        };
        search.go(0, 0);
        search.best
    }
}

struct Search<'a> {
    small: &'a Small,
    price: i64,
    best: i64,
    ends: [i64; 2],
    loaded: [Option<usize>; 2],
    /// When a cartridge was last put back.
    back: [i64; 3],
    open: Vec<bool>,
}

impl Search<'_> {
    fn go(&mut self, cost: i64, answered: usize) {
        if cost >= self.best {
            return;
        }
        if answered == self.small.reads.len() {
            self.best = cost;
            return;
        }
        for read in 0..self.small.reads.len() {
            for drive in 0..self.small.drives {
                if self.open[read] {
                    self.read(cost, answered, read, drive);
                }
            }
        }
    }

    fn read(&mut self, cost: i64, answered: usize, read: usize, drive: usize) {
        let (ends, loaded, back) = (self.ends, self.loaded, self.back);
        let Small {
            before,
            after,
            reads,
            ..
        } = self.small;
        let (cartridge, arrived, work) = reads[read];
        let mut worked = work;
        if self.loaded[drive] != Some(cartridge) {
            let asked =
                (0..reads.len()).filter(|&other| self.open[other] && reads[other].0 == cartridge);
            let asked = asked.map(|other| reads[other].1).min().unwrap_or(0);
            for other in 0..2 {
                if self.loaded[other] == Some(cartridge)
                    || (other == drive && self.loaded[drive].is_some())
                {
                    self.ends[other] += after;
                    let taken = self.loaded[other].take().expect("loaded");
                    self.back[taken] = self.ends[other];
                }
            }
            self.ends[drive] = self.ends[drive].max(asked).max(self.back[cartridge]) + before;
            self.loaded[drive] = Some(cartridge);
            worked += before + after;
        }
        self.ends[drive] = self.ends[drive].max(arrived) + work;
        self.open[read] = false;
        self.go(
            cost + self.ends[drive] - arrived + self.price * worked,
            answered + 1,
        );
        self.open[read] = true;
        (self.ends, self.loaded, self.back) = (ends, loaded, back);
    }
}

fn effort(known: i64) -> Effort {
    Effort {
        bin: 10,
        rounds: 60,
        known: Some(Micros(known * 1_000_000)),
        ..Effort::default()
    }
}

#[test]
fn the_bound_is_below_the_best_schedule_and_that_below_every_policy() {
    let (mut sum_of_bounds, mut sum_of_best) = (0, 0);
    for case in 0..150 {
        let small = Small::random(case);
        let best = small.best(0);
        let bound = small.trace().least_responses(&effort(best)).0;
        assert!(
            bound <= best * 1_000_000,
            "case {case}: {bound} is above {best} s"
        );
        sum_of_bounds += bound / 1_000_000;
        sum_of_best += best;
        for policy in MountPolicy::ALL {
            for dismount in ["at-once", "when-needed"] {
                let site = Site::new(&small.scenario(policy.name(), dismount), profile::find);
                let run = site.expect("a site").run(0).expect("a run");
                let sum: Micros = run.answers.iter().map(|answer| answer.response).sum();
                assert!(
                    sum >= Micros(best * 1_000_000),
                    "case {case}: {} has {sum:?}, less than {best} s",
                    policy.name()
                );
            }
        }
    }
    // It would be easy to be below.
    eprintln!("{sum_of_bounds} {sum_of_best}");
    assert!(
        sum_of_bounds * 100 >= sum_of_best * 90,
        "{sum_of_bounds} s of {sum_of_best} s"
    );
}

#[test]
fn the_bound_on_work_is_below_that_of_every_schedule_whose_responses_are_as_short() {
    for case in 200..260 {
        let small = Small::random(case);
        let trace = small.trace();
        // The best schedule of several prices is one that a bound for its responses has to be below.
        for price in [0, 1, 5] {
            let best = small.best(price);
            let bound = trace.least_responses(&effort(best)).0;
            let limit = Micros(bound.max(small.best(0) * 1_000_000));
            let least = trace.least_work(limit, &effort(best)).0;
            // Responses at most `limit`, so work at most what is left of the cost.
            let most = (price > 0).then(|| (best * 1_000_000 - bound) / price);
            if let Some(most) = most {
                let once = trace.least_work(Micros(i64::MAX / 64), &effort(best)).0;
                assert!(once <= most, "case {case}: {once} is above {most}");
            }
            assert!(least >= 0);
        }
    }
}
