//! The event kernel: what happens next, in whole microseconds.
//!
//! An [`Agenda`] keys events by time and by the order in which they were put down, so that two events of one
//! microsecond happen in that order on every machine. Time never runs backwards, and once it has grown to its largest
//! size nothing is allocated. The next few events are a sorted list, which is quicker than a heap while it is short;
//! all later ones are in a heap. What happens at once stays out of both: it comes after all that they have for this
//! time, as that was put down earlier.
//!
//! ```
//! use tapewise_model::Micros;
//! use tapewise_sim::Agenda;
//!
//! let mut agenda = Agenda::new();
//! agenda.after(Micros(30), "answer");
//! agenda.after(Micros(10), "arrival");
//! assert_eq!(agenda.next(), Some("arrival"));
//! agenda.after(Micros(20), "second at this time");
//! assert_eq!(agenda.next(), Some("answer"));
//! assert_eq!(agenda.now(), Micros(30));
//! ```

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};
use tapewise_model::Micros;

/// Events to come, and the time of the last one taken.
#[derive(Clone, Debug)]
pub struct Agenda<E> {
    /// The next events, the soonest last.
    soon: Vec<Entry<E>>,
    /// Events that are none of the next.
    later: BinaryHeap<Entry<E>>,
    /// Events of the present time that were put down since it began, in that order.
    at_once: VecDeque<E>,
    now: Micros,
    sequence: u64,
}

/// Events in the sorted list, at most.
const SOON: usize = 32;

/// An event at its place in the agenda. The largest entry is the soonest.
#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    /// Time in the upper half, sequence in the lower: one comparison for both.
    key: u128,
    event: E,
}

impl<E> Entry<E> {
    fn time(&self) -> Micros {
        Micros((self.key >> 64) as i64)
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Entry<E>) -> bool {
        self.key == other.key
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Entry<E>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Entry<E>) -> Ordering {
        other.key.cmp(&self.key)
    }
}

impl<E: Copy> Default for Agenda<E> {
    fn default() -> Agenda<E> {
        Agenda::new()
    }
}

impl<E: Copy> Agenda<E> {
    /// An empty agenda at time zero.
    pub fn new() -> Agenda<E> {
        Agenda {
            soon: Vec::with_capacity(SOON + 1),
            later: BinaryHeap::new(),
            at_once: VecDeque::new(),
            now: Micros::ZERO,
            sequence: 0,
        }
    }

    /// The time of the last event taken; zero before the first.
    #[inline]
    pub fn now(&self) -> Micros {
        self.now
    }

    /// Puts an event down for a time from now; what would lie in the past happens now.
    #[inline(always)]
    pub fn after(&mut self, delay: Micros, event: E) {
        self.at(Micros(self.now.0.saturating_add(delay.0)), event);
    }

    /// Puts an event down for a time; what would lie in the past happens now.
    #[inline(always)]
    pub fn at(&mut self, time: Micros, event: E) {
        if time <= self.now {
            self.at_once.push_back(event);
        } else {
            self.put(time, event);
        }
    }

    /// Puts down what is to come later than now.
    #[inline(always)]
    fn put(&mut self, time: Micros, event: E) {
        // Never negative: `now` begins at zero and only grows.
        let key = (time.0 as u128) << 64 | u128::from(self.sequence);
        self.sequence += 1;
        let entry = Entry { key, event };
        if self.later.peek().is_some_and(|first| first.time() <= time) {
            return self.later.push(entry);
        }
        // From the end on, as in a list this short that is quicker than to find the place first and move the rest at once.
        // No other has been put down later: times alone say which come first.
        self.soon.push(entry);
        let soon = &mut self.soon[..];
        let mut place = soon.len() - 1;
        while place > 0 && soon[place - 1].time() <= time {
            soon[place] = soon[place - 1];
            place -= 1;
        }
        soon[place] = entry;
        if self.soon.len() > SOON {
            self.later.push(self.soon.remove(0));
        }
    }

    /// Takes the next event and moves the clock to it.
    #[inline]
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator could not be added to between two events"
    )]
    pub fn next(&mut self) -> Option<E> {
        let is_now = |entry: &Entry<E>| entry.time() == self.now;
        if !self.at_once.is_empty() && !self.soon.last().is_some_and(is_now) {
            return self.at_once.pop_front();
        }
        let entry = self.soon.pop()?;
        if self.soon.is_empty() {
            let next = std::iter::from_fn(|| self.later.pop());
            self.soon.extend(next.take(SOON / 2));
            self.soon.reverse();
        }
        self.now = entry.time();
        Some(entry.event)
    }

    /// Whether an event is to come at the present time.
    #[inline]
    pub fn is_due(&self) -> bool {
        !self.at_once.is_empty()
            || self
                .soon
                .last()
                .is_some_and(|entry| entry.time() == self.now)
    }

    /// Number of events to come.
    pub fn len(&self) -> usize {
        self.soon.len() + self.later.len() + self.at_once.len()
    }

    /// Whether nothing is to come.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
