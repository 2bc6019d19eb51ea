//! Writes a PowerShell script that copies files in order: what [`script_out`](crate::script_out) is for POSIX shells,
//! for Windows.
//!
//! Like that one it is safe for any file name, stops at the first error and never overwrites, passes over what is there
//! with `-Continue`, and a file appears under its name only when it is whole. It is written for Windows PowerShell 5.1
//! and PowerShell 7, and asks .NET to copy, because `Copy-Item` takes brackets in a name for a pattern.

use crate::script_out::{
    ScriptError, ScriptOptions, bad_name, check_name, check_options, part_name,
};
use std::io::Write;

/// Windows PowerShell takes a script without this mark for one in the machine's own code page.
const BYTE_ORDER_MARK: &str = "\u{feff}";

const HEAD: &str = r#"# With -Continue, files that are there already are passed over: to take up a copy that was stopped.
[CmdletBinding()]
param([switch] $Continue)
$ErrorActionPreference = 'Stop'
# .NET has a current directory of its own.
[System.IO.Directory]::SetCurrentDirectory((Get-Location -PSProvider FileSystem).ProviderPath)

function Copy-InOrder([string] $From, [string] $To) {
    if ([System.IO.File]::Exists($To) -or [System.IO.Directory]::Exists($To)) {
        if ($Continue) {
            Write-Warning "already there, passed over: $To"
            return
        }
        throw "already there, not overwritten, stopped: $To (-Continue copies what is missing)"
    }
    $folder = [System.IO.Path]::GetDirectoryName([System.IO.Path]::GetFullPath($To))
    [void] [System.IO.Directory]::CreateDirectory($folder)
    $part = [System.IO.Path]::Combine($folder, "PART-$PID")
    try {
        [System.IO.File]::Copy($From, $part, $true)
        [System.IO.File]::Move($part, $To)
    } finally {
        [System.IO.File]::Delete($part)
    }
}

"#;

/// Writes the script; names are paths below the source directory, in the order to copy.
///
/// # Errors
/// As [`write_script`](crate::script_out::write_script). A name that Windows would read otherwise is refused too: one
/// with a colon or a backslash, or one that is not UTF-8.
pub fn write_powershell<N: AsRef<[u8]>>(
    out: &mut impl Write,
    names: impl IntoIterator<Item = N>,
    options: &ScriptOptions,
) -> Result<(), ScriptError> {
    check_options(options)?;
    let [source, destination] = [&options.source, &options.destination]
        .map(|directory| String::from_utf8_lossy(directory).into_owned());
    out.write_all(BYTE_ORDER_MARK.as_bytes())?;
    for comment in &options.comments {
        // A comment must stay one line, or its second line would run.
        let line: String = comment.chars().filter(|c| !c.is_control()).collect();
        writeln!(out, "# {line}")?;
    }
    let names: Vec<N> = names.into_iter().collect();
    out.write_all(HEAD.replace("PART", &part_name(&names)).as_bytes())?;
    for (at, name) in names.iter().enumerate() {
        let (name, number) = (name.as_ref(), at as u64 + 1);
        check_name(name, number)?;
        let Ok(text) = std::str::from_utf8(name) else {
            return Err(bad_name(name, number, "it is not UTF-8"));
        };
        if text.contains([':', '\\']) {
            let why = "it holds a colon or a backslash, which Windows takes for a part of the path";
            return Err(bad_name(name, number, why));
        }
        let [from, to] = [&source, &destination].map(|directory| quoted(&joined(directory, text)));
        writeln!(out, "Copy-InOrder {from} {to}")?;
    }
    Ok(())
}

fn joined(directory: &str, name: &str) -> String {
    if directory.ends_with(['/', '\\']) {
        format!("{directory}{name}")
    } else {
        format!("{directory}/{name}")
    }
}

/// Text in single quotes. PowerShell takes the curly ones for the same, so each of them is doubled.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("'");
    for character in text.chars() {
        if matches!(character, '\'' | '\u{2018}'..='\u{201b}') {
            quoted.push(character);
        }
        quoted.push(character);
    }
    quoted.push('\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(names: &[&str]) -> Result<String, String> {
        let options = ScriptOptions {
            source: b"T:\\".to_vec(),
            destination: b"D:/back".to_vec(),
            comments: vec!["order best/1\nRemove-Item x".to_owned()],
        };
        let mut out = Vec::new();
        let written = write_powershell(&mut out, names, &options);
        written.map_err(|error| error.to_string())?;
        Ok(String::from_utf8(out).expect("UTF-8"))
    }

    #[test]
    fn every_quote_that_powershell_knows_is_doubled() {
        let text =
            script(&["a/it's.mov", "b/\u{2019}; exit; \u{201a}$(x)`n[1]"]).expect("a script");
        let copies: Vec<&str> = text.lines().rev().take(2).collect();
        assert_eq!(
            copies,
            [
                "Copy-InOrder 'T:\\b/\u{2019}\u{2019}; exit; \u{201a}\u{201a}$(x)`n[1]' \
                 'D:/back/b/\u{2019}\u{2019}; exit; \u{201a}\u{201a}$(x)`n[1]'",
                "Copy-InOrder 'T:\\a/it''s.mov' 'D:/back/a/it''s.mov'",
            ]
        );
        assert!(
            text.starts_with("\u{feff}# order best/1Remove-Item x\n# With -Continue, "),
            "{text}"
        );
    }

    #[test]
    fn a_file_is_never_copied_under_the_name_of_another() {
        let text = script(&["a/b", ".TAPEWISE-part"]).expect("a script");
        assert!(text.contains(r#"".tapewise-part--$PID""#), "{text}");
    }

    #[test]
    fn what_windows_reads_otherwise_is_refused() {
        for name in ["a\\..\\b", "C:x", "../a", "/a", "a/", ""] {
            assert!(script(&[name]).is_err(), "{name}");
        }
    }
}
