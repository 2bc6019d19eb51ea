//! The sense bytes of a drive: what happened, and where the head is.

use super::{Drive, Threading};
use crate::check::Check;
use crate::inquiry::padded;
use crate::kind::Family;
use tapewise_scsi::SenseBytes;

impl Drive {
    /// Sense data for a check: 18 bytes, or the 96 that LTO and 3592 drives send, with volume,
    /// physical wrap, longitudinal position and block number.
    pub fn sense(&self, check: &Check, opcode: u8) -> SenseBytes {
        let fixed = check.fixed();
        if !self.kind.features.position_in_sense {
            return SenseBytes::new(&fixed);
        }
        let mut sense = [0; 96];
        sense[..18].copy_from_slice(&fixed);
        sense[7] = 96 - 8;
        sense[21] = u8::from(self.wants_cleaning()) << 3;
        sense[41] = opcode;
        if let Some(loaded) = &self.loaded {
            // The label field has seven characters: six of the volume and one of its type.
            sense[21] |= 1;
            sense[22..29].copy_from_slice(&padded::<7>(&loaded.barcode));
            sense[36] = loaded.partition & 7;
            sense[42] = self.generation() << 4;
            sense[43..45].copy_from_slice(&self.label_type());
            sense[45..49].copy_from_slice(&(loaded.object as u32).to_be_bytes());
            sense[86..96].copy_from_slice(&padded::<10>(&loaded.medium.memory.serial));
            if let (Threading::Ready, Some(mechanics)) = (loaded.state, &loaded.mechanics) {
                let head = mechanics.head();
                // One byte for the wrap: FFh above 254.
                sense[29] = u8::try_from(head.wrap).map_or(0xff, |wrap| wrap);
                sense[30..34].copy_from_slice(&(head.lpos.round() as u32).to_be_bytes());
                sense[40] = 0x80 | u8::from(loaded.medium.partition_count() > 1) << 6;
            }
        }
        SenseBytes::new(&sense)
    }

    /// Generation of the cartridge in LTO's count, 0 for others.
    fn generation(&self) -> u8 {
        let name = self.kind.name.strip_prefix("lto").unwrap_or_default();
        let digits: String = name.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap_or(0)
    }

    /// The last two characters of a label: "L8", "M8".
    fn label_type(&self) -> [u8; 2] {
        match self.kind.name.as_str() {
            "lto7-m8" => *b"M8",
            "lto10" => *b"LA",
            "lto10p" => *b"PA",
            _ if self.kind.family == Family::Lto => [b'L', b'0' + self.generation()],
            _ => [0; 2],
        }
    }
}
