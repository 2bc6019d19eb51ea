//! The bytes of a command.

use std::fmt;

/// A command descriptor block of 6, 10, 12 or 16 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cdb {
    bytes: [u8; 16],
    length: u8,
}

impl Cdb {
    /// A command of these bytes.
    ///
    /// # Panics
    /// When the length is not 6, 10, 12 or 16: a CDB is written in code, never read from input.
    pub const fn new<const N: usize>(bytes: [u8; N]) -> Cdb {
        const { assert!(N == 6 || N == 10 || N == 12 || N == 16) };
        let mut all = [0; 16];
        let mut at = 0;
        while at < N {
            all[at] = bytes[at];
            at += 1;
        }
        Cdb {
            bytes: all,
            length: N as u8,
        }
    }

    /// The bytes as they go over the wire.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// The operation code.
    pub fn opcode(&self) -> u8 {
        self.bytes[0]
    }

    /// The service action of the operation codes that have one (SPC-5, 4.2.5.1): bits 4-0 of byte 1.
    pub fn service_action(&self) -> u8 {
        self.bytes[1] & 0x1f
    }
}

impl fmt::Debug for Cdb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, byte) in self.bytes().iter().enumerate() {
            let space = if at == 0 { "" } else { " " };
            write!(f, "{space}{byte:02x}")?;
        }
        Ok(())
    }
}
