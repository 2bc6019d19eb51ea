//! Byte order marks: what a file of text may begin with.

/// The text without the mark that some programs put in front of UTF-8.
pub(crate) fn without_mark(start: &[u8]) -> &[u8] {
    start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start)
}

/// Whether the file begins with the mark of UTF-16, of either byte order.
pub(crate) fn is_utf_16(start: &[u8]) -> bool {
    start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff")
}
