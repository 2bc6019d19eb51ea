//! Key points learned from locate times, against cartridges whose key points are known and whose times are those of the
//! key-point model with other constants than believed, noise and retries.

use tapewise_model::{
    KeyPointBelief, KeyPoints, LearnedKeyPoints, LocateModel, Micros, NominalSections, Random,
    TimedLocate, locate::KeyPointModel, profile,
};

const NOISE_S: f64 = 0.4;

/// Every fiftieth locate or so is tried again.
const RETRIED: f64 = 0.02;
const RETRY_S: f64 = 8.0;

/// A drive whose constants are not those of the profile, and a cartridge of eight tracks in it.
struct Drive {
    truth: KeyPoints,
    model: LocateModel,
    random: Random,
    head: u64,
}

fn belief() -> KeyPointBelief {
    let belief = profile::find("dlt4000")
        .unwrap()
        .key_point_belief()
        .unwrap();
    let sections = NominalSections {
        tracks: 8,
        ..belief.sections
    };
    KeyPointBelief { sections, ..belief }
}

impl Drive {
    fn new(seed: u64) -> Drive {
        let belief = belief();
        let mut random = Random::new(seed, 3);
        let truth = KeyPoints::generate(belief.sections, belief.spread, &mut random);
        let mut coefficients = belief.coefficients;
        coefficients.case_s = [0.3, 1.0, 1.7, 9.7, 1.0, 1.7, 9.7];
        let model = LocateModel::KeyPoint(KeyPointModel::new(&coefficients, &truth));
        Drive {
            truth,
            model,
            random,
            head: 1,
        }
    }

    fn locate(&mut self, to: u64) -> TimedLocate {
        let map = self.truth.block_map();
        let place = |segment| map.position(0, segment).expect("on the tape");
        let exact = self.model.locate(&place(self.head), &place(to));
        let retry_s = if self.random.unit() < RETRIED {
            RETRY_S
        } else {
            0.0
        };
        let noise_s = NOISE_S * self.random.normal() + retry_s;
        let from = std::mem::replace(&mut self.head, to + 1);
        let time = exact + Micros::from_secs_f64(noise_s);
        TimedLocate { from, to, time }
    }

    fn anywhere(&mut self) -> TimedLocate {
        let to = self.random.below(self.truth.segments() - 2);
        self.locate(to)
    }

    /// Mean distance of key points that show in locates.
    fn off(&self, found: &KeyPoints) -> f64 {
        let mut off = Vec::new();
        for track in 0..self.truth.tracks() {
            let pairs = self.truth.track(track).iter().zip(found.track(track));
            let shown = pairs.enumerate().filter(|(section, _)| *section != 1);
            off.extend(shown.map(|(_, (truth, found))| truth.abs_diff(*found) as f64));
        }
        off.iter().sum::<f64>() / off.len() as f64
    }
}

#[test]
fn ordinary_recalls_tell_where_key_points_lie() {
    for seed in 1..=2 {
        let mut drive = Drive::new(seed);
        // Where the tape ends is not known either.
        let mut learned = LearnedKeyPoints::new(belief(), None, seed);
        for _ in 0..120 {
            learned.observe(drive.anywhere());
        }
        learned.learn();
        learned.learn();
        let found = learned.key_points();
        let off = drive.off(&found);
        assert!(off < 30.0, "seed {seed}: {off}");
        let says = learned.error_segments();
        assert!(
            off < 3.0 * says && says < 60.0,
            "seed {seed}: {off} of {says}"
        );
        for (case, (found, truth)) in (learned.coefficients().case_s.iter())
            .zip([0.3, 1.0, 1.7, 9.7, 1.0, 1.7, 9.7])
            .enumerate()
        {
            // The first case is reading on, which chance seldom meets.
            assert!(
                case == 0 || (found - truth).abs() < 1.5,
                "case {case}: {found}"
            );
        }
    }
}

