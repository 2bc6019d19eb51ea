//! The profiles that come with tapewise: a new one is one file and one line here, among the others; among the emulated
//! drives if the emulator has a file of mechanics of that name.

use super::{Profile, ProfileError};

macro_rules! profiles {
    ($($name:literal,)*) => {
        &[$(($name, include_str!(concat!("../../profiles/", $name, ".toml")))),*]
    };
}

/// Hands the names of drives that have a profile here and a file of mechanics in the emulator to a macro, with more
/// names behind them.
#[doc(hidden)]
#[macro_export]
macro_rules! emulated_drives {
    ($with:ident $(, $more:literal)* $(,)?) => {
        $with![
            "lto1",
            "lto2",
            "lto3",
            "lto4",
            "lto5",
            "lto5-hh",
            "lto6",
            "lto6-hh",
            "lto7",
            "lto7-hh",
            "lto7-m8",
            "lto8",
            "lto8-hh",
            "lto9",
            "lto9-hh",
            "lto10",
            "lto10p",
            "ibm3580",
            "ts1140",
            "ts1150",
            "ts1155",
            "ts1160",
            "ts1170",
            "t10000c",
            "t10000d",
            "dat-4mm",
            "ampex-dst310",
            "sony-dtf",
            "dlt4000",
            "dlt4000-jm98",
            "dlt7000",
            "ibm3590",
            "ibm3570c",
            $($more,)*
        ]
    };
}

/// Name and text of every profile in `profiles/`, in order of listing: the drives that the emulator knows, then
/// libraries, and drives that nobody emulates.
pub const BUILTIN: &[(&str, &str)] = emulated_drives!(
    profiles,
    "grau-abba2",
    "stk-9710",
    "ampex-810",
    "sony-dms-b9",
    "ibm3575-l18",
    "ibm3584",
);

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
