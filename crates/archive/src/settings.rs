//! What `archive.toml` says of an archive: its drives, how full its cache gets, how its volumes are written.

use crate::catalogue::{Pattern, PostgresUrl};
use crate::mover::{Precompress, Settings, Tier};
use crate::placement::GroupBy;
use crate::volume::is_block_length;
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use tapewise_model::Profile;
use tapewise_sim::mounts::{MountSettings, PolicyError};

/// The settings of an archive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchiveSettings {
    /// The drives' devices, named as for every verb.
    pub drives: Vec<String>,
    /// The robots' devices.
    #[serde(default)]
    pub changers: Vec<String>,
    /// The drives' profile.
    pub profile: String,
    /// The database that holds the catalogue, `postgresql://user@host/database`; absent: the file `catalogue.db`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catalogue: Option<String>,
    /// On how many volumes a file lies unless it is stored otherwise.
    pub copies: u32,
    /// The cache never holds more, in bytes.
    pub cache_high_bytes: u64,
    /// When it would, files go until it holds no more than this.
    pub cache_low_bytes: u64,
    /// Bytes of a block of a new volume: a multiple of 512 from 8 KiB on.
    pub block_bytes: u32,
    /// Bytes after which a segment is closed with a filemark.
    pub segment_bytes: u64,
    /// Files longer than this are written in parts, which may lie on several volumes.
    pub part_bytes: u64,
    /// Bytes after which a volume takes no more; absent: only its end ends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume_bytes: Option<u64>,
    /// Which files that wait for tape are put together onto a volume; absent: none, they are written as they came.
    #[serde(default, skip_serializing_if = "is_none")]
    pub group_by: GroupBy,
    /// Volumes that are filled side by side, so that files that come later join their group's; absent: 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub open_volumes: u32,
    /// zstd level, 1 to 19, at which files are compressed before they are written; absent: not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zstd_level: Option<i32>,
    /// Seconds that recalls gather before the first of them is served; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_window_s: Option<u64>,
    /// Which volume is read next; absent: what `policy_file` says, or the usual.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub mounts: MountSettings,
    /// The file that says it instead, from the archive's directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_file: Option<PathBuf>,
    /// The pools of volumes that files go through as they age; absent: every volume takes every file.
    #[serde(default, rename = "tier", skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<TierSettings>,
}

fn is_none(group_by: &GroupBy) -> bool {
    *group_by == GroupBy::None
}

fn one() -> u32 {
    1
}

fn is_one(count: &u32) -> bool {
    *count == 1
}

fn is_usual(mounts: &MountSettings) -> bool {
    *mounts == MountSettings::default()
}

/// One pool of volumes in `archive.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TierSettings {
    /// What it is called.
    pub name: String,
    /// Labels of its volumes: a pattern with * ? [a-z].
    pub volumes: String,
    /// Days after which files come to it.
    pub after_days: u32,
}

/// No archive can work with a setting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` is {value}: it must be {must}")]
pub struct SettingsError {
    /// The key in `archive.toml`.
    pub key: String,
    /// What it is.
    pub value: String,
    /// What it must be.
    pub must: String,
}

impl From<&TierSettings> for Tier {
    fn from(tier: &TierSettings) -> Tier {
        Tier {
            name: tier.name.clone(),
            volumes: Pattern::Glob(tier.volumes.clone().into_bytes()),
            after_ns: i64::from(tier.after_days).saturating_mul(86_400_000_000_000),
        }
    }
}

/// The zstd levels that can be asked for: higher ones take memory of whoever restores.
pub const ZSTD_LEVELS: RangeInclusive<i32> = 1..=19;

