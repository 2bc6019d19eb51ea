//! What a path in a request means in the archive.
//!
//! Clients write paths from a root (`/d/file`), double slashes and dots as they come, and some leave the escapes of
//! a URL in them. The archive's own paths have no root. What a client wrote is echoed as it is; only the search
//! uses what it means.

use percent_encoding::percent_decode;

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
