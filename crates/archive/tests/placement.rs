//! Placement: every file once, groups whole where they fit, cartridges not overfilled; and the rule that recalls teach.

use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use tapewise_archive::placement::{
    Asked, Begun, Coming, GroupBy, Item, Supply, assign, groups, learn, place, place_beside,
};

const DAY_NS: i64 = 86_400_000_000_000;

/// Files of a few directories and days, not longer than a cartridge.
fn files() -> impl Strategy<Value = Vec<(String, u64, i64)>> {
    let file = (0..3, 0..3, 0..200, 0..60u64, -3..3i64);
    let file = file.prop_map(|(run, part, number, bytes, day)| {
        (
            format!("mc/r{run}/p{part}/{number}"),
            bytes,
            day * DAY_NS + i64::from(number),
        )
    });
    proptest::collection::vec(file, 0..80)
}

fn items(files: &[(String, u64, i64)]) -> Vec<Item<'_>> {
    files
        .iter()
        .map(|(path, bytes, modified_ns)| Item {
            path: path.as_bytes(),
            bytes: *bytes,
            modified_ns: *modified_ns,
        })
        .collect()
}

fn rule() -> impl Strategy<Value = GroupBy> {
    proptest::sample::select(GroupBy::ALL.to_vec())
}

proptest! {
    #[test]
    fn each_file_lies_once_groups_that_fit_are_whole_and_no_cartridge_is_overfilled(
        files in files(), by in rule(), begun in proptest::collection::vec(0..100u64, 0..4), cartridge in 60..300u64,
    ) {
        let items = items(&files);
        let mut rooms = begun.clone();
        let placed = place(&items, by, &mut rooms, cartridge);
        prop_assert_eq!(&placed, &place(&items, by, &mut begun.clone(), cartridge));
        let mut numbers: Vec<usize> = placed.iter().map(|(_, item)| *item).collect();
        numbers.sort_unstable();
        prop_assert_eq!(numbers, (0..items.len()).collect::<Vec<_>>());
        let mut used: BTreeMap<usize, u64> = BTreeMap::new();
        for &(at, item) in &placed {
            *used.entry(at).or_default() += items[item].bytes;
        }
        for (at, room) in rooms.iter().enumerate() {
            let had = begun.get(at).copied().unwrap_or(cartridge);
            prop_assert_eq!(used.get(&at).copied().unwrap_or(0) + room, had);
        }
        for group in groups(&items, by).iter().filter(|group| group.bytes <= cartridge) {
            let places: Vec<usize> = group.items.iter().map(|item| {
                placed.iter().position(|(_, one)| one == item).expect("placed")
            }).collect();
            prop_assert!(places.windows(2).all(|two| two[1] == two[0] + 1), "{:?}", places);
            let on: BTreeSet<usize> = places.iter().map(|place| placed[*place].0).collect();
            prop_assert_eq!(on.len(), 1);
        }
    }
}

proptest! {
    #[test]
    fn side_by_side_each_file_lies_once_groups_are_whole_and_no_cartridge_is_overfilled(
        nights in proptest::collection::vec(files(), 1..4), by in rule(), cartridge in 60..300u64, side_by_side in 1..5usize,
    ) {
        let mut begun: Vec<Begun> = Vec::new();
        for files in &nights {
            let items = items(files);
            let before: Vec<u64> = begun.iter().map(|one| one.room).collect();
            let placed = place_beside(&items, by, &mut begun, cartridge, side_by_side);
            let mut numbers: Vec<usize> = placed.iter().map(|(_, item)| *item).collect();
            numbers.sort_unstable();
            prop_assert_eq!(numbers, (0..items.len()).collect::<Vec<_>>());
            for (at, one) in begun.iter().enumerate() {
                let mine = placed.iter().filter(|(on, _)| *on == at);
                let used: u64 = mine.map(|(_, item)| items[*item].bytes).sum();
                prop_assert_eq!(used + one.room, before.get(at).copied().unwrap_or(cartridge));
            }
            for group in groups(&items, by).iter().filter(|group| group.bytes <= cartridge) {
                let on = placed.iter().filter(|(_, item)| group.items.contains(item));
                let on: BTreeSet<usize> = on.map(|(at, _)| *at).collect();
                prop_assert_eq!(on.len(), 1);
            }
        }
    }

    /// A group stays where it lies if there is room. A blank one is begun only while fewer than `side_by_side` have room.
    #[test]
    fn a_group_goes_home_if_it_fits_there_and_else_begins_no_more_cartridges_than_are_asked_for(
        rooms in proptest::collection::vec(0..100u64, 0..6),
        wanted in proptest::collection::vec((0..120u64, proptest::collection::vec(proptest::bool::ANY, 12)), 1..20),
        side_by_side in 1..5usize, blanks in 0..4usize,
    ) {
        let coming = wanted.iter().map(|(bytes, lots)| {
            let may: Vec<usize> = (0..rooms.len()).filter(|at| lots[*at]).collect();
            let homes = may.iter().copied().filter(|at| lots[6 + at]).collect();
            Coming { bytes: *bytes, may, homes }
        });
        let coming: Vec<Coming> = coming.collect();
        let supply = Supply { side_by_side, blanks, cartridge: 100 };
        let assigned = assign(&coming, &rooms, &supply);
        let mut left = rooms.clone();
        for (one, at) in coming.iter().zip(assigned) {
            let takes = |at: &usize| {
                (*at >= rooms.len() || one.may.contains(at)) && left[*at] >= one.bytes
            };
            let open: Vec<usize> = (0..left.len()).filter(takes).collect();
            let is_home_open = open.iter().any(|at| one.homes.contains(at));
            let is_blank_left = left.len() < rooms.len() + blanks && one.bytes <= 100;
            match at {
                None => prop_assert!(open.is_empty() && !is_blank_left),
                Some(at) if at == left.len() => {
                    prop_assert!(!is_home_open && is_blank_left && open.len() < side_by_side);
                    left.push(100 - one.bytes);
                }
                Some(at) => {
                    prop_assert!(open.contains(&at) && (one.homes.contains(&at) || !is_home_open));
                    left[at] -= one.bytes;
                }
            }
        }
    }
}

