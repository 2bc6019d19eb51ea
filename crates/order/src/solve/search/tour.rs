//! A tour that arcs are exchanged in, and that remembers how to go back.
//!
//! The cities stand in an array. An exchange of `k` arcs puts the `k` runs between them into another
//! order without turning any: on a tape the way back costs something else. The longest run stays
//! where it is, so an exchange costs what the others are long.

use crate::solve::cities::Cities;
use crate::solve::search::candidates::Candidates;

/// The most arcs exchanged at once.
pub(crate) const MOST_ARCS: usize = 8;

/// Arcs of a tour to be replaced: each `tails[i]` gets the city that came after `tails[to[i]]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange<'a> {
    pub(crate) tails: &'a [u32],
    pub(crate) to: &'a [u8],
}

pub(crate) struct Tour<'a> {
    cities: &'a Cities<'a>,
    candidates: &'a Candidates,
    sequence: Vec<u32>,
    place: Vec<u32>,
    /// The reduced cost of the arc that leaves each city.
    leaving: Vec<i64>,
    total: i64,
    /// What stood where, and which arc cost what, before each change since the last `commit`.
    moved: Vec<(u32, u32)>,
    repriced: Vec<(u32, i64)>,
    scratch: Vec<u32>,
}

impl<'a> Tour<'a> {
    /// A tour through all cities in this order.
    pub(crate) fn new(
        cities: &'a Cities<'a>,
        candidates: &'a Candidates,
        sequence: Vec<u32>,
    ) -> Tour<'a> {
        let mut tour = Tour {
            cities,
            candidates,
            place: vec![0; sequence.len()],
            leaving: vec![0; sequence.len()],
            sequence,
            total: 0,
            moved: Vec::new(),
            repriced: Vec::new(),
            scratch: Vec::new(),
        };
        for (at, &city) in tour.sequence.iter().enumerate() {
            tour.place[city as usize] = at as u32;
        }
        for city in 0..tour.sequence.len() as u32 {
            tour.leaving[city as usize] = tour.reduced(city, tour.next(city));
        }
        tour.total = tour.leaving.iter().sum();
        tour
    }

    pub(crate) fn len(&self) -> usize {
        self.sequence.len()
    }

    pub(crate) fn sequence(&self) -> &[u32] {
        &self.sequence
    }

    /// The reduced cost of the whole tour.
    pub(crate) fn total(&self) -> i64 {
        self.total
    }

    /// The reduced cost of the arc that leaves a city.
    #[inline(always)]
    pub(crate) fn leaving(&self, city: u32) -> i64 {
        self.leaving[city as usize]
    }

    #[inline(always)]
    pub(crate) fn reduced(&self, tail: u32, head: u32) -> i64 {
        self.candidates.reduced(self.cities, tail, head)
    }

    #[inline(always)]
    pub(crate) fn place(&self, city: u32) -> usize {
        self.place[city as usize] as usize
    }

    #[inline(always)]
    pub(crate) fn at(&self, place: usize) -> u32 {
        self.sequence[place]
    }

    #[inline(always)]
    pub(crate) fn next(&self, city: u32) -> u32 {
        let next = self.place(city) + 1;
        self.sequence[if next == self.sequence.len() { 0 } else { next }]
    }

    /// Whether the exchange leaves one tour, not several cycles.
    pub(crate) fn stays_whole(&self, exchange: Exchange) -> bool {
        let ranks = Ranks::new(self, exchange.tails);
        let mut runs = 1;
        let mut run = ranks.after(exchange, 0);
        while run != 0 {
            run = ranks.after(exchange, run);
            runs += 1;
        }
        runs == exchange.tails.len()
    }

    /// Exchanges the arcs. The exchange must leave the tour whole.
    pub(crate) fn apply(&mut self, exchange: Exchange) {
        debug_assert!(self.stays_whole(exchange), "{exchange:?}");
        let count = exchange.tails.len();
        let ranks = Ranks::new(self, exchange.tails);
        let mut heads = [0; MOST_ARCS];
        for (head, &to) in heads.iter_mut().zip(exchange.to) {
            *head = self.next(exchange.tails[to as usize]);
        }
        let n = self.sequence.len();
        let begin = |run: usize| {
            let begin = ranks.places[run] as usize + 1;
            if begin == n { 0 } else { begin }
        };
        let length = |run: usize| {
            let end = ranks.places[(run + 1) % count] as usize + 1;
            let begin = ranks.places[run] as usize + 1;
            if run + 1 == count {
                end + n - begin
            } else {
                end - begin
            }
        };
        let longest = (0..count).max_by_key(|&run| length(run)).unwrap_or(0);
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        let mut run = ranks.after(exchange, longest);
        while run != longest {
            let (begin, length) = (begin(run), length(run));
            let until_end = length.min(n - begin);
            scratch.extend_from_slice(&self.sequence[begin..begin + until_end]);
            scratch.extend_from_slice(&self.sequence[..length - until_end]);
            run = ranks.after(exchange, run);
        }
        let mut place = begin((longest + 1) % count);
        for &city in &scratch {
            self.moved.push((place as u32, self.sequence[place]));
            self.sequence[place] = city;
            self.place[city as usize] = place as u32;
            place += 1;
            if place == n {
                place = 0;
            }
        }
        self.scratch = scratch;
        for (&tail, &head) in exchange.tails.iter().zip(&heads) {
            self.reprice(tail, head);
        }
        debug_assert_eq!(self.recomputed(), self.total);
    }

    fn reprice(&mut self, tail: u32, head: u32) {
        let reduced = self.reduced(tail, head);
        let before = std::mem::replace(&mut self.leaving[tail as usize], reduced);
        self.repriced.push((tail, before));
        self.total += reduced - before;
    }

    /// Keeps all exchanges so far.
    pub(crate) fn commit(&mut self) {
        self.moved.clear();
        self.repriced.clear();
    }

    /// Takes back all exchanges since the last [`Tour::commit`].
    pub(crate) fn undo(&mut self) {
        while let Some((place, city)) = self.moved.pop() {
            self.sequence[place as usize] = city;
            self.place[city as usize] = place;
        }
        while let Some((tail, before)) = self.repriced.pop() {
            let reduced = std::mem::replace(&mut self.leaving[tail as usize], before);
            self.total += before - reduced;
        }
        debug_assert_eq!(self.recomputed(), self.total);
    }

    fn recomputed(&self) -> i64 {
        let arcs = self
            .sequence
            .iter()
            .map(|&city| self.reduced(city, self.next(city)));
        arcs.sum()
    }
}

