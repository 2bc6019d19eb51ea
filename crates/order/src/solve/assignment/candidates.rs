//! Arcs of little reduced cost: where searches for orders look.

/// Candidates of each city.
const CANDIDATES: usize = 10;

/// For each city where to go from it at little reduced cost, the least first.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidates {
    heads: Vec<u32>,
    /// By city: where its candidates end.
    end: Vec<u32>,
}

impl Candidates {
    pub(super) fn of(&self, city: u32) -> &[u32] {
        let begin = city
            .checked_sub(1)
            .map_or(0, |before| self.end[before as usize]);
        &self.heads[begin as usize..self.end[city as usize] as usize]
    }

    /// Keeps the best of the next city's arcs, given with their reduced costs.
    pub(super) fn push(&mut self, arcs: &mut Vec<(i64, u32)>) {
        if arcs.len() > CANDIDATES * 2 {
            arcs.select_nth_unstable(CANDIDATES * 2);
            arcs.truncate(CANDIDATES * 2);
        }
        arcs.sort_unstable();
        arcs.dedup_by_key(|(_, head)| *head);
        self.heads
            .extend(arcs.iter().take(CANDIDATES).map(|&(_, head)| head));
        self.end.push(self.heads.len() as u32);
    }
}
