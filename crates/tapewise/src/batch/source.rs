//! Readers of requests, one line for each format.

use super::{Batch, BatchError, LtfsVolume, recognised};
use std::error::Error;
use std::io::BufRead;
use tapewise_formats::fields::FieldOptions;
use tapewise_formats::{Format, Requests, bsr, csv_requests, cta_tapefile, hsi, jsonl};

/// Reads requests; the error is that of the format's reader.
type Read = fn(&mut dyn BufRead, FieldOptions) -> Result<Requests, Box<dyn Error + Send + Sync>>;

/// The reader of one format.
struct Reader {
    format: Format,
    /// Bytes of a block unless they are given; `None` if the format implies none.
    usual_block_bytes: Option<u64>,
    read: Read,
}

/// The formats whose requests name their blocks: a new one is its file in `tapewise-formats`, its
/// entry in [`Format`], and one line here.
const READERS: [Reader; 5] = [
    reader(Format::Csv, None, |from, options| {
        Ok(csv_requests::read_csv(from, options)?)
    }),
    reader(Format::JsonLines, None, |from, options| {
        Ok(jsonl::read_json_lines(from, options)?)
    }),
    reader(
        Format::CtaTapefile,
        Some(cta_tapefile::CTA_BLOCK_SIZE),
        |from, _| Ok(cta_tapefile::read_cta_tapefiles(from)?),
    ),
    reader(Format::Bsr, None, |from, _| Ok(read_bsr(from)?)),
    reader(Format::HsiListing, None, |from, _| {
        Ok(hsi::read_hsi_listing(from)?)
    }),
];

const fn reader(format: Format, usual_block_bytes: Option<u64>, read: Read) -> Reader {
    Reader {
        format,
        usual_block_bytes,
        read,
    }
}

fn read_bsr(from: &mut dyn BufRead) -> Result<Requests, bsr::BsrError> {
    let (records, notices) = bsr::read_bsr(from)?;
    let mut read = bsr::bsr_requests(&records);
    read.notices.splice(0..0, notices);
    Ok(read)
}

/// Something to read, with the format that it has.
#[derive(Debug)]
pub struct Source<R> {
    name: String,
    reader: R,
    format: Format,
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
        format: Option<Format>,
    ) -> Result<Source<R>, BatchError> {
        let first = reader.fill_buf();
        let first = first.map_err(|error| BatchError::unreadable(name, error))?;
        let detected = tapewise_formats::detect(first, Some(name));
        let (format, recognised) = match format {
            Some(format) => (
                format,
                format!("read as {}, as --format says", format.name()),
            ),
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
    pub fn format(&self) -> Format {
        self.format
    }

    /// Reads requests that name their blocks. `block_bytes` is the size of a block, if it is known.
    ///
    /// # Errors
    /// [`BatchError`]. An LTFS index holds no requests by itself: see [`Source::ltfs_index`].
    pub fn requests(mut self, block_bytes: Option<u64>) -> Result<Batch, BatchError> {
        let Some(known) = READERS.iter().find(|known| known.format == self.format) else {
            let (name, recognised) = (self.name, self.recognised);
            return Err(match self.format {
                Format::List | Format::NulList => BatchError::NamesOnly { name, recognised },
                _ => BatchError::NotRequests { name, recognised },
            });
        };
        let options = FieldOptions {
            block_size: block_bytes,
        };
        let read = (known.read)(&mut self.reader, options);
        let read = read.map_err(|error| BatchError::unreadable(&self.name, error))?;
        let notices = read.notices.iter();
        Ok(Batch {
            recognised: recognised(&self.name, read.requests.len(), self.format.name()),
            notices: notices
                .map(|notice| format!("{}: {notice}", self.name))
                .collect(),
            requests: read.requests,
            block_size: block_bytes.or(known.usual_block_bytes),
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

    fn read(text: &str) -> Result<Batch, BatchError> {
        Source::recognise("in", text.as_bytes(), None)?.requests(None)
    }

    #[test]
    fn no_format_has_two_readers() {
        for (at, one) in READERS.iter().enumerate() {
            let others = &READERS[at + 1..];
            assert!(others.iter().all(|other| other.format != one.format));
        }
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
