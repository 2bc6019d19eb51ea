//! Sense data for what Linux's tape driver tells by other means (SPC-5, 4.4.3, fixed format).

use crate::sense::NOT_BY_DRIVER;
use crate::transport::Completion;

/// A condition of the drive or the tape, as sense.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sense {
    /// The key in the low bits, FILEMARK, EOM and ILI above it: byte 2.
    key_and_flags: u8,
    code: u8,
    qualifier: u8,
}

impl Sense {
    pub(super) const FILEMARK: Sense = Sense::new(0x80, 0x00, 0x01);
    pub(super) const END_OF_MEDIUM: Sense = Sense::new(0x40, 0x00, 0x02);
    pub(super) const BEGIN_OF_PARTITION: Sense = Sense::new(0x40, 0x00, 0x04);
    pub(super) const INCORRECT_LENGTH: Sense = Sense::new(0x20, 0x00, 0x00);
    pub(super) const BECOMING_READY: Sense = Sense::new(0x02, 0x04, 0x01);
    pub(super) const NO_MEDIUM: Sense = Sense::new(0x02, 0x3a, 0x00);
    pub(super) const WRITE_PROTECTED: Sense = Sense::new(0x07, 0x27, 0x00);
    pub(super) const END_OF_DATA: Sense = Sense::new(0x08, 0x00, 0x05);
    pub(super) const VOLUME_OVERFLOW: Sense = Sense::new(0x4d, 0x00, 0x02);

    const fn new(key_and_flags: u8, code: u8, qualifier: u8) -> Sense {
        Sense {
            key_and_flags,
            code,
            qualifier,
        }
    }

    /// A CHECK CONDITION of it, without INFORMATION.
    pub(super) fn completion(self, transferred: usize) -> Completion {
        Completion::check_condition(transferred, &self.bytes())
    }

    /// A CHECK CONDITION of it, with what INFORMATION says.
    pub(super) fn completion_with(self, transferred: usize, information: i32) -> Completion {
        let mut bytes = self.bytes();
        bytes[0] |= 0x80;
        bytes[3..7].copy_from_slice(&information.to_be_bytes());
        Completion::check_condition(transferred, &bytes)
    }

    fn bytes(self) -> [u8; 18] {
        let mut bytes = [0; 18];
        bytes[0] = 0x70;
        bytes[2] = self.key_and_flags;
        bytes[7] = 10; // bytes that follow
        bytes[12] = self.code;
        bytes[13] = self.qualifier;
        bytes
    }
}

/// A command that the tape driver has no word for: our own qualifier says that the drive was not asked.
pub(super) fn not_by_driver() -> Completion {
    let [code, qualifier] = NOT_BY_DRIVER.to_be_bytes();
    Sense::new(0x05, code, qualifier).completion(0)
}

/// ILLEGAL REQUEST: 20h operation code, 24h field in the CDB, 26h field in the parameter list, 1Ah its length.
pub(super) fn illegal_request(code: u8) -> Completion {
    Sense::new(0x05, code, 0x00).completion(0)
}

/// Whether a bit of a byte is set.
pub(super) fn bit(byte: u8, bit: u32) -> bool {
    byte >> bit & 1 == 1
}
