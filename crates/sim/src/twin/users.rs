//! Who asked, and how long each waited.

use super::log::Arrival;
use super::one_run::{RESOLVED_S, one_run};
use crate::library::Answer;
use crate::mounts::Owner;
use crate::statistics::{Interval, StatisticsError};
use std::collections::{BTreeMap, BTreeSet};

/// What the logs show of a user.
#[derive(Clone, Debug, PartialEq)]
pub struct UserAnswered {
    /// The user, in an activity.
    pub owner: Owner,
    /// The responses, in seconds.
    pub responses_s: Vec<f64>,
}

/// A user's mean response in the logs beside the twin's.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedUser {
    /// The user, in an activity.
    pub owner: Owner,
    /// Requests whose responses the logs show.
    pub requests: usize,
    /// The mean as the logs show it, in seconds.
    pub log_s: f64,
    /// Where a run of the twin has it, in seconds.
    pub twin_s: Interval,
}

/// Who asked and what for, after the length of the name: names that end in numbers are in the order of these.
pub(super) type Who<'a> = (usize, &'a str, &'a str);

/// Who asked.
pub(super) fn who(arrival: &Arrival) -> Who<'_> {
    let user = arrival.owner.as_deref().unwrap_or_default();
    let activity = arrival.activity.as_deref().unwrap_or_default();
    (user.len(), user, activity)
}

/// All who asked, each once, in order.
pub(super) fn owners(arrivals: &[Arrival]) -> Vec<Who<'_>> {
    let owners: BTreeSet<Who<'_>> = arrivals.iter().map(who).collect();
    owners.into_iter().collect()
}

/// All who asked, in order, with the responses that are known.
pub(super) fn answered(arrivals: &[Arrival]) -> Vec<UserAnswered> {
    let mut users: BTreeMap<Who<'_>, Vec<f64>> = BTreeMap::new();
    for arrival in arrivals {
        let responses_s = users.entry(who(arrival)).or_default();
        responses_s.extend(arrival.response_s);
    }
    let user = |((_, user, activity), responses_s): (Who<'_>, Vec<f64>)| UserAnswered {
        owner: Owner {
            activity: activity.to_owned(),
            user: user.to_owned(),
        },
        responses_s,
    };
    users.into_iter().map(user).collect()
}

/// The mean response of each user in a run; none for those who got no answer.
pub(super) fn means_s(answers: &[Answer], users: usize) -> Vec<Option<f64>> {
    let mut responses_s = vec![Vec::new(); users];
    for answer in answers {
        responses_s[answer.owner as usize].push(answer.response.as_secs_f64());
    }
    responses_s.iter().map(|all| mean(all)).collect()
}

/// What the logs show of each user beside the means of some runs. Nothing if there is one user, or none with a name.
pub(super) fn checked(
    users: &[UserAnswered],
    runs: &[Vec<Option<f64>>],
) -> Result<Vec<CheckedUser>, StatisticsError> {
    if users.len() < 2 {
        return Ok(Vec::new());
    }
    let known = users.iter().enumerate().filter_map(|(number, user)| {
        let means: Option<Vec<f64>> = runs.iter().map(|run| run[number]).collect();
        Some((user, mean(&user.responses_s)?, means?))
    });
    let one = |(user, log_s, means): (&UserAnswered, f64, Vec<f64>)| {
        Ok(CheckedUser {
            owner: user.owner.clone(),
            requests: user.responses_s.len(),
            log_s,
            twin_s: one_run(&means, RESOLVED_S)?,
        })
    };
    known.map(one).collect()
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
