//! What independent targets answered to the same commands, as recorded in `fixtures/scsi`.

use tapewise_scsi::hex;

/// What was asked, and the data of a GOOD answer that is there in full.
pub type Exchange = (String, Option<Vec<u8>>);

/// The exchanges of one recording, in the order in which they were made.
pub fn exchanges(file: &str) -> Vec<Exchange> {
    let text = tapewise_house::text(&format!("scsi/{file}"));
    text.lines().filter_map(exchange).collect()
}

/// A line: a label, two spaces at least, the status, and after a bar or in a column of its own the
/// data. Data that was cut says so by dots.
fn exchange(line: &str) -> Option<Exchange> {
    let (label, rest) = line.split_once("  ")?;
    let rest = rest.trim();
    let (status, data) = match rest.split_once('|') {
        Some((status, data)) => (status, data),
        None => rest.split_once("   ").unwrap_or((rest, "")),
    };
    let is_whole = status.starts_with("GOOD") && !data.contains("..") && !data.trim().is_empty();
    let answer = is_whole.then(|| hex::parse(data.trim()).expect("recordings hold hex"));
    Some((label.to_owned(), answer))
}
