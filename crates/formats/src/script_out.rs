//! Writes a POSIX shell script that copies files in order.
//!
//! The script is safe for any file name: every name is quoted, none is ever parsed. It stops at the first error and
//! never overwrites: a file that is there already stops it, or is passed over with a message if the script is run with
//! `--continue`. A file appears under its name only when it is whole: it is copied to `.tapewise-part-PID` in the same
//! directory first. No file of the list has a name like that, and scripts that run at the same time have other numbers.

use std::io::{self, Write};

use crate::number::excerpt_bytes;

/// What the script copies from where to where.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScriptOptions {
    /// The directory the names are below, for example the mount point of the tape.
    pub source: Vec<u8>,
    /// The directory they are copied into; it is made when it is not there.
    pub destination: Vec<u8>,
    /// Lines for the head of the script, for example which plan it is.
    pub comments: Vec<String>,
}

/// Why a script could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The output could not be written.
    #[error("cannot write: {0}")]
    Io(#[from] io::Error),
    /// A name that would leave the destination, or is none.
    #[error("name {number} (\"{name}\"): {why}")]
    BadName {
        /// Its place in the list, from 1.
        number: u64,
        /// The name, shortened.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A directory that is none.
    #[error(
        "the {which} directory is empty or holds a zero byte; give a path (. is the current directory)"
    )]
    BadDirectory {
        /// `source` or `destination`.
        which: &'static str,
    },
}

const HEAD: &str = r#"set -eu
LC_ALL=C
export LC_ALL

# With --continue, files that are there already are passed over: to take up a copy that was stopped.
case "$#${1-}" in
0) existing=stop ;;
1--continue) existing=pass ;;
*)
    printf 'usage: sh %s [--continue]\n' "$0" >&2
    exit 2
    ;;
esac

part=
trap '[ -z "$part" ] || rm -f -- "$part"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# copy SOURCE DESTINATION DIRECTORY-OF-DESTINATION
copy() {
    if [ -e "$2" ] || [ -L "$2" ]; then
        if [ "$existing" = pass ]; then
            printf 'already there, passed over: %s\n' "$2" >&2
            return 0
        fi
        printf 'already there, not overwritten, stopped: %s\n' "$2" >&2
        printf 'sh %s --continue copies what is missing\n' "$0" >&2
        exit 1
    fi
    mkdir -p -- "$3"
    part=$3/PART-$$
    cp -pP -- "$1" "$part"
    mv -- "$part" "$2"
    part=
}

"#;

/// Writes the script; names are paths below the source directory, in the order to copy.
///
/// # Errors
/// At the first name that is empty, absolute, holds a zero byte or a `..` component, or when writing fails.
pub fn write_script<N: AsRef<[u8]>>(
    out: &mut impl Write,
    names: impl IntoIterator<Item = N>,
    options: &ScriptOptions,
) -> Result<(), ScriptError> {
    check_options(options)?;
    out.write_all(b"#!/bin/sh\n")?;
    for comment in &options.comments {
        // A comment must stay one line, or its second line would run.
        let line: String = comment.chars().filter(|c| !c.is_control()).collect();
        writeln!(out, "# {line}")?;
    }
    let names: Vec<N> = names.into_iter().collect();
    out.write_all(HEAD.replace("PART", &part_name(&names)).as_bytes())?;
    for (at, name) in names.iter().enumerate() {
        let name = name.as_ref();
        check_name(name, at as u64 + 1)?;
        let destination = join(&options.destination, name);
        let slash = destination.iter().rposition(|&b| b == b'/');
        out.write_all(b"copy ")?;
        write_quoted(out, &join(&options.source, name))?;
        out.write_all(b" ")?;
        write_quoted(out, &destination)?;
        out.write_all(b" ")?;
        // `join` puts a slash between, so there always is one, and it is not the first byte unless that is the root.
        write_quoted(out, &destination[..slash.unwrap_or(0).max(1)])?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// How the name begins that a file has while it is copied: no file or directory of the list is called so.
pub(crate) fn part_name<N: AsRef<[u8]>>(names: &[N]) -> String {
    let mut part = ".tapewise-part".to_owned();
    // Some file systems ignore case. What contains the name may also end in what Windows drops.
    let has = |name: &N, part: &str| {
        let mut windows = name.as_ref().windows(part.len());
        windows.any(|window| window.eq_ignore_ascii_case(part.as_bytes()))
    };
    while names.iter().any(|name| has(name, &part)) {
        part.push('-');
    }
    part
}

pub(crate) fn check_options(options: &ScriptOptions) -> Result<(), ScriptError> {
    for (which, directory) in [
        ("source", &options.source),
        ("destination", &options.destination),
    ] {
        if directory.is_empty() || directory.contains(&0) {
            return Err(ScriptError::BadDirectory { which });
        }
    }
    Ok(())
}

pub(crate) fn check_name(name: &[u8], number: u64) -> Result<(), ScriptError> {
    let why = if name.is_empty() {
        "it is empty"
    } else if name.contains(&0) {
        "it holds a zero byte"
    } else if name.starts_with(b"/") {
        "it is absolute; names are below the source directory"
    } else if name.split(|&b| b == b'/').any(|part| part == b"..") {
        "it holds a .. component and would leave the destination"
    } else if name.ends_with(b"/") {
        "it is a directory"
    } else {
        return Ok(());
    };
    Err(bad_name(name, number, why))
}

pub(crate) fn bad_name(name: &[u8], number: u64, why: &'static str) -> ScriptError {
    ScriptError::BadName {
        number,
        name: excerpt_bytes(name),
        why,
    }
}

fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let separator: &[u8] = if directory.ends_with(b"/") { b"" } else { b"/" };
    [directory, separator, name].concat()
}

/// Writes bytes in single quotes; a single quote ends the quotes, stands escaped, and opens them again.
pub fn write_quoted(out: &mut impl Write, text: &[u8]) -> io::Result<()> {
    out.write_all(b"'")?;
    for piece in text.split_inclusive(|&b| b == b'\'') {
        match piece.strip_suffix(b"'") {
            Some(before) => {
                out.write_all(before)?;
                out.write_all(br"'\''")?;
            }
            None => out.write_all(piece)?,
        }
    }
    out.write_all(b"'")
}
