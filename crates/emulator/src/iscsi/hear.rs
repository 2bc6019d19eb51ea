//! What somebody sends, decoded without a connection: for tests that send anything.

use super::login::{Chap, LoginPhase};
use super::pdu::{HEADER, Lengths, Request};
use super::text;

/// Most PDUs that are looked at.
const MOST: usize = 64;

/// Decodes bytes as the PDUs of an initiator, one after the other, and lets logins among them go through the login
/// phase of a target that requires CHAP. Returns how many there were, and whether one of them logged in.
///
/// Nothing is sent, and nobody waits: it is how a fuzzer sees the protocol.
pub fn hear(mut bytes: &[u8]) -> (usize, bool) {
    let chap = Chap {
        user: "reader".to_owned(),
        secret: "a secret of some length".to_owned(),
        own: Some(("library".to_owned(), "another secret".to_owned())),
    };
    let mut phase = LoginPhase::new("iqn.2026-11.net.tapewise:heard", Some(&chap), [7; 16]);
    let mut is_in = false;
    let mut heard = 0;
    while heard < MOST {
        let Some((header, rest)) = bytes.split_first_chunk::<HEADER>() else {
            break;
        };
        heard += 1;
        let lengths = Lengths::of(header);
        let after = rest.get(lengths.additional..).unwrap_or_default();
        let data = &after[..lengths.data.min(after.len())];
        let padded = lengths.data.next_multiple_of(4);
        bytes = after.get(padded..).unwrap_or_default();
        let pairs = text::parse(data);
        if let (Request::Login(login), Ok(pairs)) = (Request::decode(header), pairs)
            && let Ok(step) = phase.step(&login, &pairs)
        {
            text::encode(&step.pairs);
            is_in |= step.is_done;
        }
    }
    (heard, is_in)
}
