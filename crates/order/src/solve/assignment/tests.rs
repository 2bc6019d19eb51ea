//! Assignments that ran out of time, at every stage.

use super::Assignment;
use crate::common::drive;
use crate::order::is_permutation;
use crate::solve::patch::patch;
use std::cell::Cell;
use tapewise_model::Random;

#[test]
fn out_of_time_leaves_successors_and_a_proof_of_a_lower_bound() {
    for (stream, name) in ["lto7-m8", "dlt4000", "dat-4mm"].iter().enumerate() {
        let drive = drive(name);
        let mut random = Random::new(207, stream as u64);
        for requests in [200, 1_900] {
            let requests = drive.uniform_requests(requests, &mut random);
            let problem = drive.problem(drive.random_options(&mut random), &requests);
            let whole = Assignment::new(&problem).bound();
            for looks in [0, 1, 10, 100, 400] {
                let left = Cell::new(looks);
                let out_of_time = || {
                    left.set(left.get() - i32::from(left.get() > 0));
                    left.get() == 0
                };
                let assignment = Assignment::within(&problem, &out_of_time);
                let context = format!("{name}, {} visits, {looks} looks", problem.len());
                assert!(is_permutation(&assignment.successor), "{context}");
                assert!(assignment.is_proof(&problem), "{context}");
                assert!(assignment.bound() <= whole, "{context}");
                let order = patch(&problem, &assignment);
                assert!(is_permutation(order.visits()), "{context}");
                assert_eq!(order.visits().len(), problem.len(), "{context}");
            }
        }
    }
}
