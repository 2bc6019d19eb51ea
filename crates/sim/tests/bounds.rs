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

    /// The work of a mount for each read.
    fn most_work(&self) -> i64 {
        self.reads
            .iter()
            .map(|read| self.before + self.after + read.2)
            .sum()
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
    // By whether reads differ: bounds, and the best schedules.
    let mut sums = [[0; 2]; 2];
    for case in 0..100 {
        let small = Small::random(case);
        let best = small.best(0);
        let bound = small.trace().least_responses(&effort(best)).0;
        assert!(
            bound <= best * 1_000_000,
            "case {case}: {bound} is above {best} s"
        );
        let differ = small.reads.iter().any(|read| read.2 != small.reads[0].2);
        sums[usize::from(differ)][0] += bound / 1_000_000;
        sums[usize::from(differ)][1] += best;
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
    // It would be easy to be below: reads that are alike are bounded well, others less so.
    for (least_percent, [bounds, best]) in [98, 80].into_iter().zip(sums) {
        assert!(
            bounds * 100 >= best * least_percent,
            "{bounds} s of {best} s"
        );
    }
}

#[test]
fn the_bound_on_work_is_below_the_work_of_every_schedule_with_such_responses() {
    for case in 200..260 {
        let small = Small::random(case);
        let trace = small.trace();
        let once = trace.once();
        let seconds = |s: i64| Micros(s * 1_000_000);
        // Every schedule has responses R and work W with R + 3 W at least `priced`; `best` is the least R.
        let (best, priced) = (small.best(0), small.best(3));
        for extra in [0, 100, 1000] {
            let responses = best + extra;
            let least = trace.least_work(seconds(responses), &effort(best));
            assert!(least >= once, "case {case}");
            // The schedule of least cost, if its responses are short enough, is one that the bound is about.
            let most = seconds((priced - best) / 3 + 1);
            assert!(
                least <= most.max(once) || least <= seconds(small.most_work()),
                "case {case}"
            );
        }
        assert_eq!(
            trace.least_work(Micros::FAR, &effort(best)),
            once,
            "case {case}"
        );
        assert!(once <= seconds((priced - best) / 3 + 1), "case {case}");
    }
}
