//! Names and serial numbers kept out of a report.

use tapewise_scsi::{Identity, Sense};
use xxhash_rust::xxh64::xxh64;

/// A name as six hex digits, such that reports of one drive or cartridge can be told to be so.
///
/// 24 bits are few on purpose: hundreds of serial numbers of a maker have the same digits, so that
/// nobody gets a number back by trying them all. Who holds a number can see whether it fits. The salt
/// is the same for everybody and names only the kind and this format.
pub fn pseudonym(kind: &str, name: &str) -> String {
    let salted = format!("tapewise drive report 1, {kind}: {}", name.trim());
    format!("{:06x}", xxh64(salted.as_bytes(), 0) & 0xff_ffff)
}

/// What stands in the place of a hidden byte.
const HIDDEN: u8 = b'X';

/// Names that must not appear in any answer.
#[derive(Debug, Default)]
pub struct Hidden {
    names: Vec<Vec<u8>>,
}

/// Shorter ones would hit bytes that are no names.
const SHORTEST_NAME: usize = 4;

impl Hidden {
    /// The drive's own names.
    pub fn of(identity: &Identity) -> Hidden {
        let mut hidden = Hidden::default();
        hidden.add(identity.serial.as_deref().unwrap_or_default());
        for designator in &identity.designators {
            hidden.add_bytes(&designator.bytes);
        }
        hidden
    }

    fn add(&mut self, name: &str) {
        self.add_bytes(name.trim().as_bytes());
    }

    fn add_bytes(&mut self, name: &[u8]) {
        if name.len() >= SHORTEST_NAME {
            self.names.push(name.to_vec());
        }
    }

    /// Hides what sense tells of the cartridge from now on.
    pub fn add_cartridge(&mut self, sense: &Sense) {
        let device = &sense.device;
        for name in [&device.volume_label, &device.cartridge_serial] {
            self.add(name.as_deref().unwrap_or_default());
        }
    }

    /// The answer with every name in it struck out.
    pub fn strike(&self, mut answer: Vec<u8>) -> Vec<u8> {
        for name in &self.names {
            let mut at = 0;
            while at + name.len() <= answer.len() {
                if answer[at..].starts_with(name) {
                    answer[at..at + name.len()].fill(HIDDEN);
                }
                at += 1;
            }
        }
        answer
    }
}

/// INQUIRY without the maker's own bytes, where some put serial numbers.
pub fn inquiry(mut answer: Vec<u8>) -> Vec<u8> {
    cover(&mut answer, 36, 56);
    cover(&mut answer, 96, usize::MAX);
    answer
}

/// Sense without the cartridge's label (bytes 22-28) and serial number (86-95 of IBM's form).
pub fn sense(mut answer: Vec<u8>) -> Vec<u8> {
    cover(&mut answer, 22, 29);
    cover(&mut answer, 86, 96);
    answer
}

/// Covers what is no zero: that nothing stood there is worth to know.
fn cover(answer: &mut [u8], from: usize, to: usize) {
    let to = to.min(answer.len());
    let part = answer.get_mut(from..to).unwrap_or_default();
    part.iter_mut()
        .filter(|byte| **byte != 0)
        .for_each(|byte| *byte = HIDDEN);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity {
        Identity {
            vendor: "IBM".to_owned(),
            product: "ULT3580-TD8".to_owned(),
            revision: "K4K1".to_owned(),
            serial: Some("10WT012345".to_owned()),
            designators: Vec::new(),
        }
    }

    #[test]
    fn a_name_is_struck_out_wherever_it_stands_in_an_answer() {
        let hidden = Hidden::of(&identity());
        let answer = b"..10WT012345..10WT01234510WT012345".to_vec();
        let struck = hidden.strike(answer);
        assert_eq!(struck, b"..XXXXXXXXXX..XXXXXXXXXXXXXXXXXXXX");
    }

    #[test]
    fn one_name_has_one_pseudonym_and_a_drive_and_a_cartridge_have_different_ones() {
        assert_eq!(pseudonym("drive", "A1 "), pseudonym("drive", "A1"));
        assert_ne!(pseudonym("drive", "A1"), pseudonym("cartridge", "A1"));
        assert_eq!(pseudonym("drive", "A1").len(), 6);
    }

    #[test]
    fn the_label_and_the_serial_number_in_sense_are_covered_and_the_position_is_not() {
        let bytes: Vec<u8> = (0..96).map(|at| at as u8 + 1).collect();
        let covered = sense(bytes.clone());
        for (at, (before, after)) in bytes.iter().zip(&covered).enumerate() {
            let named = (22..29).contains(&at) || at >= 86;
            assert_eq!(*after, if named { b'X' } else { *before }, "byte {at}");
        }
        assert_eq!(sense(vec![0; 18]), vec![0; 18]);
    }
}
