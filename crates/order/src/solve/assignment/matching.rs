//! A cheapest matching of rows and columns over some of all arcs, with its prices.
//!
//! Jonker & Volgenant 1987 for sparse costs: every row without a column first outbids the holder of
//! its best column (augmenting row reduction), and what is then still open gets a column by a
//! shortest augmenting path (Dijkstra's search with a heap over costs less prices). Prices of
//! columns only ever fall, so an arc that does not undercut them never will while the price of its
//! row stands.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// No row or column.
pub(super) const NOBODY: u32 = u32::MAX;

/// Passes of augmenting row reduction, as Jonker & Volgenant have it.
const REDUCTIONS: usize = 2;

/// One arc of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arc {
    pub(super) column: u32,
    pub(super) cost: i64,
}

/// Where the arcs of a row are.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    begin: u32,
    arcs: u32,
    room: u32,
}

/// A matching in the making.
#[derive(Debug, Default)]
pub(super) struct Matching {
    /// The arcs of each row in one run, with room for more behind them.
    arcs: Vec<Arc>,
    runs: Vec<Run>,
    pub(super) column_of: Vec<u32>,
    pub(super) row_of: Vec<u32>,
    /// Prices; that of a row without a column says nothing.
    pub(super) rows: Vec<i64>,
    pub(super) columns: Vec<i64>,
    /// Rows without a column.
    open: Vec<u32>,
    search: Search,
}

/// What a search for a shortest path needs, kept from one to the next.
#[derive(Debug, Default)]
struct Search {
    distance: Vec<i64>,
    from: Vec<u32>,
    heap: BinaryHeap<Reverse<(i64, u32)>>,
    /// Columns as near as the last one settled.
    ready: Vec<u32>,
    /// The nearest column found that no row has, and its distance first.
    end: (i64, u32),
    touched: Vec<u32>,
    settled: Vec<u32>,
}

impl Matching {
    /// No row has a column, no arc is known, and every column is given away for nothing.
    pub(super) fn new(cities: usize) -> Matching {
        Matching {
            arcs: Vec::new(),
            runs: vec![Run::default(); cities],
            column_of: vec![NOBODY; cities],
            row_of: vec![NOBODY; cities],
            rows: vec![i64::MIN; cities],
            columns: vec![0; cities],
            open: (0..cities as u32).collect(),
            search: Search {
                distance: vec![i64::MAX; cities],
                from: vec![NOBODY; cities],
                ..Search::default()
            },
        }
    }

    pub(super) fn open(&self) -> usize {
        self.open.len()
    }

    pub(super) fn cities(&self) -> usize {
        self.rows.len()
    }

    #[inline(always)]
    pub(super) fn arcs(&self, row: u32) -> &[Arc] {
        let run = self.runs[row as usize];
        &self.arcs[run.begin as usize..][..run.arcs as usize]
    }

    /// Adds arcs.
    pub(super) fn add(&mut self, new: &[(u32, Arc)]) {
        for group in new.chunk_by(|(one, _), (other, _)| one == other) {
            let row = group[0].0 as usize;
            self.make_room(row, group.len() as u32);
            let run = &mut self.runs[row];
            let free = &mut self.arcs[(run.begin + run.arcs) as usize..];
            for ((_, arc), slot) in group.iter().zip(free) {
                *slot = *arc;
            }
            run.arcs += group.len() as u32;
        }
    }

    /// Moves the arcs of a row to the end of all where there is too little room for so many more.
    fn make_room(&mut self, row: usize, more: u32) {
        let run = self.runs[row];
        if run.arcs + more <= run.room {
            return;
        }
        let begin = self.arcs.len();
        // Twice as much each time, or what a row leaves behind grows with the square of its arcs.
        let room = 2 * (run.arcs + more);
        self.arcs
            .extend_from_within(run.begin as usize..(run.begin + run.arcs) as usize);
        let nothing = Arc {
            column: NOBODY,
            cost: 0,
        };
        self.arcs.resize(begin + room as usize, nothing);
        self.runs[row] = Run {
            begin: begin as u32,
            room,
            ..run
        };
    }

