//! S3 buckets: files appear in them as objects, whole and verified, and objects are stored from them.
//!
//! An object is visible when its upload is complete. A file of one part is one request, made after its sums matched.
//! A longer file is sent in parts, and the upload is completed after its sums matched: otherwise it is aborted. Whoever
//! is killed on the way leaves an unfinished upload, which nobody sees and the bucket's rules expire.
//!
//! | file | idea |
//! |---|---|
//! | `url` | a place in a bucket, and keys that cannot leave it |
//! | `environment` | endpoint and credentials, from the variables that all programs for S3 read |
//! | `stated` | what a bucket says of an object: its sums, its time, its mode |
//! | `upload` | one file on its way |
//! | `listing` | keys that are no paths, taken out of lists |
//! | `object` | objects that are stored: found, and read |

mod environment;
mod listing;
mod object;
mod stated;
mod upload;
mod url;

pub use upload::Upload;
pub use url::{BucketUrl, NoBucketUrl};

use crate::deliver::{DeliverError, Expected, InnerPath, Outcome, Presence, shown};
use crate::store::{SourceError, StoreError};
use crate::sums::{Sum, Summer};
use futures_util::TryStreamExt;
use listing::OddKeys;
use object_store::path::Path as Key;
use object_store::{GetOptions, ObjectStore};
use stated::Head;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;

/// Bytes of parts that wait for an answer, of all uploads together.
const MOST_WAITING_BYTES: usize = 128 << 20;

/// The buckets that can be reached with some variables of the environment; each is opened once.
#[derive(Clone, Default)]
pub struct Buckets(Arc<Shared>);

#[derive(Default)]
struct Shared {
    variables: BTreeMap<String, String>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    wire: Option<Arc<Wire>>,
    stores: HashMap<String, Stores>,
}

/// The ways to one bucket.
#[derive(Clone)]
struct Stores {
    /// The server that was named; Amazon's if none was.
    endpoint: Option<String>,
    store: Arc<dyn ObjectStore>,
    /// For what is known of objects: S3 states sums only to who asks for them, by a header that has to be signed, and
    /// that some servers refuse beside bytes.
    stating: Arc<dyn ObjectStore>,
    /// Keys that `store` took out of its lists.
    odd_keys: OddKeys,
}

/// What all buckets share.
struct Wire {
    runtime: Runtime,
    /// Room for parts, in bytes.
    room: Arc<Semaphore>,
}

/// A bucket cannot be used: it cannot be reached, or refuses what was asked of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {why}")]
pub struct BucketError {
    /// The place in it.
    pub place: String,
    /// Why.
    pub why: String,
}

impl From<BucketError> for DeliverError {
    fn from(BucketError { place, why }: BucketError) -> DeliverError {
        DeliverError::Unavailable { place, why }
    }
}

impl From<BucketError> for StoreError {
    fn from(BucketError { place, why }: BucketError) -> StoreError {
        StoreError::Unavailable { place, why }
    }
}

impl From<BucketError> for io::Error {
    fn from(BucketError { place, why }: BucketError) -> io::Error {
        io::Error::other(SourceError::Unavailable { place, why })
    }
}

/// Says nothing of the variables: some of them are secret.
impl fmt::Debug for Buckets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Buckets")
    }
}

impl Buckets {
    /// Buckets that are reached with these variables, of which those beginning with `AWS_` count.
    pub fn new(variables: impl IntoIterator<Item = (String, String)>) -> Buckets {
        let variables = variables.into_iter();
        let variables = variables.filter(|(name, _)| name.starts_with("AWS_"));
        Buckets(Arc::new(Shared {
            variables: variables.collect(),
            open: Mutex::default(),
        }))
    }

    /// The same where a bucket is what somebody has in hand.
    pub fn with(self, bucket: &str, store: Arc<dyn ObjectStore>) -> Buckets {
        let stating = Arc::clone(&store);
        let stores = Stores {
            endpoint: None,
            store,
            stating,
            odd_keys: OddKeys::default(),
        };
        self.lock().stores.insert(bucket.to_owned(), stores);
        self
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a place in a bucket; nothing is asked of the bucket yet.
    ///
    /// # Errors
    /// When the variables are wrong, or too few.
    pub fn open(&self, url: &BucketUrl) -> Result<Bucket, BucketError> {
        let cannot = |why| BucketError {
            place: url.to_string(),
            why,
        };
        let mut open = self.lock();
        let wire = match &open.wire {
            Some(wire) => Arc::clone(wire),
            None => {
                let runtime = Builder::new_multi_thread()
                    .worker_threads(2)
                    .enable_all()
                    .build();
                let runtime = runtime.map_err(|error| cannot(error.to_string()))?;
                let room = Arc::new(Semaphore::new(MOST_WAITING_BYTES));
                Arc::clone(open.wire.insert(Arc::new(Wire { runtime, room })))
            }
        };
        let stores = match open.stores.get(url.bucket()) {
            Some(stores) => stores.clone(),
            None => {
                let stores = environment::connect(&self.0.variables, url.bucket());
                let stores = stores.map_err(cannot)?;
                let name = url.bucket().to_owned();
                open.stores.insert(name, stores.clone());
                stores
            }
        };
        Ok(Bucket {
            url: url.clone(),
            endpoint: stores.endpoint,
            store: stores.store,
            stating: stores.stating,
            odd_keys: stores.odd_keys,
            wire,
        })
    }
}

/// A place in a bucket, below which files appear.
#[derive(Clone)]
pub struct Bucket {
    url: BucketUrl,
    endpoint: Option<String>,
    store: Arc<dyn ObjectStore>,
    stating: Arc<dyn ObjectStore>,
    odd_keys: OddKeys,
    wire: Arc<Wire>,
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bucket({})", self.url)
    }
}

