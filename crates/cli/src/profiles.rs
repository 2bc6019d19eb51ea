//! A profile by its name, or from a file of the user's: what every `--profile` means.

use crate::error::CliError;
use std::fs::File;
use std::io::Read;
use tapewise_model::profile::{BUILTIN, Kind, Profile, near};

/// A profile's TOML text, and what to call it in messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file's path as given, or `profiles/NAME.toml`.
    pub file: String,
    /// The text.
    pub text: String,
}

/// A profile takes a few KB; a hundred times that is a mistake, or a device that never ends.
const MAX_BYTES: u64 = 1 << 20;

/// The profile of that name, or in that file: anything with a `/` or ending in `.toml` is a file.
///
/// # Errors
/// Bad input: no such name (the nearest ones are in the hint), a file that cannot be read, or a
/// text that is not a profile.
pub fn load(name_or_file: &str) -> Result<Profile, CliError> {
    let source = source(name_or_file)?;
    Ok(Profile::from_toml(&source.file, &source.text)?)
}

/// The same where only a drive will do.
///
/// # Errors
/// As [`load`], and for the profile of a library.
pub fn load_drive(name_or_file: &str) -> Result<Profile, CliError> {
    let profile = load(name_or_file)?;
    match profile.kind {
        Kind::Drive => Ok(profile),
        Kind::Library => Err(CliError::input(format!(
            "{name_or_file} is the profile of a library ({}); a drive is needed here",
            profile.title
        ))
        .hint("`tapewise profile list` shows which profiles are drives")),
    }
}

/// The text behind a name or a file, not yet looked into.
///
/// # Errors
/// As [`load`], but for what the text says.
pub fn source(name_or_file: &str) -> Result<Source, CliError> {
    if is_file(name_or_file) {
        return read(name_or_file).map_err(CliError::input);
    }
    let wanted = plain(name_or_file);
    BUILTIN
        .iter()
        .find(|(name, _)| plain(name) == wanted)
        .map(|(name, text)| Source {
            file: format!("profiles/{name}.toml"),
            text: (*text).to_owned(),
        })
        .ok_or_else(|| no_such(name_or_file))
}

/// A name without case and signs: LTO-8, lto8 and LTO8 are one.
fn plain(name: &str) -> String {
    let kept = name.chars().filter(char::is_ascii_alphanumeric);
    kept.map(|letter| letter.to_ascii_lowercase()).collect()
}

/// What to do where no profile was given: the profiles that fit a barcode on the command line, or the usual ones.
pub fn likely() -> String {
    let arguments: Vec<String> = std::env::args_os()
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    let barcode = arguments.iter().find_map(|argument| barcode(argument));
    let drives = match &barcode {
        Some((label, generation)) => {
            let both = [generation.clone(), format!("{generation}-hh")];
            let known = both
                .into_iter()
                .filter(|name| BUILTIN.iter().any(|(known, _)| known == name));
            let known: Vec<String> = known.collect();
            format!(
                "{label} is probably read with --profile {}",
                known.join(" or ")
            )
        }
        None => {
            "give --profile lto6, lto7, lto8 or lto9 (lto8-hh for a half-height drive)".to_owned()
        }
    };
    format!(
        "{drives}; `tapewise profile list` shows all. TAPEWISE_PROFILE or the configuration file sets it for good (`tapewise config show`)"
    )
}

/// A label of an LTO cartridge in a text, such as A00012L6, with the name of the profile of its generation.
fn barcode(text: &str) -> Option<(String, String)> {
    let words = text.split(|sign: char| !sign.is_ascii_alphanumeric());
    words.filter(|word| word.len() == 8).find_map(|word| {
        let (volume, medium) = word.split_at(6);
        let is_label = volume
            .bytes()
            .all(|sign| sign.is_ascii_uppercase() || sign.is_ascii_digit());
        let generation = match medium {
            "M8" => "lto7-m8".to_owned(),
            _ => format!("lto{}", medium.strip_prefix('L')?),
        };
        let is_known = BUILTIN.iter().any(|(name, _)| *name == generation);
        (is_label && is_known).then(|| (word.to_owned(), generation))
    })
}

fn is_file(name: &str) -> bool {
    name.contains(['/', std::path::MAIN_SEPARATOR]) || name.ends_with(".toml")
}

/// The text of a file, whatever it is called.
///
/// # Errors
/// In words, the path in front, when it cannot be read or is no text.
pub fn read(path: &str) -> Result<Source, String> {
    let cannot = |why: &dyn std::fmt::Display| format!("{path}: {why}");
    let file = File::open(path).map_err(|error| cannot(&error))?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| cannot(&error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(cannot(&"longer than 1 MiB, so not a profile"));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        cannot(&format!("not text: byte {at} is not UTF-8"))
    })?;
    Ok(Source {
        file: path.to_owned(),
        text,
    })
}

fn no_such(name: &str) -> CliError {
    let near = near(name);
    let hint = if near.is_empty() {
        String::new()
    } else {
        format!("did you mean {}? ", near.join(", "))
    };
    CliError::input(format!("no profile is called `{name}`")).hint(format!(
        "{hint}`tapewise profile list` shows all {}; a file needs a `/` or the ending .toml",
        BUILTIN.len()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_known_however_it_is_written_and_a_barcode_tells_its_generation() {
        for name in ["LTO-8", "lto8", "LTO8", "Lto 8"] {
            assert_eq!(load_drive(name).unwrap().name, "lto8");
        }
        let label = |text: &str| barcode(text).map(|(label, profile)| format!("{label} {profile}"));
        assert_eq!(
            label("tapes/A00012L6.xml").as_deref(),
            Some("A00012L6 lto6")
        );
        assert_eq!(label("B00001M8").as_deref(), Some("B00001M8 lto7-m8"));
        assert_eq!(label("clips123"), None);
    }

    #[test]
    fn a_name_with_a_slash_or_ending_in_toml_is_a_file() {
        assert!(is_file("./lto8") && is_file("lto8.toml"));
        assert!(!is_file("lto8"));
    }

    #[test]
    fn a_library_is_no_drive() {
        assert!(load("stk-9710").is_ok());
        assert!(load_drive("stk-9710").is_err());
        assert!(load_drive("lto8").is_ok());
        assert!(load("no/such/file.toml").is_err());
    }
}
