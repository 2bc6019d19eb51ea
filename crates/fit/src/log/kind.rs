//! Which kind of log a file is: as the caller says, or by its first lines.

use super::LogError;

/// What a caller may say of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Event logs of tapewise.
    Events,
    /// CSV; its columns say of what.
    Csv,
    /// The log of CTA's tape daemon.
    Cta,
}

/// How a log is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogKind {
    /// Event logs of tapewise: [`tapewise_formats::event_log`].
    Events,
    /// CSV with positions: [`tapewise_formats::locate_csv`].
    Locates,
    /// CSV with block numbers: [`tapewise_formats::block_moves_csv`].
    BlockMoves,
    /// The log of CTA's tape daemon: [`tapewise_formats::cta_log`].
    Cta,
}

impl LogKind {
    /// What it is called in messages.
    pub fn name(self) -> &'static str {
        match self {
            LogKind::Events => "event log",
            LogKind::Locates => "CSV with positions",
            LogKind::BlockMoves => "CSV with block numbers",
            LogKind::Cta => "log of cta-taped",
        }
    }
}

/// Bytes from the beginning of a log that are enough to recognise it by.
pub const HEAD_BYTES: u64 = 64 << 10;

/// What every gzip file begins with.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The kind of a log, from its first [`HEAD_BYTES`].
///
/// # Errors
/// [`LogError::Gzip`] for a compressed file, which is not read.
pub fn recognise(head: &[u8], given: Option<LogFormat>) -> Result<LogKind, LogError> {
    if head.starts_with(&GZIP) {
        return Err(LogError::Gzip);
    }
    let text = String::from_utf8_lossy(head);
    Ok(match given {
        Some(LogFormat::Events) => LogKind::Events,
        Some(LogFormat::Cta) => LogKind::Cta,
        Some(LogFormat::Csv) => by_columns(&text),
        None if is_events(&text) => LogKind::Events,
        None if is_cta(&text) => LogKind::Cta,
        None => by_columns(&text),
    })
}

/// The first line that is not blank.
fn first_line(text: &str) -> &str {
    let mut lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    lines.find(|line| !line.is_empty()).unwrap_or("")
}

/// JSON that is not of CTA: its daemon writes a message into each line, tapewise into none.
fn is_events(text: &str) -> bool {
    let line = first_line(text);
    line.starts_with('{') && !line.contains("\"message\"")
}

/// Lines of CTA's logger in either format, whatever another program wrote in front of them.
fn is_cta(text: &str) -> bool {
    let mut lines = text.lines();
    lines.any(|line| line.contains(" MSG=\"") || line.contains("\"message\""))
}

fn by_columns(text: &str) -> LogKind {
    let header = first_line(text).to_lowercase();
    let names = |wanted: &[&str]| wanted.iter().any(|name| header.contains(name));
    if names(&["from_block", "to_block"]) && !names(&["from_lpos", "to_lpos"]) {
        LogKind::BlockMoves
    } else {
        LogKind::Locates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_recognised_by_their_first_lines() {
        let auto = |text: &str| recognise(text.as_bytes(), None).unwrap();
        assert_eq!(
            auto("\n{\"tapewise_events\":1,\"tool\":\"x\"}\n"),
            LogKind::Events
        );
        assert_eq!(
            auto("{\"log_level\":\"INFO\",\"message\":\"x\"}\n"),
            LogKind::Cta
        );
        assert_eq!(
            auto("-- Journal begins\nAug 24 srv cta-taped: LVL=\"INFO\" MSG=\"x\"\n"),
            LogKind::Cta
        );
        assert_eq!(
            auto("\u{feff}Volume;From_Block;To_Block;locate_s\n"),
            LogKind::BlockMoves
        );
        // Positions are better than blocks, where a file has both.
        assert_eq!(
            auto("from_block,from_wrap,from_lpos,to_block,to_wrap,to_lpos,locate_s\n"),
            LogKind::Locates
        );
        assert_eq!(auto(""), LogKind::Locates);
    }

    #[test]
    fn what_the_caller_says_counts_more_than_what_is_seen() {
        let given = |format| recognise(b"from_block,to_block\n", Some(format)).unwrap();
        assert_eq!(given(LogFormat::Cta), LogKind::Cta);
        assert_eq!(given(LogFormat::Events), LogKind::Events);
        assert_eq!(given(LogFormat::Csv), LogKind::BlockMoves);
    }

    #[test]
    fn a_compressed_log_is_refused_as_one() {
        let error = recognise(&[0x1f, 0x8b, 8, 0], None).unwrap_err();
        assert!(matches!(error, LogError::Gzip));
    }
}