impl Bucket {
    /// Waits for an answer.
    fn wait<T>(&self, answer: impl Future<Output = T>) -> T {
        self.wire.runtime.block_on(answer)
    }

    fn cannot(&self, error: &object_store::Error) -> BucketError {
        let why = match &self.endpoint {
            Some(endpoint) => format!("{endpoint}: {}", why(error)),
            None => why(error),
        };
        BucketError {
            place: self.url.to_string(),
            why,
        }
    }

    /// The place in it.
    pub fn url(&self) -> &BucketUrl {
        &self.url
    }

    /// Whether it has no objects there; it is reached and listed for that.
    ///
    /// # Errors
    /// When it cannot be.
    pub fn is_empty(&self) -> Result<bool, BucketError> {
        let mut objects = self.store.list(Some(self.url.prefix()));
        match self.wait(objects.try_next()) {
            Ok(first) => Ok(self.odd_keys.take().is_empty() && first.is_none()),
            // A key that cannot be the path of a file was listed all the same.
            Err(object_store::Error::InvalidPath { .. }) => Ok(false),
            Err(error) => Err(self.cannot(&error)),
        }
    }

    /// What is known of an object; `None` where there is none.
    fn head(&self, key: &Key) -> Result<Option<Head>, BucketError> {
        let options = GetOptions {
            head: true,
            ..GetOptions::default()
        };
        match self.wait(self.stating.get_opts(key, options)) {
            Ok(object) => Ok(Some(Head::of(&object))),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.cannot(&error)),
        }
    }

    /// What stands where a file is to be delivered. An object of its length is read only if it states no sum that is
    /// known of the file: an object never changes, and what this program uploads states the sums that it had.
    ///
    /// # Errors
    /// When the path can be no key, or the bucket cannot be used.
    pub fn presence(
        &self,
        path: &InnerPath,
        expected: &Expected,
    ) -> Result<Presence, DeliverError> {
        let key = self.url.key(path)?;
        let Some(head) = self.head(&key)? else {
            return Ok(Presence::Absent);
        };
        if head.bytes != expected.bytes {
            let why = format!("it has {} bytes, not {}", head.bytes, expected.bytes);
            return Ok(Presence::Other(why));
        }
        if expected.sums.is_empty() {
            let is_same =
                head.stated_ns.is_some() && head.stated_ns == expected.metadata.modified_ns;
            return Ok(if is_same {
                Presence::Delivered(Outcome::Unverified, Vec::new())
            } else {
                let why = "its length is the same, its time is not, and no checksum is known";
                Presence::Other(why.to_owned())
            });
        }
        let known = |stated: &&Sum| {
            let mut expected = expected.sums.iter();
            expected.any(|sum| sum.kind == stated.kind)
        };
        let mut sums: Vec<_> = head.sums.iter().filter(known).cloned().collect();
        if sums.is_empty() {
            sums = self.summed(&key, head, expected)?;
        }
        let other = sums.iter().find(|sum| !expected.sums.contains(sum));
        Ok(match other {
            Some(found) => Presence::Other(format!("its checksum is {found}")),
            None => Presence::Delivered(Outcome::Verified, sums),
        })
    }

    /// The sums of an object, which is read for them.
    fn summed(&self, key: &Key, head: Head, expected: &Expected) -> Result<Vec<Sum>, DeliverError> {
        let mut summer = Summer::new(expected.sums.iter().map(|sum| sum.kind));
        match io::copy(&mut self.read(key.clone(), head), &mut summer) {
            Ok(_) => Ok(summer.finish()),
            Err(error) => Err(DeliverError::Unavailable {
                place: self.url.to_string(),
                why: format!("{key}: {error}"),
            }),
        }
    }
}

/// What went wrong, in the words of the bucket if it said any: the rest of what it answers may hold keys of somebody.
fn why(error: &object_store::Error) -> String {
    let text = error.to_string();
    let element = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        Some(rest.split_once("</")?.0)
    };
    if let (Some(code), Some(message)) = (element("Code"), element("Message")) {
        let message = message.trim_end_matches('.');
        return shown(format!("{message} ({code})").as_bytes());
    }
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    let said = innermost.to_string();
    shown(said.trim_end_matches([':', ' ']).as_bytes())
}
