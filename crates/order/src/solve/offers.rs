//! What column generation asks of whoever prices arcs.

/// Who knows all arcs, and which of them undercut given prices.
pub(crate) trait Offers {
    /// Number of rows, and of columns.
    fn cities(&self) -> usize;

    /// The cost of an arc in microseconds.
    fn cost(&self, row: usize, column: usize) -> i64;

    /// Makes ready for offers at these prices of the columns.
    fn set_prices(&mut self, prices: &[i64]);

    /// Gives arcs of a row with their cost less the price of the column, or less than that; the
    /// least of all is among them.
    fn offers(&self, row: usize, prices: &[i64], give: impl FnMut(u32, i64));
}
