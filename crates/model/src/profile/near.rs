//! Names of profiles that are near to what somebody typed.

use super::BUILTIN;

/// Most names that a hint offers.
const MOST_OFFERED: usize = 4;

/// The names nearest to what was typed, nearest first, without those that have little in common.
pub fn near(typed: &str) -> Vec<&'static str> {
    let plain = |name: &str| {
        let kept = name.chars().filter(char::is_ascii_alphanumeric);
        kept.map(|c| c.to_ascii_lowercase()).collect::<Vec<char>>()
    };
    let wanted = plain(typed);
    if wanted.is_empty() || wanted.len() > 40 {
        return Vec::new();
    }
    let mut found: Vec<(usize, &str)> = BUILTIN
        .iter()
        .map(|(name, _)| (distance(&wanted, &plain(name)), *name))
        .filter(|(distance, _)| *distance <= (wanted.len() / 3).max(1))
        .collect();
    // Stable: names as near as each other stay in the order of the list.
    found.sort_by_key(|(distance, _)| *distance);
    found
        .into_iter()
        .map(|(_, name)| name)
        .take(MOST_OFFERED)
        .collect()
}

/// Letters to insert, delete or replace to turn one word into the other (Levenshtein).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != other);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_of_kitten_and_sitting_is_three() {
        let letters = |word: &str| word.chars().collect::<Vec<char>>();
        assert_eq!(distance(&letters("kitten"), &letters("sitting")), 3);
        assert_eq!(distance(&letters(""), &letters("abc")), 3);
    }

    #[test]
    fn a_misspelt_name_finds_what_was_meant() {
        assert_eq!(near("LTO-8")[0], "lto8");
        assert_eq!(near("dlt400")[0], "dlt4000");
        assert_eq!(near("ibm-3590")[0], "ibm3590");
        assert!(near("tape").is_empty());
        assert!(near("").is_empty());
    }
}
