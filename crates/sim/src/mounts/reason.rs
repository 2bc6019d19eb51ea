//! Why a cartridge is next, in numbers and in words.

use super::{Choice, MountPolicy, Situation, standing};
use std::fmt;
use tapewise_model::Micros;

/// What made a cartridge the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// No other one could be mounted.
    Alone,
    /// Its owner has fewer drives than its share, or its activity has, and the owners of all others have theirs.
    Share,
    /// Its oldest request is overdue.
    Overdue,
    /// It is in the drive.
    InDrive,
    /// It has been ready for longest.
    Ready,
    /// It has the oldest request.
    Oldest,
    /// It has most requests.
    MostRequests,
    /// It has the most urgent request.
    Urgent,
    /// It serves most waiting per second of the drive.
    Worth,
}

/// Why a cartridge is next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reason {
    /// What decided.
    pub why: Why,
    /// Requests that wait for it.
    pub requests: u32,
    /// How long the oldest of them has waited.
    pub oldest_waited: Micros,
    /// For how long it will occupy the drive, as estimated.
    pub cost: Micros,
}

/// Why a policy chose what it chose; `None` where it waits.
pub fn reason(policy: MountPolicy, situation: &Situation, choice: Choice) -> Option<Reason> {
    let Choice::Mount { place, drive } = choice else {
        return None;
    };
    let waiting = &situation.waiting[place];
    let oldest_waited = situation.now - waiting.oldest_arrived;
    let others = situation.waiting.iter().enumerate();
    let mut others = others
        .filter(|&(other, _)| other != place)
        .map(|(_, other)| standing(policy, situation, other))
        .filter(|standing| !standing.is_at_limit)
        .peekable();
    let mine = standing(policy, situation, waiting);
    let why = if others.peek().is_none() {
        Why::Alone
    } else if others.all(|standing| mine < standing) {
        Why::Share
    } else if policy.prices() && waiting.is_overdue(situation.now, situation.rules) {
        Why::Overdue
    } else if waiting.here.is_some() {
        Why::InDrive
    } else {
        policy.kind().why
    };
    Some(Reason {
        why,
        requests: waiting.requests,
        oldest_waited,
        cost: (situation.cost)(waiting, &situation.drives[drive]),
    })
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waited = self.oldest_waited;
        match self.why {
            Why::Alone => write!(f, "nothing else can be mounted"),
            Why::Share => write!(
                f,
                "the user or activity that asked has fewer drives than its share"
            ),
            Why::Overdue => write!(f, "overdue: its oldest request has waited for {waited}"),
            Why::InDrive => write!(f, "it is in the drive"),
            Why::Ready => write!(f, "it has been ready for longest"),
            Why::Oldest => write!(
                f,
                "it has the oldest request, which has waited for {waited}"
            ),
            Why::MostRequests => write!(f, "it has most requests, {}", self.requests),
            Why::Urgent => write!(f, "it has the most urgent request"),
            Why::Worth => {
                let (requests, cost) = (self.requests, self.cost);
                let s = if requests == 1 { "" } else { "s" };
                write!(
                    f,
                    "it serves the most waiting requests for its drive time: {requests} request{s} in about {cost}, by the \
                     estimate that chooses"
                )
            }
        }
    }
}
