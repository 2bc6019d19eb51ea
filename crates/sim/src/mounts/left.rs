//! How often cartridges are asked for again soon after they were read.

use tapewise_model::Micros;

/// Cartridges with nothing left to be read, and those that were asked for again soon after.
#[derive(Clone, Debug, Default)]
pub struct Left {
    /// When each one's last read ended, until it is asked for again.
    since: Vec<Option<Micros>>,
    left: u64,
    again: u64,
}

impl Left {
    /// Soon, for these counts.
    const SOON: Micros = Micros(600_000_000);

    /// Nothing is left to be read of a cartridge.
    pub fn leave(&mut self, cartridge: u32, now: Micros) {
        let cartridge = cartridge as usize;
        self.since.resize(self.since.len().max(cartridge + 1), None);
        self.since[cartridge] = Some(now);
        self.left += 1;
    }

    /// A cartridge was asked for at this time. If that was before its last read ended, something was left.
    pub fn ask(&mut self, cartridge: u32, at: Micros) {
        let since = self.since.get_mut(cartridge as usize);
        match since.and_then(Option::take) {
            Some(since) if at < since => self.left -= 1,
            Some(since) => self.again += u64::from(at - since <= Self::SOON),
            None => {}
        }
    }

    /// How often a cartridge is asked for again in each second after its last read.
    pub fn again_per_s(&self) -> f64 {
        self.again as f64 / (self.left.max(1) as f64 * Self::SOON.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_asked_for_soon_after_it_was_left_counts() {
        let seconds = |seconds: i64| Micros(seconds * 1_000_000);
        let mut left = Left::default();
        for cartridge in 0..4 {
            left.leave(cartridge, seconds(100));
        }
        left.ask(0, seconds(700));
        left.ask(0, seconds(701));
        left.ask(1, seconds(701));
        // It waited while the drive read something else of this cartridge.
        left.ask(2, seconds(99));
        left.ask(9, seconds(700));
        assert_eq!(left.again_per_s(), 1.0 / (3.0 * 600.0));
    }
}
