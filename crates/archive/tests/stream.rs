//! The ring between two threads: what goes in comes out, in the same buffers, and the first error
//! ends both sides.

use std::collections::BTreeSet;
use std::io::{Error, Result};
use tapewise_archive::stream::{Ring, read_ahead, write_behind};
use tapewise_run::{Buffer, Item, Piece, Sink, Source};

fn piece(visit: u32) -> Piece {
    Piece {
        visit,
        segment: 0,
        partition: 0,
        first_block: 0,
        last_block: 99,
    }
}

/// Sees what passes, and fails where told.
#[derive(Default)]
struct Seen {
    blocks: Vec<(u64, u8)>,
    filemarks: u32,
    begun: u32,
    ended: u32,
    addresses: BTreeSet<usize>,
    fails_at_block: Option<u64>,
    fails_at_end: bool,
}

impl Sink for Seen {
    fn begin(&mut self, _: &Piece) -> Result<()> {
        self.begun += 1;
        Ok(())
    }

    fn item(&mut self, _: &Piece, block: u64, item: Item<'_>) -> Result<()> {
        if self.fails_at_block == Some(block) {
            return Err(Error::other("the sink is full"));
        }
        match item {
            Item::Block(buffer) => {
                self.addresses.insert(buffer.as_ptr() as usize);
                self.blocks.push((block, buffer[0]));
            }
            Item::Filemark => self.filemarks += 1,
        }
        Ok(())
    }

    fn end(&mut self, _: &Piece) -> Result<()> {
        if self.fails_at_end {
            return Err(Error::other("the sum is wrong"));
        }
        self.ended += 1;
        Ok(())
    }
}

/// A drive that is infinitely fast: a hundred blocks, every tenth a filemark.
fn read(buffer: &mut Buffer, sink: &mut dyn Sink, visit: u32) -> Result<()> {
    let piece = piece(visit);
    sink.begin(&piece)?;
    for block in 0..100u64 {
        if block % 10 == 9 {
            sink.item(&piece, block, Item::Filemark)?;
            continue;
        }
        buffer.room()[0] = block as u8;
        buffer.fill(512);
        sink.item(&piece, block, Item::Block(buffer))?;
    }
    sink.end(&piece)
}

#[test]
fn what_is_read_comes_out_in_order_through_the_same_few_buffers() {
    let mut ring = Ring::new(4, 512);
    let mut own = Buffer::new(512);
    let mut seen = Seen::default();
    for round in 1..=3 {
        let (done, unheard) = read_ahead(&mut ring, &mut seen, |sink| {
            read(&mut own, sink, 1)?;
            read(&mut own, sink, 2)
        });
        done.and(unheard).expect("all of it");
        assert_eq!((seen.begun, seen.ended), (2 * round, 2 * round));
    }
    let expected = (0..100u64).filter(|block| block % 10 != 9);
    let expected: Vec<(u64, u8)> = expected.map(|block| (block, block as u8)).collect();
    assert_eq!(seen.blocks, expected.repeat(6));
    assert_eq!(seen.filemarks, 60);
    // Four of the ring and the drive's own, however often: nothing is made on the way.
    assert_eq!(seen.addresses.len(), 5);
}

#[test]
fn a_sink_that_fails_ends_the_reading_with_its_own_words_at_the_latest_at_the_pieces_end() {
    for failing in [
        Seen {
            fails_at_block: Some(50),
            ..Seen::default()
        },
        Seen {
            fails_at_block: Some(98),
            ..Seen::default()
        },
        Seen {
            fails_at_end: true,
            ..Seen::default()
        },
    ] {
        let mut seen = failing;
        let mut ring = Ring::new(4, 512);
        let mut own = Buffer::new(512);
        let (failed, unheard) = read_ahead(&mut ring, &mut seen, |sink| -> Result<()> {
            read(&mut own, sink, 1)?;
            panic!("the piece was said to have ended");
        });
        unheard.expect("an error is said once");
        let said = failed.expect_err("an error").to_string();
        assert!(
            ["the sink is full", "the sum is wrong"].contains(&said.as_str()),
            "{said}"
        );
        assert_eq!(seen.ended, 0);
        // The ring makes up for what was lost.
        let mut whole = Seen::default();
        let (done, unheard) = read_ahead(&mut ring, &mut whole, |sink| read(&mut own, sink, 1));
        done.and(unheard).expect("all of it");
        assert_eq!(whole.blocks.len(), 90);
    }
}

#[test]
fn a_drive_that_fails_in_a_piece_may_begin_it_again_or_go_on_elsewhere() {
    let mut ring = Ring::new(4, 512);
    let mut own = Buffer::new(512);
    let mut seen = Seen::default();
    let (done, unheard) = read_ahead(&mut ring, &mut seen, |sink| {
        sink.begin(&piece(1))?;
        own.fill(512);
        sink.item(&piece(1), 0, Item::Block(&mut own))?;
        read(&mut own, sink, 1)
    });
    done.and(unheard).expect("all of it");
    assert_eq!((seen.begun, seen.ended, seen.blocks.len()), (2, 1, 91));
}

#[test]
fn what_the_sink_says_behind_the_last_block_of_a_piece_that_was_given_up_is_not_lost() {
    let mut ring = Ring::new(4, 512);
    let mut own = Buffer::new(512);
    let mut seen = Seen {
        fails_at_block: Some(0),
        ..Seen::default()
    };
    let (given_up, unheard) = read_ahead(&mut ring, &mut seen, |sink| -> Result<()> {
        sink.begin(&piece(1))?;
        own.fill(512);
        sink.item(&piece(1), 0, Item::Block(&mut own))
    });
    given_up.expect("the drive could not know");
    let said = unheard.expect_err("an error").to_string();
    assert_eq!(said, "the sink is full");
}

#[test]
fn what_is_made_is_written_in_runs_that_end_where_something_begins() {
    let mut ring = Ring::new(3, 512);
    let (made, runs) = write_behind(
        &mut ring,
        2_000,
        |filling| {
            for block in 0..20u8 {
                let mut buffer = filling.buffer().expect("somebody writes");
                assert!(buffer.is_empty());
                buffer.push(&[block; 512]);
                filling
                    .give(buffer, block % 3 == 0)
                    .expect("somebody writes");
            }
            "made"
        },
        |draining| {
            let mut runs = vec![Vec::new()];
            while !draining.has_ended() {
                while let Some(block) = draining.block().expect("a block") {
                    assert_eq!(block.len(), 512);
                    runs.last_mut().expect("a run").push(block[0]);
                }
                runs.push(Vec::new());
            }
            runs
        },
    )
    .expect("a thread");
    assert_eq!(made, "made");
    // Four blocks are more than 2,000 bytes, and a run begins with a multiple of three.
    let expected = [0..6, 6..12, 12..18, 18..20, 0..0];
    assert_eq!(runs, expected.map(|run| run.collect::<Vec<u8>>()));
}

#[test]
fn when_nobody_writes_any_more_nothing_more_is_made() {
    let mut ring = Ring::new(3, 512);
    let (made, written) = write_behind(
        &mut ring,
        1,
        |filling| {
            let mut made = 0u32;
            while let Some(buffer) = filling.buffer() {
                if filling.give(buffer, false).is_none() {
                    break;
                }
                made += 1;
            }
            made
        },
        |draining| {
            for _ in 0..5 {
                draining.block().expect("a block").expect("more");
            }
            "the tape is full"
        },
    )
    .expect("a thread");
    assert_eq!(written, "the tape is full");
    assert!((5..=9).contains(&made), "{made}");
}
