//! The agenda: what is put down for later happens later, and in one order.

use proptest::prelude::*;
use tapewise_model::Micros;
use tapewise_sim::Agenda;

#[test]
fn two_events_of_one_time_happen_in_the_order_in_which_they_were_put_down() {
    let mut agenda = Agenda::new();
    for event in 0..100 {
        agenda.at(Micros(7), event);
    }
    let taken: Vec<i32> = std::iter::from_fn(|| agenda.next()).collect();
    assert_eq!(taken, (0..100).collect::<Vec<_>>());
}

#[test]
fn what_would_lie_in_the_past_happens_now() {
    let mut agenda = Agenda::new();
    agenda.after(Micros(10), "first");
    assert_eq!(agenda.next(), Some("first"));
    agenda.at(Micros(3), "late");
    assert_eq!(agenda.next(), Some("late"));
    assert_eq!(agenda.now(), Micros(10));
    assert!(agenda.is_empty());
}

proptest! {
    #[test]
    fn events_come_sorted_by_time_and_then_by_sequence(times in prop::collection::vec(0i64..50, 0..200)) {
        let mut agenda = Agenda::new();
        for (number, &time) in times.iter().enumerate() {
            agenda.at(Micros(time), number);
        }
        let mut expected: Vec<usize> = (0..times.len()).collect();
        expected.sort_by_key(|&number| times[number]);
        for number in expected {
            prop_assert_eq!(agenda.next(), Some(number));
            prop_assert_eq!(agenda.now(), Micros(times[number]));
        }
        prop_assert_eq!(agenda.next(), None);
    }

    /// Events put down while others happen, many of them at once, beside a list that is searched from end to end.
    #[test]
    fn events_put_down_between_others_come_as_from_a_list(steps in prop::collection::vec(prop::option::of(0i64..4), 1..200)) {
        let (mut agenda, mut list) = (Agenda::new(), Vec::new());
        for (number, step) in steps.iter().enumerate() {
            match step {
                Some(delay) => {
                    agenda.after(Micros(*delay), number);
                    list.push((agenda.now() + Micros(*delay), number));
                }
                None => {
                    let first = list.iter().copied().min();
                    let is_due = first.is_some_and(|(time, _)| time == agenda.now());
                    prop_assert_eq!(agenda.is_due(), is_due);
                    list.retain(|event| Some(*event) != first);
                    prop_assert_eq!(agenda.next(), first.map(|(_, number)| number));
                    prop_assert!(first.is_none_or(|(time, _)| time == agenda.now()));
                }
            }
            prop_assert_eq!(agenda.len(), list.len());
        }
    }
}
