//! A recall that ends as if power failed, for `tapewise demo`.

use tapewise_archive::ltfs::deliver::Deliveries;
use tapewise_archive::read::{Lost, Receiver};

/// Deliveries for as long as there is power.
pub struct Powered<'a> {
    pub deliveries: Deliveries<'a>,
    /// Files whose last byte has come.
    pub ended: usize,
    /// After this many files, and some bytes of the next one, the process ends at once.
    pub cut_after: Option<usize>,
}

impl Receiver for Powered<'_> {
    fn begin(&mut self, want: usize) -> std::io::Result<()> {
        self.deliveries.begin(want)
    }

    fn bytes(&mut self, want: usize, offset: u64, bytes: &[u8]) -> std::io::Result<()> {
        self.deliveries.bytes(want, offset, bytes)?;
        if self.cut_after == Some(self.ended) {
            // So that the number of files that have arrived does not depend on this machine's disk.
            self.deliveries.settle()?;
            std::process::abort();
        }
        Ok(())
    }

    fn end(&mut self, want: usize) -> std::io::Result<()> {
        self.ended += 1;
        self.deliveries.end(want)
    }

    fn lost(&mut self, want: usize, why: &Lost) -> std::io::Result<()> {
        self.deliveries.lost(want, why)
    }
}
