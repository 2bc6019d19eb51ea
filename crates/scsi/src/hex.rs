//! Bytes as text: what `sg_raw`, `xxd`, a protocol analyser or a mail show, and back.

/// A text that is not hex.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {word:?} is not hex")]
pub struct HexError {
    /// The line, from 1.
    pub line: usize,
    /// The word that stopped it.
    pub word: String,
}

/// Reads hex: pairs or runs of digits, apart by white space, commas or a dash; `0x` before them; `#`
/// before a remark; and dumps, whose lines begin with an offset and may end with an ASCII column.
///
/// An offset is a first word that ends with a colon, or that says in hex how many bytes came before
/// it and stands apart: by two spaces, by three when it is no longer than a byte. On such a line the ASCII column begins at a `|`, at
/// a gap of three spaces, or at one of two after sixteen bytes.
///
/// # Errors
/// [`HexError`] with the first word that is none of these.
pub fn parse(text: &str) -> Result<Vec<u8>, HexError> {
    let mut bytes = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let (line, is_dump) = match after_offset(line.trim(), bytes.len()) {
            Some(rest) => (rest.split('|').next().unwrap_or(""), true),
            None => (line.split('#').next().unwrap_or(""), false),
        };
        parse_line(line, is_dump, &mut bytes).map_err(|word| HexError { line: at + 1, word })?;
    }
    Ok(bytes)
}

/// What follows the line's offset, if it begins with one.
fn after_offset(line: &str, read: usize) -> Option<&str> {
    let end = line.find(|c: char| c.is_whitespace() || c == ':')?;
    let (word, rest) = line.split_at(end);
    if let Some(rest) = rest.strip_prefix(':') {
        return Some(rest);
    }
    let digits = word.strip_prefix("0x").unwrap_or(word);
    let stands_apart = rest.starts_with(if digits.len() > 2 { "  " } else { "   " });
    (stands_apart && usize::from_str_radix(digits, 16) == Ok(read)).then_some(rest)
}

/// Adds the bytes of one line; the word that is not hex is the error.
fn parse_line(line: &str, is_dump: bool, bytes: &mut Vec<u8>) -> Result<(), String> {
    let mut on_line = 0;
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| c.is_whitespace() || c == ',')
            .unwrap_or(rest.len());
        let word = &rest[..end];
        if word != "-" && !word.is_empty() {
            let digits = word.strip_prefix("0x").unwrap_or(word);
            on_line += push(digits, bytes).ok_or_else(|| word.to_owned())?;
        }
        let after = rest[end..].strip_prefix(',').unwrap_or(&rest[end..]);
        rest = after.trim_start();
        let gap = after.len() - rest.len();
        if is_dump && (gap >= 3 || on_line >= 16 && gap >= 2) {
            break;
        }
    }
    Ok(())
}

/// Adds the bytes of one word, an even number of digits or a single one, and says how many.
fn push(digits: &str, bytes: &mut Vec<u8>) -> Option<usize> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    if digits.len() == 1 {
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        return Some(1);
    }
    if digits.len() % 2 == 1 {
        return None;
    }
    for at in (0..digits.len()).step_by(2) {
        bytes.push(u8::from_str_radix(&digits[at..at + 2], 16).ok()?);
    }
    Some(digits.len() / 2)
}

/// Bytes in hex with spaces between them.
pub fn plain(bytes: &[u8]) -> String {
    let words: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    words.join(" ")
}

/// Bytes as a dump: offset, sixteen bytes a line in two halves, and what of it is printable.
pub fn dump(bytes: &[u8]) -> String {
    let mut text = String::new();
    for (line, part) in bytes.chunks(16).enumerate() {
        let (left, right) = part.split_at(part.len().min(8));
        let hex = format!("{}  {}", plain(left), plain(right));
        let ascii: String = part
            .iter()
            .map(|byte| match byte {
                0x20..=0x7e => char::from(*byte),
                _ => '.',
            })
            .collect();
        text.push_str(&format!("{:08x}  {hex:<48}  |{ascii}|\n", line * 16));
    }
    text
}
