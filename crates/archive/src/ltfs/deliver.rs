//! Files of an LTFS volume on their way into a destination.

use super::wanted::{ByteRange, WantError, segments};
use crate::deliver::{
    BadPath, DeliverError, Delivered, Delivery, Destination, Expected, InnerPath, Metadata,
};
use crate::finishing::Finishing;
use crate::read::{Lost, Receiver};
use crate::record::Segment;
use crate::sums::{Kind, Sum, base64_decoded};
use std::collections::BTreeMap;
use std::io;
use tapewise_formats::ltfs_extent::LtfsLayout;
use tapewise_formats::ltfs_index::LtfsFile;

/// Mode of a file that the index says must not be changed.
const READ_ONLY_MODE: u32 = 0o444;

/// A file that is to be recalled, or a range of its bytes.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Where it appears.
    pub path: InnerPath,
    /// What is known of it.
    pub expected: Expected,
    /// Where it lies, in the order of its bytes.
    pub segments: Vec<Segment>,
}

/// Why a file of an index is not recalled.
#[derive(Debug, thiserror::Error)]
pub enum NotWanted {
    /// Its path could leave the destination.
    #[error(transparent)]
    Path(#[from] BadPath),
    /// The index contradicts itself, or the range does not lie in the file.
    #[error(transparent)]
    Want(#[from] WantError),
    /// It is a link and no file.
    #[error("it is a symbolic link to \"{0}\"; links are not made")]
    Link(String),
}

impl Wanted {
    /// A file of an index, or a range of its bytes under its path with `#OFFSET+LENGTH` behind. Of a
    /// range the sums of the file say nothing.
    ///
    /// # Errors
    /// [`NotWanted`].
    pub fn new(
        file: &LtfsFile,
        layout: &LtfsLayout,
        range: Option<ByteRange>,
        sums: Vec<Sum>,
        also: Vec<Kind>,
    ) -> Result<Wanted, NotWanted> {
        if let Some(target) = &file.symlink {
            return Err(NotWanted::Link(target.to_string()));
        }
        let segments = segments(file, layout, range)?;
        let path = match range {
            Some(range) => format!("{}#{range}", file.path),
            None => file.path.to_string(),
        };
        let expected = Expected {
            sums: if range.is_some() { Vec::new() } else { sums },
            also,
            sparse: true,
            metadata: Metadata {
                modified_ns: file.modified_ns,
                mode: file.readonly.then_some(READ_ONLY_MODE),
                owner: None,
                attributes: attributes(file),
            },
            ..Expected::of(range.map_or(file.length, |range| range.bytes))
        };
        Ok(Wanted {
            path: InnerPath::new(path)?,
            expected,
            segments,
        })
    }
}

/// The attributes of a file with their full names; a value that is not what it says it is stays as it
/// stands.
fn attributes(file: &LtfsFile) -> Vec<(Vec<u8>, Vec<u8>)> {
    let own = file.attributes.iter().map(|attribute| {
        let decoded = if attribute.base64 {
            base64_decoded(&attribute.value)
        } else {
            None
        };
        let value = decoded.unwrap_or_else(|| attribute.value.clone().into_bytes());
        (format!("user.{}", attribute.name).into_bytes(), value)
    });
    own.collect()
}

/// Why a file has not arrived.
#[derive(Debug, thiserror::Error)]
pub enum Missing {
    /// It cannot be read from the tape.
    #[error("{path}: {why}")]
    Lost {
        /// The file.
        path: InnerPath,
        /// Why.
        why: Lost,
    },
    /// It was read, and the destination or its checksum refused it.
    #[error(transparent)]
    Delivery(#[from] DeliverError),
}

/// What is said, on the receiver's thread, when a file has arrived or is known not to.
pub type Said<'a> = &'a mut (dyn FnMut(Result<Delivered, Missing>) + Send);

/// Takes what is read and makes files of it. A file whose last byte has come gets its name soon
/// afterwards, at the latest when this is dropped.
pub struct Deliveries<'a> {
    destination: &'a Destination,
    wanted: &'a [Wanted],
    said: Said<'a>,
    /// Those that have begun. What has failed is in here no more, and its bytes are dropped.
    open: BTreeMap<usize, Delivery>,
    finishing: Finishing<Delivery, Result<Delivered, DeliverError>>,
}

impl<'a> Deliveries<'a> {
    /// Delivers what is wanted, and says what became of each once.
    pub fn new(destination: &'a Destination, wanted: &'a [Wanted], said: Said<'a>) -> Self {
        Deliveries {
            destination,
            wanted,
            said,
            open: BTreeMap::new(),
            finishing: Finishing::new(Delivery::finish),
        }
    }

    /// Waits until every file whose last byte has come has its name, and says so.
    ///
    /// # Errors
    /// The destination takes no more files.
    pub fn settle(&mut self) -> io::Result<()> {
        let finished = self.finishing.rest();
        self.finishing = Finishing::new(Delivery::finish);
        self.say(finished)
    }

    fn say(&mut self, finished: Vec<(usize, Result<Delivered, DeliverError>)>) -> io::Result<()> {
        let mut full = Ok(());
        for (want, result) in finished {
            match result {
                Ok(delivered) => (self.said)(Ok(delivered)),
                Err(error) => full = full.and(self.failed(want, error)),
            }
        }
        full
    }

    /// A file cannot be delivered. Others go on, unless the destination takes no more of them.
    fn failed(&mut self, want: usize, error: DeliverError) -> io::Result<()> {
        self.open.remove(&want);
        let full = error.is_of_destination();
        let words = error.to_string();
        (self.said)(Err(error.into()));
        if full {
            Err(io::Error::new(io::ErrorKind::StorageFull, words))
        } else {
            Ok(())
        }
    }
}

impl Drop for Deliveries<'_> {
    fn drop(&mut self) {
        let finished = self.finishing.rest();
        // Each failure is told; that there is no room for more files does not matter any more.
        let _ = self.say(finished);
    }
}

impl Receiver for Deliveries<'_> {
    fn begin(&mut self, want: usize) -> io::Result<()> {
        // One that begins again leaves nothing of what it was.
        self.open.remove(&want);
        let Wanted { path, expected, .. } = &self.wanted[want];
        match self.destination.begin(path, expected.clone()) {
            Ok(delivery) => {
                self.open.insert(want, delivery);
                Ok(())
            }
            Err(error) => self.failed(want, error),
        }
    }

    fn bytes(&mut self, want: usize, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let Some(delivery) = self.open.get_mut(&want) else {
            return Ok(());
        };
        match delivery.write_at(offset, bytes) {
            Ok(()) => Ok(()),
            Err(error) => self.failed(want, error),
        }
    }

    fn end(&mut self, want: usize) -> io::Result<()> {
        let Some(delivery) = self.open.remove(&want) else {
            return Ok(());
        };
        let finished = self.finishing.finish(want, delivery);
        self.say(finished)
    }

    fn lost(&mut self, want: usize, why: &Lost) -> io::Result<()> {
        self.open.remove(&want);
        let path = self.wanted[want].path.clone();
        let why = why.clone();
        (self.said)(Err(Missing::Lost { path, why }));
        Ok(())
    }
}
