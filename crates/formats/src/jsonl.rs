//! Requests as JSON Lines: one object a line, with the field names of the CSV, or with a list of extents.
//!
//! ```json
//! {"id": "a", "start_block": 120, "block_count": 8, "priority": 2}
//! {"id": "b", "extents": [{"partition": 1, "start_block": 7, "size_bytes": 900, "file_offset": 0}]}
//! ```

use std::fmt;
use std::io::BufRead;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::bounded::{LineError, Lines};
use crate::fields::{Field, FieldOptions, Row, RowError};
use crate::format::{Content, Format, ReadError};
use crate::json_error::without_position;
use crate::notice::Notices;
use crate::number::excerpt;
use crate::request::{Request, Requests};

/// See [`crate::detect::FORMATS`].
pub const FORMAT: Format = Format {
    name: "jsonl",
    title: "JSON Lines",
    endings: &["jsonl", "ndjson"],
    recognise: |head| {
        let is_plan = crate::plan_json::FORMAT.recognise;
        (head.text().starts_with('{') && is_plan(head).is_none())
            .then_some("the first line is a JSON object")
    },
    content: Content::Requests {
        read: |input, options| read_json_lines(input, options).map_err(ReadError::new),
        block_bytes: None,
        is_text: true,
    },
};

/// The most fields of one object.
const MAX_FIELDS: usize = 1000;

