use proptest::prelude::*;
use tapewise_model::Random;
use tapewise_sim::queue::QueueError;
use tapewise_sim::queue::nested::{Nested, RobotArrivals};

use crate::queue::assert_close;
use crate::queue::recursion::{exponential_s, first_free};

fn library(requests_per_hour: f64, drives: u32, robot_arrivals: RobotArrivals) -> Nested {
    Nested {
        arrivals_per_s: requests_per_hour / 3600.0,
        drives,
        drive_s: 43.0,
        drive_variance_s2: 208.0,
        robots: 1,
        visits: 1,
        robot_s: 10.0,
        robot_scv: 0.0,
        robot_arrivals,
    }
}

/// Mean waits for a drive and for the robot, request by request: a drive, then the robot, then the
/// drive's own time; whoever has a drive first has the robot first.
fn recursion(library: &Nested, requests: usize, seed: u64) -> (f64, f64) {
    let mut random = Random::new(seed, 0);
    let mut free_s = vec![0.0f64; library.drives as usize];
    let mut robot_free_s = vec![0.0f64; library.robots as usize];
    let mut now_s = 0.0f64;
    let (mut drive_waits_s, mut robot_waits_s) = (0.0, 0.0);
    // Uniform of this mean and variance.
    let width_s = (12.0 * library.drive_variance_s2).sqrt();
    for _ in 0..requests {
        now_s += exponential_s(&mut random, 1.0 / library.arrivals_per_s);
        let drive = first_free(&free_s);
        let has_drive_s = now_s.max(free_s[drive]);
        let robot = first_free(&robot_free_s);
        let has_robot_s = has_drive_s.max(robot_free_s[robot]);
        robot_free_s[robot] = has_robot_s + library.robot_s;
        free_s[drive] = robot_free_s[robot] + library.drive_s + width_s * (random.unit() - 0.5);
        drive_waits_s += has_drive_s - now_s;
        robot_waits_s += has_robot_s - has_drive_s;
    }
    (
        drive_waits_s / requests as f64,
        robot_waits_s / requests as f64,
    )
}

#[test]
fn a_recursion_finds_the_waits_of_the_view_from_the_drives() {
    for (rate, drives) in [(150.0, 4), (200.0, 6), (250.0, 6), (250.0, 8)] {
        let poisson = library(rate, drives, RobotArrivals::Poisson);
        let (drive_wait_s, robot_wait_s) = recursion(&poisson, 400_000, 3);
        let poisson = poisson.solve().unwrap();
        let among = library(rate, drives, RobotArrivals::FromDrives)
            .solve()
            .unwrap();
        assert!(robot_wait_s < poisson.robot_wait_s);
        assert_close(among.robot_wait_s, robot_wait_s, 0.15);
        assert_close(among.drive_wait_s, drive_wait_s, 0.1);
    }
}

/// Near the robot's own limit the view from the drives is a third too short, and Poisson twice too
/// long: `docs/method/queueing.md` says so, and this is where it comes from.
#[test]
fn next_to_the_robots_limit_both_views_are_off_as_documented() {
    let busy = library(340.0, 12, RobotArrivals::FromDrives);
    let (_, robot_wait_s) = recursion(&busy, 1_000_000, 7);
    let among_s = busy.solve().unwrap().robot_wait_s;
    assert!(among_s > 0.6 * robot_wait_s && among_s < robot_wait_s);
    let open = Nested {
        drives: 1_000,
        robot_arrivals: RobotArrivals::Poisson,
        ..busy
    };
    assert!(open.solve().unwrap().robot_wait_s > 1.5 * robot_wait_s);
}

/// Two robots as one of twice the speed and a delay.
#[test]
fn two_robots_carry_what_one_cannot() {
    let one = library(600.0, 14, RobotArrivals::FromDrives);
    assert!(one.solve().is_err(), "one robot does 360 an hour");
    let two = Nested { robots: 2, ..one };
    let (drive_wait_s, robot_wait_s) = recursion(&two, 400_000, 5);
    let found = two.solve().unwrap();
    assert_close(found.robot_wait_s, robot_wait_s, 0.1);
    assert_close(found.drive_wait_s, drive_wait_s, 0.1);
}

#[test]
fn without_end_of_drives_both_views_of_the_robot_are_the_same() {
    let poisson = library(250.0, 3_000, RobotArrivals::Poisson)
        .solve()
        .unwrap();
    let among = library(250.0, 3_000, RobotArrivals::FromDrives)
        .solve()
        .unwrap();
    assert_close(among.robot_wait_s, poisson.robot_wait_s, 0.01);
    assert!(among.drive_wait_s < 1e-9 && poisson.drive_wait_s < 1e-9);
}

#[test]
fn one_drive_never_waits_for_its_robot() {
    let alone = library(50.0, 1, RobotArrivals::FromDrives).solve().unwrap();
    assert!(alone.robot_wait_s < 1e-9);
    assert_close(alone.held_s, 53.0, 1e-9);
}

/// Enough drives for 53 s each, but not with the waits for the robot.
#[test]
fn what_the_robot_makes_too_much_for_the_drives_is_refused() {
    for view in [RobotArrivals::Poisson, RobotArrivals::FromDrives] {
        let refused = library(330.0, 5, view).solve().unwrap_err();
        assert!(
            matches!(refused, QueueError::Unstable { servers: 5, utilisation, .. } if utilisation > 1.0),
            "{refused}"
        );
        let robot = library(370.0, 50, view).solve().unwrap_err();
        assert!(
            matches!(robot, QueueError::Unstable { servers: 1, .. }),
            "{robot}"
        );
    }
}

proptest! {
    #[test]
    fn drives_are_held_for_their_own_time_and_the_robots(
        rate in 10.0f64..300.0, drives in 1u32..20, robots in 1u32..3, visits in 1u32..3,
    ) {
        let nested = Nested { robots, visits, ..library(rate, drives, RobotArrivals::FromDrives) };
        if let Ok(steady) = nested.solve() {
            let robot_s = f64::from(visits) * (10.0 + steady.robot_wait_s);
            prop_assert!((steady.held_s - 43.0 - robot_s).abs() < 1e-9);
            let busy = nested.arrivals_per_s * steady.held_s / f64::from(drives);
            prop_assert!((steady.drive_utilisation - busy).abs() < 1e-12 && busy < 1.0);
        }
    }
}