#[test]
fn what_was_believed_first_is_given_up_where_later_locates_speak_against_it() {
    for seed in [1, 3] {
        let mut drive = Drive::new(seed);
        let mut learned = LearnedKeyPoints::new(belief(), None, seed);
        // The first locates are those of a cartridge whose tracks begin half a section later.
        for _ in 0..25 {
            let locate = drive.anywhere();
            let (from, to) = (
                locate.from.saturating_sub(350),
                locate.to.saturating_sub(350),
            );
            learned.observe(TimedLocate { from, to, ..locate });
        }
        learned.learn();
        let misled = drive.off(&learned.key_points());
        for _ in 0..150 {
            learned.observe(drive.anywhere());
        }
        learned.learn();
        learned.learn();
        let off = drive.off(&learned.key_points());
        assert!(
            misled > 50.0 && off < misled / 3.0,
            "seed {seed}: {misled}, then {off}"
        );
    }
}

#[test]
fn the_first_locate_goes_to_where_believed_cartridges_disagree_most_for_its_time() {
    // What the times of a locate are off by from one cartridge to another, for each second it takes.
    let belief = belief();
    let cartridges: Vec<(KeyPoints, LocateModel)> = (0..40)
        .map(|nth| {
            let mut random = Random::new(nth, 5);
            let truth = KeyPoints::generate(belief.sections, belief.spread, &mut random);
            let model = KeyPointModel::new(&belief.coefficients, &truth);
            (truth, LocateModel::KeyPoint(model))
        })
        .collect();
    let disagreement = |to: u64| {
        let times = cartridges.iter().map(|(truth, model)| {
            let map = truth.block_map();
            let place = |segment| map.position(0, segment).expect("on the tape");
            model.locate(&place(1), &place(to)).as_secs_f64()
        });
        let times: Vec<f64> = times.collect();
        let count = times.len() as f64;
        let mean_s = times.iter().sum::<f64>() / count;
        let square = times
            .iter()
            .map(|time| (time - mean_s).powi(2))
            .sum::<f64>()
            / count;
        square.sqrt() / mean_s.max(1.0)
    };
    let least = cartridges.iter().map(|(truth, _)| truth.segments()).min();
    let end = least.expect("a cartridge");
    let mut random = Random::new(1, 6);
    let (mut chosen, mut any) = (0.0, 0.0);
    for seed in 1..=10 {
        let learned = LearnedKeyPoints::new(belief.clone(), None, seed);
        chosen += disagreement(learned.next_probe(1, end, &mut random));
        any += disagreement(1 + random.below(end - 2));
    }
    assert!(chosen > 1.3 * any, "{chosen} of {any}");
}

#[test]
fn chosen_locates_tell_more_in_an_hour_than_any_others() {
    let (mut chosen, mut any) = (0.0, 0.0);
    for seed in 1..=2 {
        let hour = |chooses: bool| {
            let mut drive = Drive::new(seed);
            let end = drive.truth.segments();
            let mut learned = LearnedKeyPoints::new(belief(), Some(end), seed);
            let mut random = Random::new(seed, 4);
            let mut took_s = 0.0;
            while took_s < 3_600.0 {
                let locate = if chooses {
                    drive.locate(learned.next_probe(drive.head, end, &mut random))
                } else {
                    drive.anywhere()
                };
                took_s += locate.time.as_secs_f64();
                learned.observe(locate);
                if learned.locates().is_multiple_of(32) {
                    learned.learn();
                }
            }
            learned.learn();
            drive.off(&learned.key_points())
        };
        (chosen, any) = (chosen + hour(true), any + hour(false));
    }
    assert!(chosen < 0.8 * any, "{chosen} of {any}");
}

#[test]
fn before_the_first_locate_the_key_points_are_about_the_nominal_ones_and_a_locate_beyond_the_end_tells_nothing()
 {
    let drive = Drive::new(1);
    let mut learned = LearnedKeyPoints::new(belief(), Some(drive.truth.segments()), 1);
    learned.observe(TimedLocate {
        from: 10,
        to: drive.truth.segments(),
        time: Micros(1),
    });
    learned.learn();
    assert_eq!(learned.locates(), 0);
    assert!(drive.off(&learned.key_points()) < 500.0);
    assert!(learned.error_segments() > 50.0);
}
