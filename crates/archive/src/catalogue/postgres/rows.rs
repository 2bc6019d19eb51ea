//! Rows in the binary format of COPY, as PostgreSQL's documentation of COPY describes it.
//!
//! The driver's own writer hands each row to its runtime, which takes as long as all else that is done for a row. Here
//! many rows go at once.

use crate::catalogue::sql::Value;
use crate::catalogue::{CatalogueError, Result};
use ::postgres::CopyInWriter;
use ::postgres::types::{IsNull, ToSql, Type};
use bytes::{BufMut, BytesMut};
use std::io::{self, Write};

/// Bytes that are sent at once.
const SENT: usize = 1 << 16;

/// The signature, no flags, and no extension.
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// Stands for the length of a value that is null, and for the number of values after the last row.
const NONE: i16 = -1;

/// Rows on their way into a table.
pub(super) struct Rows<'a> {
    writer: CopyInWriter<'a>,
    types: &'a [Type],
    kept: BytesMut,
}

impl<'a> Rows<'a> {
    pub(super) fn new(writer: CopyInWriter<'a>, types: &'a [Type]) -> Rows<'a> {
        Rows {
            writer,
            types,
            kept: BytesMut::from(HEADER),
        }
    }

    /// Adds a row, whose values are of the table's types.
    pub(super) fn write(&mut self, row: &[Value<'_>]) -> Result<()> {
        encode(row, self.types, &mut self.kept).map_err(CatalogueError::Database)?;
        if self.kept.len() >= SENT {
            self.send()?;
        }
        Ok(())
    }

    fn send(&mut self) -> Result<()> {
        self.writer.write_all(&self.kept).map_err(told)?;
        self.kept.clear();
        Ok(())
    }

    /// Ends the list of rows, which the server enters now or not at all.
    pub(super) fn finish(mut self) -> Result<()> {
        self.kept.put_i16(NONE);
        self.send()?;
        self.writer.finish()?;
        Ok(())
    }
}

/// What the server or the connection says, which the driver hands on as an error of writing.
fn told(error: io::Error) -> CatalogueError {
    match error.downcast::<::postgres::Error>() {
        Ok(error) => error.into(),
        Err(error) => CatalogueError::Database(Box::new(error)),
    }
}

/// The number of values, and each with its length in front.
fn encode(
    row: &[Value<'_>],
    types: &[Type],
    out: &mut BytesMut,
) -> std::result::Result<(), Box<dyn std::error::Error + Sync + Send>> {
    assert_eq!(row.len(), types.len(), "a value for each column");
    out.put_i16(i16::try_from(row.len())?);
    for (value, column) in row.iter().zip(types) {
        let at = out.len();
        out.put_i32(NONE.into());
        if let IsNull::No = value.to_sql(column, out)? {
            let bytes = i32::try_from(out.len() - at - 4)?;
            out[at..at + 4].copy_from_slice(&bytes.to_be_bytes());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_length_in_front_and_a_null_has_minus_one() {
        let row = [Value::Integer(7), Value::Null, Value::Text("ab")];
        let mut out = BytesMut::new();
        encode(&row, &[Type::INT8, Type::INT8, Type::TEXT], &mut out).expect("encoded");
        let mut expected = vec![0, 3, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 7];
        expected.extend([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 2, b'a', b'b']);
        assert_eq!(out, expected);
    }
}
