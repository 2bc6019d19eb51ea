//! The envelope of every document: one object that first names its format and the version of the format.

use crate::error::CliError;
use serde::Serialize;

/// The version of every format but the plan's, which counts by itself. A field that changes its meaning raises it.
pub const VERSION: u32 = 1;

/// `{"format": "tapewise-...", "version": 1, ...}`: the fields of the body follow in the same object.
#[derive(Serialize)]
struct Envelope<'a, T> {
    format: String,
    version: u32,
    #[serde(flatten)]
    body: &'a T,
}

fn envelope<'a, T: Serialize>(verb: &str, body: &'a T) -> Envelope<'a, T> {
    Envelope {
        format: format!("tapewise-{verb}"),
        version: VERSION,
        body,
    }
}

/// The document of a verb as text, with a newline at its end. `verb` is as `drive-status`; the body has fields.
pub fn text(verb: &str, body: &impl Serialize) -> Result<String, CliError> {
    let text = serde_json::to_string_pretty(&envelope(verb, body)).map_err(CliError::failed)?;
    Ok(text + "\n")
}

/// The document of a verb in one line, for a verb that prints a document again and again.
pub fn line(verb: &str, body: &impl Serialize) -> Result<String, CliError> {
    let text = serde_json::to_string(&envelope(verb, body)).map_err(CliError::failed)?;
    Ok(text + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_and_version_come_first_and_the_fields_stay_beside_them() {
        #[derive(Serialize)]
        struct Body {
            ready: bool,
            block: Option<u64>,
        }
        let body = Body {
            ready: true,
            block: None,
        };
        let line = line("drive-status", &body).expect("a document");
        let expected =
            r#"{"format":"tapewise-drive-status","version":1,"ready":true,"block":null}"#;
        assert_eq!(line, format!("{expected}\n"));
        assert!(
            text("drive-status", &body)
                .expect("a document")
                .ends_with("}\n")
        );
        assert!(text("list", &[1, 2]).is_err(), "a list has no fields");
    }
}
