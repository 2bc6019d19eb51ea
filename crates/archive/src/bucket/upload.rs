//! One file on its way into a bucket: sent in parts, compared, and only then an object.

use super::{Bucket, stated};
use crate::deliver::{DeliverError, Delivered, Expected, InnerPath, Presence, kinds, mismatch};
use crate::sums::Summer;
use object_store::path::Path as Key;
use object_store::{MultipartUpload, ObjectStore, PutMode, PutMultipartOptions, PutOptions};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinSet;

/// Bytes of a part, except where a file would have too many of them.
const PART_BYTES: u64 = 8 << 20;

/// S3 takes no more parts of an object.
const MOST_PARTS: u64 = 10_000;

/// How long is waited until an upload that failed is aborted.
const ABORT_LIMIT: Duration = Duration::from_secs(10);

/// A file on its way; dropped before it is finished, nothing of it is visible, and its upload is aborted.
#[derive(Debug)]
pub struct Upload {
    bucket: Bucket,
    key: Key,
    path: InnerPath,
    expected: Expected,
    summer: Summer,
    written: u64,
    part_bytes: usize,
    /// The next part, as far as it has come. The last one waits here until the sums have matched.
    part: Vec<u8>,
    /// The last part's room. Whoever has it only has to finish, so that all who wait for room get it.
    room: Option<OwnedSemaphorePermit>,
    /// None as long as one part holds the file.
    parts: Option<Parts>,
}

/// Parts that were sent.
#[derive(Debug)]
struct Parts {
    upload: Box<dyn MultipartUpload>,
    /// Those that were not answered yet.
    waiting: JoinSet<object_store::Result<()>>,
}

impl Bucket {
    /// Begins to deliver a file; `None` where it is there already.
    ///
    /// # Errors
    /// When something else has its name, no key can be its path, or the bucket cannot be used.
    pub fn begin(
        &self,
        path: &InnerPath,
        expected: Expected,
    ) -> Result<Option<Upload>, DeliverError> {
        match self.presence(path, &expected)? {
            Presence::Absent => {}
            Presence::Delivered(..) => return Ok(None),
            Presence::Other(why) => {
                let path = path.to_string();
                return Err(DeliverError::Exists { path, why });
            }
        }
        let part_bytes = PART_BYTES.max(expected.bytes.div_ceil(MOST_PARTS));
        Ok(Some(Upload {
            bucket: self.clone(),
            key: self.url.key(path)?,
            path: path.clone(),
            summer: Summer::new(kinds(&expected)),
            expected,
            written: 0,
            part_bytes: usize::try_from(part_bytes).unwrap_or(usize::MAX),
            part: Vec::new(),
            room: None,
            parts: None,
        }))
    }

    /// Room for a part; more than there is in all counts as all.
    async fn room(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let bytes = bytes.min(super::MOST_WAITING_BYTES) as u32;
        let room = Arc::clone(&self.wire.room).acquire_many_owned(bytes);
        // Nobody closes it.
        room.await.ok()
    }
}

impl Upload {
    /// Takes the bytes that follow those taken last; waits while too many parts are on their way.
    ///
    /// # Errors
    /// When they end beyond the length expected, or the bucket does not take them.
    pub fn write(&mut self, mut bytes: &[u8]) -> Result<(), DeliverError> {
        let end = self.written.saturating_add(bytes.len() as u64);
        if end > self.expected.bytes {
            return Err(DeliverError::Beyond {
                path: self.path.to_string(),
                end,
                bytes: self.expected.bytes,
            });
        }
        self.summer.update(bytes);
        while !bytes.is_empty() {
            if self.part.len() == self.part_bytes {
                let bucket = self.bucket.clone();
                let sent = bucket.wait(self.send_part());
                sent.map_err(|error| bucket.cannot(&error))?;
            }
            let (some, rest) = bytes.split_at(bytes.len().min(self.part_bytes - self.part.len()));
            self.part.extend_from_slice(some);
            bytes = rest;
        }
        self.written = end;
        if end == self.expected.bytes {
            self.room = self.bucket.wait(self.bucket.room(self.part.len()));
        }
        Ok(())
    }

