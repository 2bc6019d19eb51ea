//! A bucket in memory whose requests fail when a test says so, and which counts uploads that are neither complete nor
//! aborted.

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path as Key;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
    UploadPart,
};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};

/// What goes wrong.
#[derive(Debug, Default)]
pub struct Faults {
    /// Every request fails.
    pub is_down: AtomicBool,
    /// The part of this number, of all that are sent, is not taken; none where it is 0.
    pub refused_part: AtomicUsize,
    /// The answer to what makes an object is lost.
    pub loses_answer: AtomicBool,
    /// Before the read of this number somebody writes to the object; never where it is 0.
    pub changed_before: AtomicUsize,
    parts: AtomicUsize,
    reads: AtomicUsize,
    open_uploads: AtomicI64,
}

/// The bucket.
#[derive(Clone, Debug, Default)]
pub struct Faulty {
    pub inner: Arc<InMemory>,
    pub faults: Arc<Faults>,
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Faulty")
    }
}

fn failed(what: &'static str) -> Error {
    Error::Generic {
        store: "Faulty",
        source: what.into(),
    }
}

impl Faulty {
    /// Uploads that somebody has begun and nobody ended.
    pub fn open_uploads(&self) -> i64 {
        self.faults.open_uploads.load(Ordering::SeqCst)
    }

    fn answer(&self) -> Result<()> {
        if self.faults.is_down.load(Ordering::SeqCst) {
            Err(failed("connection refused"))
        } else {
            Ok(())
        }
    }

    fn answer_of_change(&self) -> Result<()> {
        if self.faults.loses_answer.load(Ordering::SeqCst) {
            Err(failed("connection reset"))
        } else {
            Ok(())
        }
    }
}

#[async_trait]
impl ObjectStore for Faulty {
    async fn put_opts(
        &self,
        key: &Key,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.answer()?;
        let put = self.inner.put_opts(key, payload, options).await?;
        self.answer_of_change().map(|()| put)
    }

    async fn put_multipart_opts(
        &self,
        key: &Key,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.answer()?;
        let inner = self.inner.put_multipart_opts(key, options).await?;
        self.faults.open_uploads.fetch_add(1, Ordering::SeqCst);
        let of = self.clone();
        Ok(Box::new(Parts { inner, of }))
    }

    async fn get_opts(&self, key: &Key, options: GetOptions) -> Result<GetResult> {
        self.answer()?;
        let read = self
            .faults
            .reads
            .fetch_add(usize::from(!options.head), Ordering::SeqCst)
            + 1;
        if !options.head && read == self.faults.changed_before.load(Ordering::SeqCst) {
            self.inner.put(key, "other".into()).await?;
        }
        self.inner.get_opts(key, options).await
    }

    fn delete_stream(
        &self,
        keys: BoxStream<'static, Result<Key>>,
    ) -> BoxStream<'static, Result<Key>> {
        self.inner.delete_stream(keys)
    }

    fn list(&self, prefix: Option<&Key>) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.answer() {
            Ok(()) => self.inner.list(prefix),
            Err(error) => Box::pin(futures_util::stream::once(async { Err(error) })),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Key>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Key, to: &Key, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

#[derive(Debug)]
struct Parts {
    inner: Box<dyn MultipartUpload>,
    of: Faulty,
}

#[async_trait]
impl MultipartUpload for Parts {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let faults = &self.of.faults;
        let number = faults.parts.fetch_add(1, Ordering::SeqCst) + 1;
        if self.of.answer().is_err() || number == faults.refused_part.load(Ordering::SeqCst) {
            return Box::pin(async { Err(failed("connection reset")) });
        }
        self.inner.put_part(data)
    }

    async fn complete(&mut self) -> Result<PutResult> {
        self.of.answer()?;
        let put = self.inner.complete().await?;
        self.of.faults.open_uploads.fetch_sub(1, Ordering::SeqCst);
        self.of.answer_of_change().map(|()| put)
    }

    async fn abort(&mut self) -> Result<()> {
        self.of.answer()?;
        self.inner.abort().await?;
        self.of.faults.open_uploads.fetch_sub(1, Ordering::SeqCst);
        Ok(())
    }
}
