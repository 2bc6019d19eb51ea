//! A site's policy as a text: which cartridge is next, whose share of the drives is how large, and what one user or
//! destination may have at most.
//!
//! An archive has it as its table `[mounts]`, or in a file that simulations read too.

use super::{MountPolicy, MountRules, Share};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Whoever asks: a user, in an activity.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Owner {
    /// What the user is doing; empty where nobody said.
    pub activity: String,
    /// The user.
    pub user: String,
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.user.as_str() {
            "" => f.write_str("a user without a name")?,
            user => f.write_str(user)?,
        }
        match self.activity.as_str() {
            "" => Ok(()),
            activity => write!(f, " in {activity}"),
        }
    }
}

/// How the next cartridge is chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MountSettings {
    /// The policy: one that never waits.
    pub policy: MountPolicy,
    /// Seconds after which a request goes before all that have not waited for as long.
    pub overdue_s: f64,
    /// How much more a request weighs that has waited longer than is usual: 0 not at all, 2 as much as keeps the
    /// longest waits short.
    pub age: f64,
    /// Requests that are read of a cartridge before the drive is given away anew.
    pub most_per_mount: u32,
    /// Drives that no user alone is given.
    pub spare_drives: u32,
    /// The most drives that one user is given; absent: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drives_per_user: Option<u32>,
    /// The most recalls to one directory that drives have begun; absent: any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recalls_per_destination: Option<u32>,
    /// Shares of users within their activity; whoever is not listed has 1.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub shares: BTreeMap<String, f64>,
    /// Shares of activities; what is not listed has 1, and so have requests without an activity, together.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub activity_shares: BTreeMap<String, f64>,
}

impl Default for MountSettings {
    fn default() -> MountSettings {
        let rules = MountRules::default();
        MountSettings {
            policy: MountPolicy::Ahead,
            overdue_s: rules.overdue_s,
            age: rules.age,
            most_per_mount: 1000,
            spare_drives: rules.spare_drives,
            drives_per_user: rules.drives_per_user,
            recalls_per_destination: None,
            shares: BTreeMap::new(),
            activity_shares: BTreeMap::new(),
        }
    }
}

/// Why a text is no policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// It is no TOML, or has keys that are unknown or of another type.
    #[error("{0}")]
    Text(String),
    /// A key has a wrong value.
    #[error("`{key}` is {value}: it must be {must}")]
    Value {
        /// The key.
        key: &'static str,
        /// What it is.
        value: String,
        /// What it must be.
        must: &'static str,
    },
}

impl MountSettings {
    /// The policy of a file.
    ///
    /// # Errors
    /// The first key that is wrong.
    pub fn from_toml(text: &str) -> Result<MountSettings, PolicyError> {
        let settings: MountSettings =
            toml::from_str(text).map_err(|error| PolicyError::Text(error.to_string()))?;
        settings.check()?;
        Ok(settings)
    }

    /// Whether drives can be given away by these.
    ///
    /// # Errors
    /// The first key that is wrong.
    pub fn check(&self) -> Result<(), PolicyError> {
        if self.policy == MountPolicy::Cta {
            let must = "another one: this policy waits while drives are free, which is for simulations only";
            return wrong("policy", self.policy.name(), must);
        }
        if !(self.overdue_s >= 0.0 && self.overdue_s.is_finite()) {
            return wrong("overdue_s", self.overdue_s, "seconds, 0 or more");
        }
        if !(0.0..=10.0).contains(&self.age) {
            return wrong("age", self.age, "from 0 to 10");
        }
        if self.most_per_mount == 0 {
            return wrong("most_per_mount", 0, "at least 1");
        }
        if self.drives_per_user == Some(0) {
            return wrong("drives_per_user", 0, "at least 1, or absent");
        }
        if self.recalls_per_destination == Some(0) {
            return wrong("recalls_per_destination", 0, "at least 1, or absent");
        }
        let is_share = |share: &f64| *share > 0.0 && share.is_finite();
        if let Some(share) = self.shares.values().find(|share| !is_share(share)) {
            return wrong("shares", share, "above 0 for every user");
        }
        if let Some(share) = self.activity_shares.values().find(|share| !is_share(share)) {
            return wrong("activity_shares", share, "above 0 for every activity");
        }
        if !self.policy.prices() && self.tells_users_apart() {
            let must = "ahead or index, as shares, `spare_drives` and `drives_per_user` mean nothing to others";
            return wrong("policy", self.policy.name(), must);
        }
        Ok(())
    }

    /// Whether one user is kept from having all drives.
    pub fn limits_users(&self) -> bool {
        self.spare_drives > 0 || self.drives_per_user.is_some()
    }

    fn tells_users_apart(&self) -> bool {
        self.limits_users() || !self.shares.is_empty() || !self.activity_shares.is_empty()
    }

    /// The numbers of the policy, for these owners.
    pub fn rules<'a>(&self, owners: impl IntoIterator<Item = &'a Owner>) -> MountRules {
        let (mut activities, mut users) = (BTreeMap::new(), BTreeMap::new());
        let share = |owner: &'a Owner| Share {
            activity: number(&mut activities, &owner.activity),
            of_activity: listed(&self.activity_shares, &owner.activity),
            user: number(&mut users, &owner.user),
            of_user: listed(&self.shares, &owner.user),
        };
        MountRules {
            overdue_s: self.overdue_s,
            age: self.age,
            spare_drives: self.spare_drives,
            drives_per_user: self.drives_per_user,
            owners: owners.into_iter().map(share).collect(),
            ..MountRules::default()
        }
    }
}

/// The number of a name: the next one if it has none yet.
fn number<'a>(names: &mut BTreeMap<&'a str, u32>, name: &'a str) -> u32 {
    let next = names.len() as u32;
    *names.entry(name).or_insert(next)
}

fn listed(shares: &BTreeMap<String, f64>, name: &str) -> f64 {
    shares.get(name).copied().unwrap_or(1.0)
}

fn wrong(key: &'static str, value: impl ToString, must: &'static str) -> Result<(), PolicyError> {
    Err(PolicyError::Value {
        key,
        value: value.to_string(),
        must,
    })
}