    /// Sends a part that is full, behind which there are more bytes.
    async fn send_part(&mut self) -> object_store::Result<()> {
        let next = Vec::with_capacity(self.part_bytes);
        let part = std::mem::replace(&mut self.part, next);
        let room = self.bucket.room(part.len()).await;
        let parts = match self.parts.take() {
            Some(parts) => parts,
            None => self.first_part().await?,
        };
        let parts = self.parts.insert(parts);
        parts.send(part, room);
        parts.answered()
    }

    async fn first_part(&self) -> object_store::Result<Parts> {
        let options = PutMultipartOptions {
            attributes: self.attributes(),
            ..PutMultipartOptions::default()
        };
        let store = &self.bucket.store;
        Ok(Parts {
            upload: store.put_multipart_opts(&self.key, options).await?,
            waiting: JoinSet::new(),
        })
    }

    /// Compares the file with what is known of it, and makes it an object.
    ///
    /// # Errors
    /// When bytes are missing, a sum does not match, its name was taken meanwhile, or the bucket fails. Nothing of it
    /// is visible then.
    pub fn finish(mut self) -> Result<Delivered, DeliverError> {
        let bytes = self.expected.bytes;
        if self.written < bytes {
            return Err(DeliverError::Short {
                path: self.path.to_string(),
                from: self.written,
                to: bytes,
                bytes,
            });
        }
        let sums = std::mem::replace(&mut self.summer, Summer::new([])).finish();
        if let Some((expected, found)) = mismatch(&self.expected.sums, &sums) {
            return Err(DeliverError::Mismatch {
                path: self.path.to_string(),
                expected,
                found,
            });
        }
        let part = std::mem::take(&mut self.part);
        let bucket = self.bucket.clone();
        if let Err(error) = bucket.wait(self.complete(part)) {
            // An answer may have been lost, and the request tried again.
            match bucket.presence(&self.path, &self.expected)? {
                Presence::Delivered(..) => {}
                Presence::Other(why) => {
                    let path = self.path.to_string();
                    return Err(DeliverError::Exists { path, why });
                }
                Presence::Absent => return Err(bucket.cannot(&error).into()),
            }
        }
        self.parts = None;
        Ok(Delivered {
            path: self.path.clone(),
            bytes,
            outcome: self.expected.outcome(),
            modified_ns: self.expected.metadata.modified_ns,
            sums,
            not_kept: Vec::new(),
        })
    }

    /// Sends the last part, and makes all of them an object that replaces none.
    async fn complete(&mut self, part: Vec<u8>) -> object_store::Result<()> {
        let room = self.room.take();
        if let Some(parts) = &mut self.parts {
            parts.send(part, room);
            while let Some(answer) = parts.waiting.join_next().await {
                answer??;
            }
            parts.upload.complete().await?;
            return Ok(());
        }
        let options = PutOptions {
            mode: PutMode::Create,
            attributes: self.attributes(),
            ..PutOptions::default()
        };
        let put = self.bucket.store.put_opts(&self.key, part.into(), options);
        put.await.map(drop)
    }

    /// What the object is to state of the file.
    fn attributes(&self) -> object_store::Attributes {
        stated::attributes(&self.expected.metadata, &self.expected.sums)
    }
}

impl Parts {
    /// Sends a part, for which there is room until it is answered.
    fn send(&mut self, part: Vec<u8>, room: Option<OwnedSemaphorePermit>) {
        let sent = self.upload.put_part(part.into());
        self.waiting.spawn(async move {
            let answer = sent.await;
            drop(room);
            answer
        });
    }

    /// Whether the parts that were answered so far were taken.
    fn answered(&mut self) -> object_store::Result<()> {
        while let Some(answer) = self.waiting.try_join_next() {
            answer??;
        }
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if let Some(mut parts) = self.parts.take() {
            self.bucket.wait(async {
                parts.waiting.shutdown().await;
                // There is nobody to tell: what is left is an unfinished upload, which the bucket's rules expire.
                let _ = tokio::time::timeout(ABORT_LIMIT, parts.upload.abort()).await;
            });
        }
    }
}