    /// Gives every row a column, at the prices that the columns have.
    pub(super) fn assign(&mut self, columns: &[usize]) {
        self.open.clear();
        for (row, &column) in columns.iter().enumerate() {
            self.give(row as u32, column as u32);
            let arc = self
                .arcs(row as u32)
                .iter()
                .find(|arc| arc.column as usize == column);
            self.rows[row] = arc.map_or(0, |arc| arc.cost - self.columns[column]);
        }
    }

    /// Takes its column from a row, so that it may find a better one.
    pub(super) fn free(&mut self, row: u32) {
        let column = std::mem::replace(&mut self.column_of[row as usize], NOBODY);
        if column != NOBODY {
            self.row_of[column as usize] = NOBODY;
            self.open.push(row);
        }
    }

    /// Prices every column at its cheapest arc, and gives it to that row where it is still open.
    pub(super) fn reduce_columns(&mut self) {
        self.columns.fill(i64::MAX);
        let mut cheapest = vec![NOBODY; self.cities()];
        for row in 0..self.cities() as u32 {
            let run = self.runs[row as usize];
            for arc in &self.arcs[run.begin as usize..][..run.arcs as usize] {
                if arc.cost < self.columns[arc.column as usize] {
                    self.columns[arc.column as usize] = arc.cost;
                    cheapest[arc.column as usize] = row;
                }
            }
        }
        for (column, row) in cheapest.into_iter().enumerate() {
            if row != NOBODY && self.column_of[row as usize] == NOBODY {
                self.give(row, column as u32);
                self.rows[row as usize] = 0;
            }
        }
        self.open
            .retain(|&row| self.column_of[row as usize] == NOBODY);
    }

    fn give(&mut self, row: u32, column: u32) {
        self.column_of[row as usize] = column;
        self.row_of[column as usize] = row;
    }

    /// Gives every open row a column, at least cost, as long as there is time. The arcs must allow
    /// it.
    pub(super) fn complete(&mut self, out_of_time: &dyn Fn() -> bool) {
        for _ in 0..REDUCTIONS {
            self.reduce_rows();
        }
        let mut open = std::mem::take(&mut self.open);
        let mut done = 0;
        while done < open.len() && !out_of_time() {
            self.augment(open[done]);
            done += 1;
        }
        open.drain(..done);
        self.open = open;
    }

    /// Gives every open row some column that is left, whatever it costs.
    pub(super) fn give_away(&mut self) {
        let left =
            (0..self.cities() as u32).filter(|&column| self.row_of[column as usize] == NOBODY);
        let left: Vec<u32> = left.collect();
        for (row, column) in std::mem::take(&mut self.open).into_iter().zip(left) {
            self.give(row, column);
        }
    }

    /// Every open row takes its best column from whoever has it, and lowers the column's price until
    /// its second best is as good.
    pub(super) fn reduce_rows(&mut self) {
        let mut open = std::mem::take(&mut self.open);
        let mut later = Vec::new();
        // Bidding can go on for long where many rows want few columns: the paths are better at it.
        let mut bids = 4 * open.len() + 16;
        while let Some(row) = open.pop() {
            let Some((best, second)) = self.two_best(row).filter(|_| bids > 0) else {
                later.push(row);
                continue;
            };
            bids -= 1;
            let (mut column, price) = best;
            if price < second.1 {
                self.columns[column as usize] -= second.1 - price;
            } else if self.row_of[column as usize] != NOBODY {
                column = second.0;
            }
            let loser = self.row_of[column as usize];
            self.give(row, column);
            self.rows[row as usize] = second.1;
            if loser != NOBODY {
                self.column_of[loser as usize] = NOBODY;
                if price < second.1 {
                    open.push(loser)
                } else {
                    later.push(loser)
                }
            }
        }
        self.open = later;
    }