impl ArchiveSettings {
    /// Whether an archive can work with these. The profile is only a name here.
    ///
    /// # Errors
    /// The first key that is wrong.
    pub fn check(&self) -> Result<(), SettingsError> {
        let (high, low) = (self.cache_high_bytes, self.cache_low_bytes);
        let (block, segment) = (u64::from(self.block_bytes), self.segment_bytes);
        if self.drives.is_empty() {
            return wrong("drives", &"empty", "a list of at least one drive");
        }
        for (at, name) in self.drives.iter().enumerate() {
            if let Some(before) = self.drives[..at].iter().position(|other| other == name) {
                let value = format!("a list with {name} as number {} and {}", before + 1, at + 1);
                return wrong("drives", &value, "a list that names each drive once");
            }
        }
        if self
            .catalogue
            .as_ref()
            .is_some_and(|url| !PostgresUrl::is_one(url))
        {
            // Not repeated: it may hold a password.
            let must = "postgresql://user@host/database, or absent";
            return wrong(
                "catalogue",
                &"not the address of a PostgreSQL database",
                must,
            );
        }
        if !(1..=8).contains(&self.copies) {
            return wrong("copies", &self.copies, "from 1 to 8");
        }
        if high == 0 {
            return wrong("cache_high_bytes", &high, "more than 0");
        }
        if low > high {
            let must = format!("at most `cache_high_bytes`, {high}");
            return wrong("cache_low_bytes", &low, &must);
        }
        if !is_block_length(self.block_bytes) {
            let must = "a multiple of 512 from 8192 to 8388608";
            return wrong("block_bytes", &block, must);
        }
        if segment < block {
            return wrong("segment_bytes", &segment, "at least `block_bytes`");
        }
        if self.part_bytes < block {
            return wrong("part_bytes", &self.part_bytes, "at least `block_bytes`");
        }
        if let Some(bytes) = self.volume_bytes.filter(|bytes| *bytes < block) {
            return wrong("volume_bytes", &bytes, "at least `block_bytes`, or absent");
        }
        let grows = self.group_by.stem(b"").is_some();
        if self.open_volumes == 0 || (self.open_volumes > 1 && !grows) {
            let right = "1 or absent, or more if `group_by` is \"directory\" or \"dataset\"";
            return wrong("open_volumes", &self.open_volumes, right);
        }
        if let Some(level) = self.zstd_level.filter(|level| !ZSTD_LEVELS.contains(level)) {
            return wrong("zstd_level", &level, "from 1 to 19, or absent");
        }
        self.check_mounts().and_then(|()| self.check_tiers())
    }

    fn check_mounts(&self) -> Result<(), SettingsError> {
        if self.policy_file.is_some() && !is_usual(&self.mounts) {
            let must = "absent, or `[mounts]` be absent: the file says what that table said";
            return wrong("policy_file", &"there beside `[mounts]`", must);
        }
        match self.mounts.check() {
            Err(PolicyError::Value { key, value, must }) => {
                wrong(&format!("mounts.{key}"), &value, must)
            }
            Err(PolicyError::Text(why)) => wrong("mounts", &why, "a policy"),
            Ok(()) => Ok(()),
        }
    }

    fn check_tiers(&self) -> Result<(), SettingsError> {
        for (number, tier) in self.tiers.iter().enumerate() {
            let before = &self.tiers[..number];
            if tier.volumes.is_empty() {
                return wrong("tier.volumes", &"empty", "a pattern of labels, as A*L8");
            }
            if before.iter().any(|other| other.name == tier.name) {
                return wrong("tier.name", &tier.name, "another one for every tier");
            }
            let last = before.last();
            if let Some(last) = last.filter(|last| last.after_days >= tier.after_days) {
                let must = format!("more than the {} of tier {}", last.after_days, last.name);
                return wrong("tier.after_days", &tier.after_days, &must);
            }
        }
        Ok(())
    }

    /// How volumes are written by drives of this profile, on cartridges where a byte stands for so many.
    pub fn of_mover(&self, profile: Profile, byte_scale: u64) -> Settings {
        Settings {
            block_bytes: self.block_bytes,
            segment_bytes: self.segment_bytes,
            part_bytes: self.part_bytes,
            volume_bytes: self.volume_bytes,
            group_by: self.group_by,
            open_volumes: self.open_volumes,
            byte_scale,
            tiers: self.tiers.iter().map(Tier::from).collect(),
            mounts: self.mounts.clone(),
            precompress: self.zstd_level.map(|level| Precompress {
                level,
                threads: std::thread::available_parallelism().map_or(1, usize::from),
            }),
            ..Settings::of(profile)
        }
    }
}

