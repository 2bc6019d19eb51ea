//! Robots: Table 2 of Johnson & Miller 1998 and the libraries of the other papers.

use crate::common;

use common::*;
use tapewise_emulator::RobotTimes;
use tapewise_model::Random;

fn times(name: &str, slots: u32) -> (Vec<f64>, Vec<f64>) {
    let robot = RobotTimes::find(name).expect(name);
    let mut random = Random::new(1, 6);
    (0..2_000)
        .map(|trip| {
            let slot = trip * 7 % slots;
            let fetch = robot.fetch(slot, &mut random).as_secs_f64();
            (fetch, robot.put_back(slot, &mut random).as_secs_f64())
        })
        .unzip()
}

#[test]
fn the_robots_of_table_2_have_their_means_and_spreads() {
    for (name, slots, fetch, put_back) in [
        ("grau-abba2", 6_000, (19.7, 0.1), (16.4, 0.2)),
        ("ampex-810", 256, (2.9, 0.3), (3.7, 0.5)),
        ("sony-dms-b9", 9, (12.8, 2.1), (17.2, 1.9)),
    ] {
        let (fetches, returns) = times(name, slots);
        for (published, found) in [(fetch, mean_sd(&fetches)), (put_back, mean_sd(&returns))] {
            assert_near(&format!("{name}, mean"), found.0, published.0, 0.02);
            assert_near(&format!("{name}, spread"), found.1, published.1, 0.08);
        }
    }
}

#[test]
fn robots_without_a_published_spread_have_their_means() {
    for (name, slots, fetch, put_back) in [
        ("stk-9710", 404, 9.0, 9.0),
        ("ibm3575-l18", 180, 5.0, 5.0),
        // 25-30 s and 27-32 s of whole mounts, less 20 and 18 s of the drive.
        ("ibm3584", 281, 7.5, 11.5),
    ] {
        let (fetches, returns) = times(name, slots);
        assert_near(name, mean_sd(&fetches).0, fetch, 0.02);
        assert_near(name, mean_sd(&returns).0, put_back, 0.02);
    }
}

#[test]
fn a_slot_farther_away_takes_a_little_longer() {
    let robot = RobotTimes::find("ibm3584").unwrap();
    let mean = |slot| {
        let mut random = Random::new(2, 0);
        let times: Vec<f64> = (0..500)
            .map(|_| robot.fetch(slot, &mut random).as_secs_f64())
            .collect();
        mean_sd(&times).0
    };
    let farther = mean(280) - mean(0);
    assert!((0.5..4.0).contains(&farther), "{farther}");
    assert_eq!(mean(280), mean(u32::MAX));
}

#[test]
fn a_drive_has_no_robot() {
    assert_eq!(RobotTimes::find("lto8"), None);
    assert_eq!(RobotTimes::find("nobody"), None);
}
