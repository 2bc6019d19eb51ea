//! What it costs to keep a drive, by time: a price for each bin of ticks, zero after the last.

/// Prices, with their running sums.
pub(super) struct Prices {
    /// Ticks of a bin.
    bin: usize,
    prices: Vec<i64>,
    /// By tick: all prices before it.
    sums: Vec<i64>,
    highest: i64,
}

impl Prices {
    /// Nothing costs anything.
    pub(super) fn new(ticks: usize, bin: usize) -> Prices {
        let bins = ticks / bin + 1;
        Prices {
            bin,
            prices: vec![0; bins],
            sums: vec![0; bins * bin + 1],
            highest: 0,
        }
    }

    pub(super) fn bins(&self) -> usize {
        self.prices.len()
    }

    /// The first tick from which on everything is free.
    pub(super) fn end(&self) -> i64 {
        self.sums.len() as i64 - 1
    }

    /// The price of one drive all the time.
    pub(super) fn sum(&self) -> i64 {
        self.before(self.end())
    }

    /// The price of one drive from the beginning to a tick.
    #[inline]
    pub(super) fn before(&self, tick: i64) -> i64 {
        self.sums[tick.clamp(0, self.end()) as usize]
    }

    /// The bin that a tick is in.
    #[inline]
    pub(super) fn bin_of(&self, tick: i64) -> usize {
        tick.max(0) as usize / self.bin
    }

    /// The highest price.
    pub(super) fn highest(&self) -> i64 {
        self.highest
    }

    /// The price in a bin.
    #[inline]
    pub(super) fn at(&self, bin: usize) -> i64 {
        self.prices.get(bin).copied().unwrap_or(0)
    }

    /// Counts a drive kept from one tick to another.
    pub(super) fn count(&self, used: &mut [i64], from: i64, to: i64) {
        let mut at = from.max(0);
        while at < to {
            let bin = self.bin_of(at);
            let Some(sum) = used.get_mut(bin) else { return };
            let next = ((bin + 1) * self.bin) as i64;
            *sum += next.min(to) - at;
            at = next;
        }
    }

    /// Raises prices where more drives are used than there are, and lowers them where fewer are: a
    /// step of Polyak's, as long as `gap` says. Whether there is anything to change.
    pub(super) fn follow(&mut self, used: &[i64], drives: u32, gap: f64) -> bool {
        let there = i64::from(drives) * self.bin as i64;
        let excess = |used: i64, price: i64| match used - there {
            less if price == 0 && less < 0 => 0,
            excess => excess,
        };
        let squares = used.iter().zip(&self.prices);
        let squares: f64 = squares
            .map(|(&used, &price)| (excess(used, price) as f64).powi(2))
            .sum();
        if squares == 0.0 {
            return false;
        }
        let step = gap / squares;
        for (price, &used) in self.prices.iter_mut().zip(used) {
            let change = excess(used, *price) as f64 * step;
            *price = (*price + change.round() as i64).max(0);
        }
        self.add_up();
        true
    }

    /// All prices, one for each bin.
    pub(super) fn all(&self) -> &[i64] {
        &self.prices
    }

    /// Takes prices, one for each bin.
    pub(super) fn set(&mut self, prices: Vec<i64>) {
        self.prices = prices;
        self.add_up();
    }

    fn add_up(&mut self) {
        self.highest = self.prices.iter().copied().fold(0, i64::max);
        let mut sum = 0;
        for tick in 0..self.prices.len() * self.bin {
            self.sums[tick] = sum;
            sum += self.prices[tick / self.bin];
        }
        self.sums[self.prices.len() * self.bin] = sum;
    }
}