fn wrong(key: &str, value: &dyn Display, must: &str) -> Result<(), SettingsError> {
    Err(SettingsError {
        key: key.to_owned(),
        value: value.to_string(),
        must: must.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tapewise_sim::mounts::MountPolicy;

    fn usual() -> ArchiveSettings {
        ArchiveSettings {
            drives: vec!["emulated:lto8".to_owned()],
            changers: Vec::new(),
            profile: "lto8".to_owned(),
            catalogue: None,
            copies: 1,
            cache_high_bytes: 1_000_000,
            cache_low_bytes: 800_000,
            block_bytes: 262_144,
            segment_bytes: 1 << 30,
            part_bytes: 1 << 40,
            volume_bytes: None,
            group_by: GroupBy::None,
            open_volumes: 1,
            zstd_level: None,
            batch_window_s: None,
            mounts: MountSettings::default(),
            policy_file: None,
            tiers: vec![tier("fast", 0), tier("deep", 90)],
        }
    }

    fn tier(name: &str, after_days: u32) -> TierSettings {
        TierSettings {
            name: name.to_owned(),
            volumes: "A*".to_owned(),
            after_days,
        }
    }

    #[test]
    fn settings_that_no_archive_can_work_with_are_refused_and_the_key_is_named() {
        assert_eq!(usual().check(), Ok(()));
        type Spoil = fn(&mut ArchiveSettings);
        let cases: [(&str, Spoil); 22] = [
            ("catalogue", |settings| {
                settings.catalogue = Some("mysql://host/films".to_owned())
            }),
            ("drives", |settings| settings.drives.clear()),
            ("drives", |settings| {
                settings.drives.push("emulated:lto8".to_owned())
            }),
            ("copies", |settings| settings.copies = 0),
            ("cache_high_bytes", |settings| settings.cache_high_bytes = 0),
            ("cache_low_bytes", |settings| {
                settings.cache_low_bytes = 1_000_001
            }),
            ("block_bytes", |settings| settings.block_bytes = 8_000),
            ("segment_bytes", |settings| settings.segment_bytes = 0),
            ("part_bytes", |settings| settings.part_bytes = 0),
            ("volume_bytes", |settings| settings.volume_bytes = Some(0)),
            ("open_volumes", |settings| settings.open_volumes = 0),
            ("open_volumes", |settings| {
                (settings.open_volumes, settings.group_by) = (2, GroupBy::Time)
            }),
            ("zstd_level", |settings| settings.zstd_level = Some(20)),
            ("mounts.policy", |settings| {
                settings.mounts.policy = MountPolicy::Cta
            }),
            ("mounts.overdue_s", |settings| {
                settings.mounts.overdue_s = -1.0
            }),
            ("mounts.age", |settings| settings.mounts.age = f64::NAN),
            ("mounts.most_per_mount", |settings| {
                settings.mounts.most_per_mount = 0
            }),
            ("mounts.shares", |settings| {
                settings.mounts.shares = [("ann".to_owned(), 0.0)].into()
            }),
            ("policy_file", |settings| {
                settings.policy_file = Some("policy.toml".into());
                settings.mounts.age = 2.0;
            }),
            ("tier.volumes", |settings| settings.tiers[1].volumes.clear()),
            ("tier.name", |settings| {
                settings.tiers[1].name = "fast".to_owned()
            }),
            ("tier.after_days", |settings| {
                settings.tiers[1].after_days = 0
            }),
        ];
        for (key, spoil) in cases {
            let mut settings = usual();
            spoil(&mut settings);
            let said = settings.check().expect_err(key).to_string();
            assert!(said.contains(&format!("`{key}`")), "{key}: {said}");
        }
    }
}
