//! The profiles that come with tapewise: a new one is one file and one line here.

use super::{Profile, ProfileError};

/// Name and text of every profile in `profiles/`.
pub const BUILTIN: &[(&str, &str)] = &[
    ("dlt4000", include_str!("../../../../profiles/dlt4000.toml")),
    ("lto8", include_str!("../../../../profiles/lto8.toml")),
];

/// The names of the profiles that come with tapewise, in order of listing.
pub fn names() -> impl Iterator<Item = &'static str> {
    BUILTIN.iter().map(|(name, _)| *name)
}

/// The profile of that name, if it is one that comes with tapewise.
pub fn find(name: &str) -> Result<Profile, ProfileError> {
    let (_, text) = BUILTIN
        .iter()
        .find(|(known, _)| *known == name)
        .ok_or_else(|| ProfileError::NoSuchProfile {
            name: name.to_owned(),
            known: names().collect::<Vec<_>>().join(", "),
        })?;
    Profile::from_toml(&format!("profiles/{name}.toml"), text)
}