#[test]
fn files_that_come_later_join_their_group_where_cartridges_are_filled_side_by_side() {
    let night = |number: usize| -> Vec<(String, u64, i64)> {
        let file = |set: usize| (format!("mc/set{set}/{number}"), 10, 0);
        (0..4).map(file).collect()
    };
    let spread = |side_by_side: usize| {
        let (mut begun, mut mounts) = (Vec::new(), 0);
        let mut on: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for number in 0..6 {
            let files = night(number);
            let placed = place_beside(
                &items(&files),
                GroupBy::Dataset,
                &mut begun,
                60,
                side_by_side,
            );
            mounts += placed
                .iter()
                .map(|(at, _)| at)
                .collect::<BTreeSet<_>>()
                .len();
            for (at, item) in placed {
                on.entry(item).or_default().insert(at);
            }
        }
        let most = on.values().map(BTreeSet::len).max();
        (begun.len(), mounts, most)
    };
    // Each of four sets comes to 60 in six nights: a cartridge.
    assert_eq!(spread(4), (4, 24, Some(1)));
    assert_eq!(spread(1), (4, 8, Some(4)));
}

#[test]
fn groups_are_what_their_rule_says() {
    let files = [
        ("mc/r1/p2/b", 0),
        ("mc/r2/p1/a", 1),
        ("mc/r1/p1/a", DAY_NS),
        ("mc/r1/p2/a", DAY_NS - 1),
        ("mc/r1/c", -1),
        ("alone", 5),
    ];
    let items = files.map(|(path, modified_ns)| Item {
        path: path.as_bytes(),
        bytes: 1,
        modified_ns,
    });
    let by = |rule| -> Vec<Vec<usize>> {
        let groups = groups(&items, rule).into_iter();
        groups.map(|group| group.items).collect()
    };
    assert_eq!(by(GroupBy::None), [[0], [1], [2], [3], [4], [5]]);
    let directory: [&[usize]; 5] = [&[3, 0], &[1], &[2], &[4], &[5]];
    assert_eq!(by(GroupBy::Directory), directory);
    let dataset: [&[usize]; 3] = [&[4, 2, 3, 0], &[1], &[5]];
    assert_eq!(by(GroupBy::Dataset), dataset);
    let time: [&[usize]; 3] = [&[0, 1, 5, 3], &[2], &[4]];
    assert_eq!(by(GroupBy::Time), time);
}

#[test]
fn a_group_longer_than_a_cartridge_is_divided_and_a_file_longer_than_one_fills_it() {
    let item = |path: &'static str, bytes| Item {
        path: path.as_bytes(),
        bytes,
        modified_ns: 0,
    };
    let items = [
        item("d/1", 6),
        item("d/2", 6),
        item("e/1", 3),
        item("f/1", 25),
    ];
    let mut rooms = vec![2];
    let placed = place(&items, GroupBy::Directory, &mut rooms, 10);
    // e fits a blank cartridge; d then begins one of its own, and its second file lies on another.
    assert_eq!(placed, [(1, 2), (2, 0), (1, 1), (3, 3)]);
    assert_eq!(rooms, [2, 1, 4, 0]);
}

/// Files as they came, in turns from 8 runs of 5 directories each; 40 users ask for some of them together.
fn asked(together: impl Fn(usize, usize) -> bool) -> Vec<Asked> {
    let mut asked = Vec::new();
    for user in 0..40 {
        for file in (0..800).filter(|&file| together(user, file)) {
            asked.push(Asked {
                user: format!("u{user}"),
                at_ns: user as i64 * 3_600_000_000_000 + file as i64,
                file: file as i64,
                path: format!("mc/r{}/p{}/{file:03}", file % 8, file / 8 % 5).into_bytes(),
                bytes: 10,
                modified_ns: file as i64 % 11 * DAY_NS,
            });
        }
    }
    asked
}

#[test]
fn recalls_teach_the_rule_that_they_follow_and_none_where_they_follow_none() {
    type Together = fn(usize, usize) -> bool;
    let cases: [(GroupBy, Together); 4] = [
        (GroupBy::Directory, |user, file| {
            (file % 8, file / 8 % 5) == (user / 5, user % 5)
        }),
        (GroupBy::Dataset, |user, file| file % 8 == user % 8),
        (GroupBy::Time, |user, file| file % 11 == user % 11),
        (GroupBy::None, |user, file| file % 40 == user && file < 40),
    ];
    for (rule, together) in cases {
        let learned = learn(&asked(together), u64::MAX);
        assert_eq!(learned.by, rule, "{learned:?}");
        assert_eq!(learned.askings, 40);
        assert!(learned.mounts <= learned.as_they_came);
    }
    assert_eq!(learn(&[], 1000).by, GroupBy::None);
}
