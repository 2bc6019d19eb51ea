//! The C face with numbers of an enemy: whatever they are, no call panics, and an order has every request once.

use tapewise_capi::batch::{Batch, Wish};
use tapewise_capi::cartridge::{open, with_layout, with_places, with_wrap_ends};
use tapewise_capi::values::{Extent, Location, Place, WrapEnd};

const PROFILES: [&str; 6] = ["lto8", "lto1", "dlt4000", "dat-4mm", "lto9", "ibm3570c"];
const MOST_REQUESTS: usize = 12;

/// Numbers from bytes, in the order in which they are asked for; 0 when there are no more.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        first
    }

    /// A number of as many bytes as the first one says.
    fn long(&mut self) -> u64 {
        let bytes = self.byte() % 9;
        (0..bytes).fold(0, |number, _| number << 8 | u64::from(self.byte()))
    }

    fn short(&mut self) -> u32 {
        self.long() as u32
    }

    fn location(&mut self) -> Location {
        Location {
            at: u32::from(self.byte() % 8),
            partition: self.short(),
            block: self.long(),
            wrap: self.short(),
            lpos: self.short(),
        }
    }

    fn extent(&mut self) -> Extent {
        Extent {
            first_block: self.long(),
            blocks: self.long(),
            bytes: self.long(),
            deadline_us: self.long(),
            priority: self.long() as i64,
            flags: u32::from(self.byte()),
            partition: u32::from(self.byte() % 5),
            start_wrap: self.short(),
            start_lpos: self.short(),
            end_wrap: self.short(),
            end_lpos: self.short(),
        }
    }
}

pub fn capi(bytes: &[u8]) {
    let mut numbers = Numbers(bytes);
    let profile = PROFILES[usize::from(numbers.byte()) % PROFILES.len()];
    let Ok(mut cartridge) = open(profile) else {
        return;
    };
    let count = usize::from(numbers.byte() % 5);
    let changed = match numbers.byte() % 4 {
        0 => {
            let end = |numbers: &mut Numbers| WrapEnd {
                block: numbers.long(),
                wrap: numbers.short(),
                partition: u32::from(numbers.byte() % 5),
            };
            let ends: Vec<WrapEnd> = (0..count).map(|_| end(&mut numbers)).collect();
            with_wrap_ends(&cartridge, &ends)
        }
        1 => {
            let place = |numbers: &mut Numbers| Place {
                block: numbers.long(),
                wrap: numbers.short(),
                lpos: numbers.short(),
                partition: u32::from(numbers.byte() % 5),
                reserved: 0,
            };
            let places: Vec<Place> = (0..count).map(|_| place(&mut numbers)).collect();
            with_places(&cartridge, &places, numbers.long())
        }
        _ => with_layout(&cartridge, u32::from(numbers.byte() % 3)),
    };
    if let Ok(changed) = changed {
        cartridge = changed;
    }
    let block_bytes = numbers.long();
    if let Ok(batch) = Batch::new(&cartridge, block_bytes, u32::from(numbers.byte() % 2)) {
        order_twice(batch, &mut numbers);
    }
}

fn order_twice(mut batch: Batch, numbers: &mut Numbers) {
    let count = usize::from(numbers.byte()) % (MOST_REQUESTS + 1);
    let extents: Vec<Extent> = (0..count).map(|_| numbers.extent()).collect();
    let _ = batch.add(&extents);
    let (head, end) = (numbers.location(), numbers.location());
    let _ = batch.set_head(&head, &end);
    for _ in 0..2 {
        let wish = Wish {
            flags: u32::from(numbers.byte() % 4),
            objective: u32::from(numbers.byte() % 4),
            seed: numbers.long(),
            // Little work: what is looked for are panics.
            work: 1 + numbers.long() % 2_000,
            budget_us: 0,
            algorithm: None,
        };
        if let Ok((order, estimate)) = batch.order(&wish) {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), batch.count_waiting());
            assert_eq!(estimate.requests as usize, sorted.len());
            assert_eq!(
                batch.price(&order).map(|priced| priced.total_us),
                Ok(estimate.total_us)
            );
        }
        let some = [numbers.long(), numbers.long() % MOST_REQUESTS as u64];
        let _ = batch.price(&some);
        let _ = batch.mark_read(&some[1..]);
    }
}