/// Why JSON Lines of requests could not be read.
#[derive(Debug, thiserror::Error)]
pub enum JsonLinesError {
    /// A line could not be read.
    #[error(transparent)]
    Line(#[from] LineError),
    /// A line that is not a JSON object.
    #[error("line {line}, column {column}: {what}; each line is one JSON object")]
    NotJson {
        /// The line.
        line: u64,
        /// The column, from 1.
        column: usize,
        /// What is wrong.
        what: String,
    },
    /// A field that is not what its name says.
    #[error("line {line}: {source}")]
    Row {
        /// The line.
        line: u64,
        /// What is wrong.
        source: RowError,
    },
    /// A field of one extent that is not what its name says.
    #[error("line {line}, extent {extent}: {source}")]
    Extent {
        /// The line.
        line: u64,
        /// Which extent, from 1.
        extent: usize,
        /// What is wrong.
        source: RowError,
    },
}

/// Reads requests from JSON Lines; names of fields in upper or lower case, empty lines skipped.
///
/// Fields we do not know are kept in [`Request::extra`], as text. Extents keep their order. Memory grows with the
/// file.
///
/// # Errors
/// At the first thing that is wrong, with its line.
pub fn read_json_lines(
    input: impl BufRead,
    options: FieldOptions,
) -> Result<Requests, JsonLinesError> {
    let mut lines = Lines::new(input, b'\n');
    let mut notices = Notices::new();
    let (mut requests, mut numbers) = (Vec::new(), Vec::new());
    while let Some((line, bytes)) = lines.next()? {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if text.trim_ascii().is_empty() {
            continue;
        }
        let object: Object =
            serde_json::from_slice(text).map_err(|error| JsonLinesError::NotJson {
                line,
                column: error.column(),
                what: without_position(&error),
            })?;
        requests.push(request(object, line, options, &mut notices)?);
        numbers.push(line);
    }
    let ids = requests.iter().map(|request: &Request| request.id.as_str());
    notices.repeated_ids(ids.zip(numbers));
    Ok(Requests {
        requests,
        notices: notices.finish(),
    })
}

fn request(
    object: Object,
    line: u64,
    options: FieldOptions,
    notices: &mut Notices,
) -> Result<Request, JsonLinesError> {
    let place = |source| JsonLinesError::Row { line, source };
    let mut known = Vec::new();
    let mut extra = Vec::new();
    let mut extents = None;
    for (name, value) in object.0 {
        if name.eq_ignore_ascii_case("extents") {
            extents = Some(value);
        } else if let Some(field) = Field::find(&name) {
            known.extend(
                scalar(field, value)
                    .map_err(place)?
                    .map(|text| (field, text)),
            );
        } else {
            extra.push((name, as_text(value)));
        }
    }
    let mut row = Row::new();
    for (field, text) in &known {
        row.set(*field, text);
    }
    if row.get(Field::Id).is_none() {
        let instead = if row.get(Field::Path).is_some() {
            "path"
        } else {
            "line number"
        };
        notices.push("no-id", Some(line), || {
            format!("no id; the {instead} is used instead")
        });
    }
    let mut request = row.request(Some(line.to_string())).map_err(place)?;
    request.extra = extra;
    match extents {
        None => request.extents.extend(row.extent(options).map_err(place)?),
        Some(list) => {
            if let Some(field) = Field::ALL
                .iter()
                .find(|field| field.is_of_extent() && row.get(**field).is_some())
            {
                return Err(place(RowError::Conflict(format!(
                    "{} stands beside extents; put it inside them",
                    field.name()
                ))));
            }
            request.extents = extent_list(list, line, options, notices)?;
        }
    }
    Ok(request)
}

fn extent_list(
    list: Value,
    line: u64,
    options: FieldOptions,
    notices: &mut Notices,
) -> Result<Vec<crate::request::Extent>, JsonLinesError> {
    let bad = |text: String, expected: &str| RowError::BadValue {
        column: "extents",
        text: excerpt(&text),
        expected: expected.to_string(),
    };
    let Value::Array(list) = list else {
        return Err(JsonLinesError::Row {
            line,
            source: bad(list.to_string(), "a list of objects"),
        });
    };
    let mut extents = Vec::with_capacity(list.len());
    for (at, value) in list.into_iter().enumerate() {
        let place = |source| JsonLinesError::Extent {
            line,
            extent: at + 1,
            source,
        };
        let Value::Object(object) = value else {
            return Err(place(bad(value.to_string(), "an object")));
        };
        let mut known = Vec::new();
        for (name, value) in object {
            match Field::find(&name).filter(|field| field.is_of_extent()) {
                Some(field) => {
                    known.extend(
                        scalar(field, value)
                            .map_err(place)?
                            .map(|text| (field, text)),
                    );
                }
                None => notices.push("unknown-extent-field", Some(line), || {
                    format!(
                        "\"{}\" in an extent is not known and was ignored",
                        excerpt(&name)
                    )
                }),
            }
        }
        let mut row = Row::new();
        for (field, text) in &known {
            row.set(*field, text);
        }
        extents.extend(row.extent(options).map_err(place)?);
    }
    Ok(extents)
}

/// A field we know as text; `None` for null.
fn scalar(field: Field, value: Value) -> Result<Option<String>, RowError> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text)),
        Value::Number(number) => Ok(Some(number.to_string())),
        other => Err(RowError::BadValue {
            column: field.name(),
            text: excerpt(&other.to_string()),
            expected: "a number or a text".to_string(),
        }),
    }
}

fn as_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// The fields of one object in their order; a name that stands twice is an error, not the last of them.
struct Object(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor;
        impl<'de> Visitor<'de> for ObjectVisitor {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Object, M::Error> {
                let mut fields: Vec<(String, Value)> = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    // The search for doubles below is quadratic; no honest object comes near this.
                    if fields.len() >= MAX_FIELDS {
                        let what = format!("more than {MAX_FIELDS} fields");
                        return Err(serde::de::Error::custom(what));
                    }
                    if fields
                        .iter()
                        .any(|(other, _)| other.eq_ignore_ascii_case(&name))
                    {
                        let name = excerpt(&name);
                        return Err(serde::de::Error::custom(format!("\"{name}\" stands twice")));
                    }
                    fields.push((name, value));
                }
                Ok(Object(fields))
            }
        }
        deserializer.deserialize_map(ObjectVisitor)
    }
}
