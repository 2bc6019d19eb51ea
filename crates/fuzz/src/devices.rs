//! What devices answer.

use tapewise_scsi::commands::DECODERS;
use tapewise_scsi::transports::Replay;
use tapewise_scsi::{Sense, hex as dump};

/// The first byte chooses the decoder, the rest is the answer.
pub(crate) fn decode_any(bytes: &[u8]) {
    let Some((&which, answer)) = bytes.split_first() else {
        return;
    };
    let decoder = &DECODERS[usize::from(which) % DECODERS.len()];
    let _ = (decoder.decode)(answer);
}

pub(crate) fn hex(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = dump::parse(text);
    }
}

pub(crate) fn replay(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = Replay::parse("fuzz", text);
    }
}

pub(crate) fn sense(bytes: &[u8]) {
    if let Ok(sense) = Sense::decode(bytes) {
        let _ = format!("{sense:?}");
    }
}
