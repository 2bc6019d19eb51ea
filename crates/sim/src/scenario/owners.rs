//! Who asks in a scenario, by name, and a site's policy laid over it.

use super::{Arrivals, Scenario};
use crate::mounts::{MountSettings, Owner};
use std::collections::BTreeSet;

impl Scenario {
    /// Users and their activities, by number. A user without a name is called by the number, in no activity.
    pub fn owners(&self) -> Vec<Owner> {
        let named = &self.what.names;
        let highest = match (&self.arrivals, self.what.owners) {
            (Arrivals::Trace { list }, _) => list.iter().map(|listed| listed.owner).max(),
            (_, 0 | 1) => None,
            (_, owners) => Some(owners),
        };
        let owner = |number: usize| Owner {
            activity: String::new(),
            user: number.to_string(),
        };
        let owner = |number| named.get(number).cloned().unwrap_or_else(|| owner(number));
        (0..=highest.unwrap_or(0) as usize).map(owner).collect()
    }

    /// Lays a site's policy over that of the scenario. What it says that means nothing here is returned, as sentences.
    pub fn set_mounts(&mut self, mounts: &MountSettings) -> Vec<String> {
        let owners = self.owners();
        self.policy.mount = mounts.policy;
        self.policy.most_per_mount = Some(mounts.most_per_mount);
        self.policy.rules = mounts.rules(&owners);
        let users: BTreeSet<&str> = owners.iter().map(|owner| owner.user.as_str()).collect();
        let activities = owners.iter().map(|owner| owner.activity.as_str());
        let activities: BTreeSet<&str> = activities.collect();
        let unknown = [
            ("user", &mounts.shares, users),
            ("activity", &mounts.activity_shares, activities),
        ];
        let mut without_effect = Vec::new();
        for (what, shares, known) in unknown {
            let missing = shares.keys().filter(|name| !known.contains(name.as_str()));
            without_effect.extend(missing.map(|name| {
                format!("no {what} of the scenario is called \"{name}\": `request.names` names them by number")
            }));
        }
        if mounts.recalls_per_destination.is_some() {
            let said = "requests of a scenario have no destination: `recalls_per_destination` is not simulated";
            without_effect.push(said.to_owned());
        }
        without_effect
    }
}
