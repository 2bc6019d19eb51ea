//! What serde_json says of a text, without the line that it names.

/// serde_json ends its messages with "at line 1 column 7"; the line would be wrong here.
pub(crate) fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(at) => text[..at].to_string(),
        None => text,
    }
}