/// The cut arcs in the order of the tour. Run `r` begins after the cut of rank `r`.
struct Ranks {
    /// Place of the tail of each cut.
    places: [u32; MOST_ARCS],
    /// Which of the exchange's arcs it is.
    arc: [u8; MOST_ARCS],
    /// And back.
    rank: [u8; MOST_ARCS],
    count: usize,
}

impl Ranks {
    #[inline(always)]
    fn new(tour: &Tour, tails: &[u32]) -> Ranks {
        let mut ranks = Ranks {
            places: [0; MOST_ARCS],
            arc: [0; MOST_ARCS],
            rank: [0; MOST_ARCS],
            count: tails.len(),
        };
        for (arc, &tail) in tails.iter().enumerate() {
            let place = tour.place[tail as usize];
            let mut at = arc;
            while at > 0 && ranks.places[at - 1] > place {
                ranks.places[at] = ranks.places[at - 1];
                ranks.arc[at] = ranks.arc[at - 1];
                at -= 1;
            }
            ranks.places[at] = place;
            ranks.arc[at] = arc as u8;
        }
        for rank in 0..tails.len() {
            ranks.rank[ranks.arc[rank] as usize] = rank as u8;
        }
        ranks
    }

    /// Which run comes after a run once the arcs are exchanged.
    #[inline(always)]
    fn after(&self, exchange: Exchange, run: usize) -> usize {
        let last = if run + 1 == self.count { 0 } else { run + 1 };
        let to = exchange.to[self.arc[last] as usize];
        self.rank[to as usize] as usize
    }
}
