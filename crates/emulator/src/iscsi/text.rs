//! Text segments: `key=value` pairs, each ended by a zero byte (RFC 7143, section 6).

/// Most bytes of text that one negotiation may have; what RFC 7143 lets a key have is far below.
pub(crate) const MOST: usize = 64 * 1024;

/// The pairs of a text segment, in their order.
///
/// # Errors
/// What is wrong, for the log: text that is no UTF-8, a pair without `=`.
pub(crate) fn parse(bytes: &[u8]) -> Result<Vec<(String, String)>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "text that is not UTF-8".to_owned())?;
    text.split('\0')
        .filter(|pair| !pair.is_empty())
        .map(|pair| match pair.split_once('=') {
            Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
            None => Err(format!(
                "text without an equals sign: {:?}",
                shortened(pair)
            )),
        })
        .collect()
}

/// The bytes of a text segment.
pub(crate) fn encode(pairs: &[(String, String)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (key, value) in pairs {
        bytes.extend(key.as_bytes());
        bytes.push(b'=');
        bytes.extend(value.as_bytes());
        bytes.push(0);
    }
    bytes
}

/// What somebody sent, as short as a line of the log.
pub(crate) fn shortened(text: &str) -> String {
    text.chars()
        .take(80)
        .map(|one| if one.is_control() { '?' } else { one })
        .collect()
}

/// Bytes in hex as CHAP has them, with `0x` before them; `None` for anything else, base 64 included.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text
        .strip_prefix("0x")
        .or_else(|| text.strip_prefix("0X"))?;
    let digits = digits.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    digits
        .chunks_exact(2)
        .map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?))
        .collect()
}

/// Bytes in hex as CHAP has them.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_and_written() {
        let bytes = b"InitiatorName=iqn.x:y\0SessionType=Discovery\0\0\0";
        let pairs = parse(bytes).unwrap();
        assert_eq!(pairs[1], ("SessionType".to_owned(), "Discovery".to_owned()));
        assert_eq!(
            encode(&pairs),
            b"InitiatorName=iqn.x:y\0SessionType=Discovery\0"
        );
        assert!(parse(b"InitiatorName\0").is_err());
        assert!(parse(b"a=\xff\0").is_err());
    }

    #[test]
    fn hex_goes_both_ways_and_odd_digits_do_not() {
        assert_eq!(from_hex("0x00ffA0"), Some(vec![0, 0xff, 0xa0]));
        assert_eq!(to_hex(&[0, 0xff, 0xa0]), "0x00ffa0");
        for wrong in ["0x0", "00ff", "0xzz", "0bAAAA"] {
            assert_eq!(from_hex(wrong), None, "{wrong}");
        }
    }
}
