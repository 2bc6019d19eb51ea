//! The label that a library has for the cartridge of an LTFS index.
//!
//! LTFS calls a volume by the six characters of its barcode, and so are indexes named; a library reports
//! eight, with the kind of cartridge behind: A00012 and A00012L6 are one cartridge.

use crate::output::say;

/// Characters of a volume's name, and of the kind of cartridge behind it.
const NAME: usize = 6;
const KIND: usize = 2;

/// Whether two labels are of one cartridge.
pub fn is_same(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() {
        (one, other)
    } else {
        (other, one)
    };
    one == other || short.len() == NAME && long.len() == NAME + KIND && long.starts_with(short)
}

/// The label that the library has for the cartridge that a file calls `given`; where it has none, or more
/// than one, what the file says.
pub fn in_library(given: &str, library: &[String]) -> String {
    if library.iter().any(|label| label == given) {
        return given.to_owned();
    }
    let mut found = library.iter().filter(|label| is_same(label, given));
    match (found.next(), found.next()) {
        (Some(label), None) => {
            say(format_args!(
                "tapewise: {given} is {label} in the library: the archive knows it by that label\n"
            ));
            label.clone()
        }
        (Some(one), Some(other)) => {
            say(format_args!(
                "tapewise: {given} may be {one} or {other} in the library: rename the file like the right one\n"
            ));
            given.to_owned()
        }
        _ if library.is_empty() => given.to_owned(),
        _ => {
            say(format_args!(
                "tapewise: {given} is not in the library now: `recall` asks for a cartridge of that label\n"
            ));
            given.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_characters_and_eight_are_one_cartridge() {
        assert!(is_same("A00012", "A00012L6"));
        assert!(is_same("A00012L6", "A00012"));
        assert!(is_same("A00012L6", "A00012L6"));
        assert!(!is_same("A00012L6", "A00012L7"));
        assert!(!is_same("A0001", "A0001L6"));
        assert!(!is_same("A00012", "A00012L66"));
    }

    #[test]
    fn the_library_s_label_counts_where_there_is_one() {
        let library = ["A00012L6", "A00013L6", "A00013L7"].map(str::to_owned);
        assert_eq!(in_library("A00012", &library), "A00012L6");
        assert_eq!(in_library("A00012L6", &library), "A00012L6");
        assert_eq!(in_library("A00013", &library), "A00013");
        assert_eq!(in_library("A00014", &library), "A00014");
    }
}
