//! Writes names in order, one a line or with zero bytes between.

use std::io::{self, Write};

use crate::list::Separator;
use crate::number::excerpt_bytes;

/// Why a list could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ListOutError {
    /// The output could not be written.
    #[error("cannot write: {0}")]
    Io(#[from] io::Error),
    /// A name that a list of lines cannot hold.
    #[error(
        "name {number} (\"{name}\") holds a line feed, which a list of lines cannot; write it NUL-separated"
    )]
    Newline {
        /// Its place in the list, from 1.
        number: u64,
        /// The name, shortened.
        name: String,
    },
    /// A name with a carriage return at its end, which reading the list would drop.
    #[error(
        "name {number} (\"{name}\") ends in a carriage return, which a list of lines loses; write it NUL-separated"
    )]
    CarriageReturn {
        /// Its place in the list, from 1.
        number: u64,
        /// The name, shortened.
        name: String,
    },
    /// A name that no list can hold.
    #[error("name {number} is empty or holds a zero byte; no file has such a name")]
    NotAName {
        /// Its place in the list, from 1.
        number: u64,
    },
}

/// Writes names in the order given; any bytes are allowed that the separator allows.
///
/// # Errors
/// At the first name that reading the list would not give back, or when writing fails. What stands before it was
/// written.
pub fn write_list<N: AsRef<[u8]>>(
    out: &mut impl Write,
    names: impl IntoIterator<Item = N>,
    separator: Separator,
) -> Result<(), ListOutError> {
    for (at, name) in names.into_iter().enumerate() {
        let name = name.as_ref();
        let number = at as u64 + 1;
        if name.is_empty() || name.contains(&0) {
            return Err(ListOutError::NotAName { number });
        }
        match separator {
            Separator::Nul => {
                out.write_all(name)?;
                out.write_all(b"\0")?;
            }
            Separator::Newline => {
                if name.contains(&b'\n') {
                    return Err(ListOutError::Newline {
                        number,
                        name: excerpt_bytes(name),
                    });
                }
                if name.ends_with(b"\r") {
                    return Err(ListOutError::CarriageReturn {
                        number,
                        name: excerpt_bytes(name),
                    });
                }
                out.write_all(name)?;
                out.write_all(b"\n")?;
            }
        }
    }
    Ok(())
}
