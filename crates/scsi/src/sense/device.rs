//! What LTO drives add to fixed sense data: where the head is, and the state of drive and cartridge.
//!
//! The layout is IBM's 96-byte form (LTO Ultrium SCSI Reference, REQUEST SENSE; CERN 2018, Table 125).
//! Other makers send shorter data, so that these fields do not exist there.

use crate::bytes::{Fields, text};

/// The device-specific bytes from 18 on. What the drive did not send is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceSense {
    /// The cartridge's label, where the drive says that it is valid (byte 21, bits 22-28).
    pub volume_label: Option<String>,
    /// A drive dump is ready to be fetched (byte 21, bit 1).
    pub has_dump: Option<bool>,
    /// The drive asks to be cleaned (byte 21, bit 3).
    pub needs_cleaning: Option<bool>,
    /// The drive asks for service (byte 21, bit 4).
    pub needs_service: Option<bool>,
    /// The PHYSICAL WRAP byte as sent (byte 29): FFh stands for every wrap above 254.
    pub physical_wrap_byte: Option<u8>,
    /// RELATIVE LPOS VALUE (bytes 30-33).
    pub lpos: Option<u32>,
    /// Active partition (byte 36, three bits).
    pub partition: Option<u8>,
    /// The tape directory is valid: locates need no search (byte 40, bit 7).
    pub tape_directory_valid: Option<bool>,
    /// The operation code that the sense belongs to (byte 41).
    pub opcode: Option<u8>,
    /// Cartridge generation (byte 42, high four bits).
    pub cartridge_generation: Option<u8>,
    /// The kind of cartridge as its label ends: "L8", "M8" (bytes 43-44); empty without a cartridge.
    pub label_type: Option<String>,
    /// Logical block number (bytes 45-48).
    pub logical_block: Option<u32>,
    /// Data set number (bytes 49-52).
    pub data_set: Option<u32>,
    /// Fault symptom code (bytes 53-54).
    pub fault_symptom: Option<u16>,
    /// LPOS region (byte 69), whose meaning is not public.
    pub lpos_region: Option<u8>,
    /// The cartridge's serial number (bytes 86-95).
    pub cartridge_serial: Option<String>,
}

impl DeviceSense {
    /// The bytes of fixed-format sense data, from its first.
    pub(crate) fn decode(bytes: &[u8]) -> DeviceSense {
        let sense = Fields::new("sense data", bytes);
        let bit = |at, bit| sense.bit(at, bit).ok();
        let label_is_valid = bit(21, 0) == Some(true);
        DeviceSense {
            volume_label: sense.text(22, 7).ok().filter(|_| label_is_valid),
            has_dump: bit(21, 1),
            needs_cleaning: bit(21, 3),
            needs_service: bit(21, 4),
            physical_wrap_byte: sense.u8(29).ok(),
            lpos: sense.u32(30).ok(),
            partition: sense.u8(36).ok().map(|byte| byte & 0x07),
            tape_directory_valid: bit(40, 7),
            opcode: sense.u8(41).ok(),
            cartridge_generation: sense.u8(42).ok().map(|byte| byte >> 4),
            label_type: sense.text(43, 2).ok(),
            logical_block: sense.u32(45).ok(),
            data_set: sense.u32(49).ok(),
            fault_symptom: sense.u16(53).ok(),
            lpos_region: sense.u8(69).ok(),
            cartridge_serial: sense.slice(86, 10).ok().map(text),
        }
    }

    /// The physical wrap, where one byte can say it: FFh is any wrap above 254.
    pub fn wrap(&self) -> Option<u16> {
        self.physical_wrap_byte
            .filter(|byte| *byte != 0xff)
            .map(u16::from)
    }

    /// Whether the drive fills these fields at all. Emulations send 96 bytes of which these are zero;
    /// a drive with a cartridge loaded names the cartridge's kind.
    pub fn is_filled(&self) -> bool {
        self.lpos.is_some()
            && self
                .label_type
                .as_ref()
                .is_some_and(|kind| !kind.is_empty())
    }
}
