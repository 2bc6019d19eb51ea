//! As the tape daemons of the CERN Tape Archive (CTA) choose what to retrieve.
//!
//! A tape is mounted once its queue is worth it: enough files, enough bytes (`MountCriteria` of the
//! daemon), or an oldest request of a least age (`--minretrieverequestage` of its mount policy). Of
//! those that are, the one of highest priority goes first, then the one whose virtual organisation
//! uses least of its quota of drives, then the one with the oldest request (comparison of
//! `PotentialMount` in CTA's scheduler). A site here has one virtual organisation, so the quota does
//! not tell tapes apart.

use super::{FreeDrive, PolicyKind, Rank, Situation, Waiting, Why};
use std::cmp::Reverse;
use tapewise_model::Micros;

/// As the list of policies knows it.
pub(super) const KIND: PolicyKind = PolicyKind {
    name: "cta",
    rank,
    why: Why::Urgent,
};

fn rank(situation: &Situation, waiting: &Waiting, _: &FreeDrive) -> Result<Rank, Micros> {
    let rules = situation.rules;
    let old_enough = waiting.oldest_arrived + Micros::from_secs_f64(rules.least_age_s);
    let is_enough = waiting.requests >= rules.enough_requests
        || waiting.size_mb >= rules.enough_gb * 1e3
        || old_enough <= situation.now;
    if is_enough {
        Ok((Reverse(u64::from(waiting.priority)), waiting.oldest))
    } else {
        Err(old_enough)
    }
}
