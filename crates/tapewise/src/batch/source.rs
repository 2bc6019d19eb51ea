//! What a reader holds, and the requests in it.

use super::{Batch, BatchError, LtfsVolume, recognised};
use std::io::BufRead;
use tapewise_formats::fields::FieldOptions;
use tapewise_formats::{Content, Format};

/// Something to read, with the format that it has.
#[derive(Debug)]
pub struct Source<R> {
    name: String,
    reader: R,
    format: &'static Format,
    recognised: String,
}

impl<R: BufRead> Source<R> {
    /// Recognises the format by the first bytes, and by the name if these do not tell; `format` is
    /// taken as given. `name` is what messages call the source.
    ///
    /// # Errors
    /// [`BatchError::Unreadable`].
    pub fn recognise(
        name: &str,
        mut reader: R,
        format: Option<&'static Format>,
    ) -> Result<Source<R>, BatchError> {
        let first = reader.fill_buf();
        let first = first.map_err(|error| BatchError::unreadable(name, error))?;
        let detected = tapewise_formats::detect(first, Some(name));
        let (format, recognised) = match format {
            Some(format) => (format, format!("read as {}, as --format says", format.name)),
            None => (detected.format, detected.sentence),
        };
        Ok(Source {
            name: name.to_owned(),
            reader,
            format,
            recognised,
        })
    }

    /// The format.
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// Reads requests that name their blocks. `block_bytes` is the size of a block, if it is known.
    ///
    /// # Errors
    /// [`BatchError`]. An LTFS index holds no requests by itself: see [`Source::ltfs_index`].
    pub fn requests(mut self, block_bytes: Option<u64>) -> Result<Batch, BatchError> {
        let (name, recognised_as) = (self.name.clone(), self.recognised);
        let (read, usual_block_bytes) = match self.format.content {
            Content::Requests {
                read, block_bytes, ..
            } => (read, block_bytes),
            Content::Names => {
                let recognised = recognised_as;
                return Err(BatchError::NamesOnly { name, recognised });
            }
            Content::Index | Content::Other => {
                let recognised = recognised_as;
                return Err(BatchError::NotRequests { name, recognised });
            }
        };
        let options = FieldOptions {
            block_size: block_bytes,
        };
        let read = read(&mut self.reader, options);
        let read = read.map_err(|error| BatchError::unreadable(&self.name, error.0))?;
        let notices = read.notices.iter();
        Ok(Batch {
            recognised: recognised(&self.name, read.requests.len(), self.format.name),
            notices: notices
                .map(|notice| format!("{}: {notice}", self.name))
                .collect(),
            requests: read.requests,
            block_size: block_bytes.or(usual_block_bytes),
            is_ltfs: false,
        })
    }

    /// Reads the index of an LTFS volume.
    ///
    /// # Errors
    /// [`BatchError::Unreadable`].
    pub fn ltfs_index(self) -> Result<LtfsVolume, BatchError> {
        LtfsVolume::read(&self.name, self.reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error;

    fn read(text: &str) -> Result<Batch, BatchError> {
        Source::recognise("in", text.as_bytes(), None)?.requests(None)
    }

    #[test]
    fn requests_are_recognised_and_read() {
        let batch = read("id,start_block,block_count\na,1,2\nb,9,1\n").unwrap();
        assert_eq!(batch.recognised, "in: 2 requests, csv");
        assert_eq!((batch.extents(), batch.block_size), (2, None));
    }

    #[test]
    fn an_error_names_the_source_and_what_is_wrong_in_it() {
        let error = read("id,start_block,block_count\na,x,2\n").unwrap_err();
        assert!(error.to_string().starts_with("in: line 2"), "{error}");
        assert!(error.source().is_some());
    }

    #[test]
    fn names_alone_are_no_requests() {
        let error = read("a.mov\nb.mov\n").unwrap_err();
        assert!(matches!(error, BatchError::NamesOnly { .. }), "{error}");
    }
}