    /// The two columns of least cost less price, with those; `None` where the row has one arc.
    fn two_best(&self, row: u32) -> Option<((u32, i64), (u32, i64))> {
        let mut best = (NOBODY, i64::MAX);
        let mut second = (NOBODY, i64::MAX);
        for arc in self.arcs(row) {
            let price = arc.cost - self.columns[arc.column as usize];
            if price < best.1 {
                if arc.column != best.0 {
                    second = best;
                }
                best = (arc.column, price);
            } else if price < second.1 && arc.column != best.0 {
                second = (arc.column, price);
            }
        }
        (second.0 != NOBODY).then_some((best, second))
    }

    /// Gives an open row a column along a shortest alternating path, and prices what it passed so
    /// that every arc taken stays cheapest.
    fn augment(&mut self, open: u32) {
        let mut search = std::mem::take(&mut self.search);
        search.begin(self, open);
        while let Some((distance, column)) = search.nearest() {
            let row = self.row_of[column as usize];
            search.settled.push(column);
            search.reach(self, row, distance);
        }
        let (shortest, reached) = search.end;
        self.rows[open as usize] = shortest;
        for &column in &search.settled {
            let change = shortest - search.distance[column as usize];
            self.columns[column as usize] -= change;
            self.rows[self.row_of[column as usize] as usize] += change;
        }
        let mut column = reached;
        loop {
            let row = search.from[column as usize];
            self.row_of[column as usize] = row;
            let before = std::mem::replace(&mut self.column_of[row as usize], column);
            if row == open {
                break;
            }
            column = before;
        }
        search.clear();
        self.search = search;
    }
}

impl Search {
    fn begin(&mut self, matching: &Matching, open: u32) {
        self.end = (i64::MAX, NOBODY);
        self.look(matching, open, 0, i64::MIN);
    }

    /// The nearest column not yet settled, with its distance; `None` where none is nearer than the
    /// free column found.
    #[inline(always)]
    fn nearest(&mut self) -> Option<(i64, u32)> {
        if let Some(column) = self.ready.pop() {
            return Some((self.distance[column as usize], column));
        }
        while let Some(Reverse((distance, column))) = self.heap.pop() {
            if distance >= self.end.0 {
                return None;
            }
            if distance == self.distance[column as usize] {
                return Some((distance, column));
            }
        }
        None
    }

    /// Looks at the arcs of a row that has a column at this distance.
    #[inline(always)]
    fn reach(&mut self, matching: &Matching, row: u32, distance: i64) {
        self.look(
            matching,
            row,
            distance - matching.rows[row as usize],
            distance,
        );
    }

    #[inline(always)]
    fn look(&mut self, matching: &Matching, row: u32, base: i64, nearest: i64) {
        for arc in matching.arcs(row) {
            let column = arc.column as usize;
            let through = base + arc.cost - matching.columns[column];
            if through >= self.distance[column] || through >= self.end.0 {
                continue;
            }
            if self.distance[column] == i64::MAX {
                self.touched.push(arc.column);
            }
            self.distance[column] = through;
            self.from[column] = row;
            if matching.row_of[column] == NOBODY {
                self.end = (through, arc.column);
                if through == nearest {
                    // No column is nearer: what waits is no longer needed.
                    self.ready.clear();
                    self.heap.clear();
                    return;
                }
            } else if through == nearest {
                self.ready.push(arc.column);
            } else {
                self.heap.push(Reverse((through, arc.column)));
            }
        }
    }

    fn clear(&mut self) {
        for column in self.touched.drain(..) {
            self.distance[column as usize] = i64::MAX;
        }
        self.settled.clear();
        self.ready.clear();
        self.heap.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_grow_leave_no_more_behind_than_they_hold() {
        let mut matching = Matching::new(2);
        for column in 0..4_000u32 {
            let arc = |row| {
                (
                    row,
                    Arc {
                        column,
                        cost: i64::from(column),
                    },
                )
            };
            matching.add(&[arc(0), arc(1)]);
        }
        assert!(
            matching.arcs.len() < 4 * 2 * 4_000,
            "{}",
            matching.arcs.len()
        );
        assert!(matching.arcs(1).iter().map(|arc| arc.column).eq(0..4_000));
    }
}
