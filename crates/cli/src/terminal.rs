//! Words on standard error: nothing in them misleads a terminal, and no password is among them.

use std::borrow::Cow;
use std::io::Write;
use tapewise_formats::misleading::misleads;

/// Writes on standard error as it is, except passwords; that nobody listens is no error.
pub fn write_error(text: &str) {
    let _ = write!(std::io::stderr(), "{}", without_secrets(text));
}

/// A text as a terminal may be shown it: what would mislead it is escaped, and passwords are left out.
pub fn for_terminal(text: &str) -> String {
    harmless(&without_secrets(text)).into_owned()
}

/// A text with what misleads a terminal in escapes; lines and tabs stay.
pub fn harmless(text: &str) -> Cow<'_, str> {
    let is_bad = |character| misleads(character) && !matches!(character, '\n' | '\t');
    if !text.contains(is_bad) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if is_bad(character) {
            safe.extend(character.escape_default())
        } else {
            safe.push(character)
        }
    }
    Cow::Owned(safe)
}

/// A text without the passwords in addresses of iSCSI devices, `iscsi://USER%PASSWORD@HOST/...`.
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    const SCHEME: &str = "iscsi://";
    if !text.contains(SCHEME) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    let mut left = text;
    while let Some(at) = left.find(SCHEME) {
        let (before, address) = left.split_at(at + SCHEME.len());
        safe.push_str(before);
        let end = address.find(|end: char| end == '/' || end.is_whitespace());
        let (host, rest) = address.split_at(end.unwrap_or(address.len()));
        let secret = host
            .rsplit_once('@')
            .and_then(|(user, host)| Some((user.split_once('%')?.0, host)));
        match secret {
            Some((user, host)) => safe.extend([user, "%***@", host]),
            None => safe.push_str(host),
        }
        left = rest;
    }
    safe.push_str(left);
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_an_address_is_not_said() {
        for (text, safe) in [
            (
                "iscsi://me%secret@host:3260/iqn.a:b/1: no",
                "iscsi://me%***@host:3260/iqn.a:b/1: no",
            ),
            (
                "\"iscsi://me%se@cret@h/t/0\", iscsi://you%x@h/t/1",
                "\"iscsi://me%***@h/t/0\", iscsi://you%***@h/t/1",
            ),
            ("iscsi://me@host/t/0 100%@x", "iscsi://me@host/t/0 100%@x"),
            ("iscsi://host/t/0", "iscsi://host/t/0"),
            ("iscsi://me%secret@host", "iscsi://me%***@host"),
        ] {
            assert_eq!(without_secrets(text), safe);
        }
    }

    #[test]
    fn what_would_mislead_a_terminal_is_escaped() {
        let name = "a\u{1b}[2Jb\u{202e}gpj.exe\u{7f}\u{9b}\tc\n";
        assert_eq!(
            harmless(name),
            "a\\u{1b}[2Jb\\u{202e}gpj.exe\\u{7f}\\u{9b}\tc\n"
        );
        assert_eq!(harmless("Zürich 東京\n"), "Zürich 東京\n");
    }
}
