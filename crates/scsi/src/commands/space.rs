//! SPACE (11h, 91h): over blocks or filemarks (SSC-5, 7.15 and 6.15).

use super::timeouts;
use crate::cdb::Cdb;
use crate::command::Command;
use crate::decode_error::DecodeError;
use std::time::Duration;

/// What SPACE counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// Blocks, up to a filemark (code 0).
    Blocks,
    /// Filemarks (code 1).
    Filemarks,
    /// Filemarks in a row (code 2).
    SequentialFilemarks,
    /// All there is: to the end of data (code 3); the count does not matter.
    ToEndOfData,
}

impl Over {
    fn code(self) -> u8 {
        match self {
            Over::Blocks => 0,
            Over::Filemarks => 1,
            Over::SequentialFilemarks => 2,
            Over::ToEndOfData => 3,
        }
    }
}

/// SPACE(6): by at most 8,388,607 forwards, 8,388,608 backwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space6 {
    over: Over,
    count: i32,
}

impl Space6 {
    /// The largest count forwards.
    pub const MOST: i32 = 0x7f_ffff;

    /// Over so many, backwards when negative; none when the count does not fit 24 bits.
    pub fn new(over: Over, count: i64) -> Option<Space6> {
        let most = i64::from(Space6::MOST);
        (-most - 1..=most).contains(&count).then_some(Space6 {
            over,
            count: count as i32,
        })
    }
}

/// SPACE(16): by any count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space16 {
    /// What is counted.
    pub over: Over,
    /// How many, backwards when negative.
    pub count: i64,
}

impl Command for Space6 {
    type Answer = ();

    fn name(&self) -> &'static str {
        "SPACE(6)"
    }

    fn cdb(&self) -> Cdb {
        let [_, a, b, c] = self.count.to_be_bytes();
        Cdb::new([0x11, self.over.code(), a, b, c, 0])
    }

    fn timeout(&self) -> Duration {
        timeouts::LOCATE
    }

    fn decode(&self, _: &[u8]) -> Result<(), DecodeError> {
        Ok(())
    }
}

impl Command for Space16 {
    type Answer = ();

    fn name(&self) -> &'static str {
        "SPACE(16)"
    }

    fn cdb(&self) -> Cdb {
        let mut cdb = [0; 16];
        cdb[0] = 0x91;
        cdb[1] = self.over.code();
        cdb[4..12].copy_from_slice(&self.count.to_be_bytes());
        Cdb::new(cdb)
    }

    fn timeout(&self) -> Duration {
        timeouts::LOCATE
    }

    fn decode(&self, _: &[u8]) -> Result<(), DecodeError> {
        Ok(())
    }
}
