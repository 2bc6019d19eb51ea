//! Lists of names on the command line: where they come from, and how they are understood.

use crate::error::CliError;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal};
use std::path::Path;
use tapewise_formats::list::{Name, Separator, read_list};
use tapewise_formats::name_match::{MatchBy, Matching};

/// How the names of a list are understood.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct MatchArgs {
    /// How names are compared with paths: path (the whole path, byte for byte), name (the last part
    /// only), glob (patterns with * ? [a-z] and **), or auto: the path, then without a mount point in
    /// front, with other accents or case, the last part only, a pattern. tapewise prints what it
    /// guessed.
    #[arg(long = "match", value_name = "HOW", default_value = "auto", value_parser = match_by)]
    by: MatchBy,
    /// Take this off names that begin with it, such as a mount point [default: guessed from the names].
    #[arg(long, value_name = "PREFIX")]
    strip_prefix: Option<String>,
}

fn match_by(text: &str) -> Result<MatchBy, String> {
    let found = MatchBy::ALL.into_iter().find(|by| by.name() == text);
    found.ok_or_else(|| {
        let names = MatchBy::ALL.map(MatchBy::name);
        format!("give one of {}", names.join(", "))
    })
}

impl MatchArgs {
    /// The same as the library takes it.
    pub fn matching(&self) -> Matching {
        Matching {
            by: self.by,
            strip_prefix: self.strip_prefix.clone(),
        }
    }
}

/// A path as text, bytes that are none as `\xe9`. A path that has these four letters looks the same.
pub fn as_text(path: &[u8]) -> String {
    let mut text = String::new();
    for chunk in path.utf8_chunks() {
        text += chunk.valid();
        text += &chunk.invalid().escape_ascii().to_string();
    }
    text
}

/// Names that stand on the command line, and what messages call them.
pub fn given_names(names: &[OsString]) -> (String, Vec<Name>) {
    let name = |(line, name): (u64, &OsString)| Name {
        bytes: name.as_encoded_bytes().to_vec(),
        line,
    };
    let names = (1..).zip(names).map(name).collect();
    ("the command line".to_owned(), names)
}

/// Reads a list of names from a file, or from standard input; what messages call it, and the names. `hint` is what to
/// do if nothing is there to be read.
pub fn read_names(
    path: Option<&Path>,
    null: bool,
    hint: &str,
) -> Result<(String, Vec<Name>), CliError> {
    let separator = if null {
        Separator::Nul
    } else {
        Separator::Newline
    };
    let (name, input): (String, Box<dyn BufRead>) = match path {
        Some(path) if path != Path::new("-") => {
            let name = path.display().to_string();
            let file = File::open(path).map_err(|error| CliError::input(error).of(&name))?;
            if path.is_dir() {
                return Err(CliError::input("is a directory").of(&name));
            }
            (name, Box::new(BufReader::with_capacity(1 << 20, file)))
        }
        _ => {
            let stdin = std::io::stdin();
            if stdin.is_terminal() {
                let what = "no names are given: give them as arguments, with --files-from, or on standard input";
                return Err(CliError::input(what).hint(hint));
            }
            let input = BufReader::with_capacity(1 << 20, stdin);
            ("standard input".to_owned(), Box::new(input))
        }
    };
    let list = read_list(input, separator).map_err(|error| CliError::input(error).of(&name))?;
    Ok((name, list.names))
}
