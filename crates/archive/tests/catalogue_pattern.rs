//! What searches for paths mean.

use proptest::prelude::*;
use tapewise_archive::catalogue::Pattern;

/// What a glob means, said as plainly as it can be, without sets.
fn plain_glob(glob: &[u8], path: &[u8]) -> bool {
    match (glob, path) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => (0..=path.len()).any(|taken| plain_glob(rest, &path[taken..])),
        ([b'?', rest @ ..], [_, path @ ..]) => plain_glob(rest, path),
        ([one, rest @ ..], [byte, path @ ..]) => one == byte && plain_glob(rest, path),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_glob_means_what_it_plainly_says(glob in "[ab*?]{0,8}", path in "[ab]{0,10}") {
        let pattern = Pattern::Glob(glob.clone().into_bytes());
        let expected = plain_glob(glob.as_bytes(), path.as_bytes());
        prop_assert_eq!(pattern.matches(path.as_bytes()), expected);
        prop_assert!(!expected || path.as_bytes().starts_with(pattern.literal_prefix()));
        let literal = std::str::from_utf8(pattern.literal()).expect("letters");
        prop_assert!(!expected || path.contains(literal));
    }

    #[test]
    fn what_matches_has_all_runs_of_letters_of_the_glob(
        glob in "[ab*?!\\[\\]-]{0,9}", path in "[ab!\\[\\]-]{0,10}",
    ) {
        let pattern = Pattern::Glob(glob.clone().into_bytes());
        let has = |run: &[u8]| path.contains(std::str::from_utf8(run).expect("letters"));
        let has_all = pattern.literals().into_iter().all(has);
        prop_assert!(!pattern.matches(path.as_bytes()) || has_all);
    }
}

#[test]
fn the_longest_run_of_letters_may_stand_behind_a_set() {
    for (glob, literal) in [
        ("*[0-9]803398*", "803398"),
        ("a[b]cd[", "cd["),
        ("*[!]x]*y", "y"),
        ("[ab", "[ab"),
    ] {
        let pattern = Pattern::Glob(glob.as_bytes().to_vec());
        assert_eq!(pattern.literal(), literal.as_bytes(), "{glob}");
    }
}

#[test]
fn sets_of_globs_are_those_of_shells() {
    for (glob, path, expected) in [
        ("r[0-9]x", "r5x", true),
        ("r[0-9]x", "rax", false),
        ("r[!0-9]", "ra", true),
        ("[]a]", "]", true),
        ("[a", "[a", true),
        ("[", "[", true),
        ("*[b-c]*", "xx/yyc", true),
    ] {
        let pattern = Pattern::Glob(glob.as_bytes().to_vec());
        assert_eq!(pattern.matches(path.as_bytes()), expected, "{glob} {path}");
    }
}
