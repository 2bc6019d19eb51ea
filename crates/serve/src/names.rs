//! What a path in a request means in the archive.
//!
//! Clients write paths from a root (`/d/file`), double slashes and dots as they come, and some leave the escapes of
//! a URL in them. The archive's own paths have no root. What a client wrote is echoed as it is; only the search
//! uses what it means.

use percent_encoding::percent_decode;

/// Below this address are files whatever their names.
const FILES: &str = "/files";

/// The first parts of the service's own addresses. A file or directory of such a name is below `/files` only.
const OWN: [&str; 15] = [
    ".well-known",
    "api",
    "cartridge",
    "failed",
    "favicon.ico",
    "files",
    "health",
    "live.js",
    "login",
    "metrics",
    "openapi.json",
    "plan",
    "request",
    "style.css",
    "tape",
];

/// What an address is in the archive, with a slash in front and escaped as it came; none for those of the service.
pub fn in_archive(address: &str) -> Option<&str> {
    match address.strip_prefix(FILES) {
        Some("") => return Some("/"),
        Some(path) if path.starts_with('/') => return Some(path),
        _ => {}
    }
    let first = address.trim_start_matches('/').split('/').next()?;
    (!OWN.contains(&first)).then_some(address)
}

/// Longest path that is looked up, in bytes: no Linux system opens a longer one.
const LONGEST: usize = 4096;

/// The paths in the archive that a client's path may mean, the likeliest first: as it is written, then without the
/// escapes of a URL.
///
/// # Errors
/// Words for the client.
pub fn meanings(spelling: impl AsRef<[u8]>) -> Result<Vec<Vec<u8>>, String> {
    let spelling = spelling.as_ref();
    let plain = inner(spelling)?;
    let decoded: Vec<u8> = percent_decode(spelling).collect();
    let decoded = if decoded == spelling {
        None
    } else {
        inner(&decoded).ok()
    };
    let other = decoded.filter(|other| *other != plain);
    Ok(std::iter::once(plain).chain(other).collect())
}

/// A path without its root, empty parts and dots.
fn inner(path: &[u8]) -> Result<Vec<u8>, String> {
    if path.len() > LONGEST {
        return Err(format!("the path is longer than {LONGEST} bytes"));
    }
    if path.contains(&0) {
        return Err("the path holds a zero byte".to_owned());
    }
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split(|&byte| byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop().ok_or("the path climbs out with \"..\"")?;
            }
            part => parts.push(part),
        }
    }
    if parts.is_empty() {
        return Err("the path names no file".to_owned());
    }
    Ok(parts.join(&b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(spelling: &str) -> String {
        let meanings = meanings(spelling).expect(spelling);
        String::from_utf8(meanings[0].clone()).expect("text")
    }

    #[test]
    fn an_address_is_the_services_own_or_a_file_and_below_files_always_a_file() {
        for (address, path) in [
            ("/d/1", Some("/d/1")),
            ("/files/d/1", Some("/d/1")),
            ("/files/plan/1", Some("/plan/1")),
            ("/files/files/1", Some("/files/1")),
            ("/plans/1", Some("/plans/1")),
            ("/filesystem", Some("/filesystem")),
            ("/", Some("/")),
            ("/files", Some("/")),
            ("/plan", None),
            ("//plan/1", None),
            ("/tape/v2/stage", None),
        ] {
            assert_eq!(in_archive(address), path, "{address}");
        }
    }

    #[test]
    fn slashes_and_dots_mean_nothing_and_nobody_climbs_out() {
        for same in ["/d/a", "d/a", "//d//a", "/d/./a", "/d/x/../a", "/d/a/"] {
            assert_eq!(first(same), "d/a", "{same}");
        }
        for wrong in ["", "/", "/..", "/d/../../etc/passwd", "a\0b"] {
            meanings(wrong).expect_err(wrong);
        }
        meanings("x".repeat(LONGEST + 1)).expect_err("too long");
    }

    #[test]
    fn escapes_are_taken_as_written_first_and_decoded_second() {
        let both = meanings("/d/a%20b").expect("a path");
        assert_eq!(both, [b"d/a%20b".to_vec(), b"d/a b".to_vec()]);
        let no_text = meanings("/d/caf%e9").expect("a path");
        assert_eq!(no_text[1], b"d/caf\xe9");
        let climbs = meanings("/d/%2e%2e/%2e%2e/x").expect("a path");
        assert_eq!(climbs.len(), 1, "decoded it climbs out");
    }
}
