//! What a bucket says of an object: its sums, its time, its mode.
//!
//! S3 states sums of whole objects in headers, where they were computed when the object came. The ETag of an object
//! that came in one piece is its MD5, unless a key of a user or of KMS encrypts it. Sums of parts say nothing here.
//! What this program uploads states the sums, the time and the mode that the file had, as metadata.

use super::listing::OddKeys;
use crate::deliver::Metadata;
use crate::sums::{Kind, Sum, base64_decoded};
use async_trait::async_trait;
use object_store::client::{
    ClientOptions, HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService,
    ReqwestConnector,
};
use object_store::{Attribute, Attributes, GetResult};
use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderValue, IF_NONE_MATCH};

/// Metadata: when the file was last written, in seconds since 1970, as rclone has it.
const TIME: &str = "mtime";

/// Metadata: the type of the file and its permissions, in octal, as rclone writes them.
const MODE: &str = "mode";
const IS_FILE: u32 = 0o100_000;

/// Metadata: sums of the file, with spaces between them.
const SUMS: &str = "tapewise-sums";

/// The headers in which S3 states sums.
const HEADERS: [(&str, Kind); 5] = [
    ("x-amz-checksum-crc64nvme", Kind::Crc64Nvme),
    ("x-amz-checksum-crc32c", Kind::Crc32c),
    ("x-amz-checksum-crc32", Kind::Crc32),
    ("x-amz-checksum-sha256", Kind::Sha256),
    ("x-amz-checksum-sha1", Kind::Sha1),
];

/// What is known of an object without reading it.
pub(super) struct Head {
    pub bytes: u64,
    /// Which contents these are: others have another.
    pub tag: Option<String>,
    /// When the object came.
    pub came_ns: i64,
    /// When the file was last written, where the object states it.
    pub stated_ns: Option<i64>,
    /// Its permission bits, where the object states them.
    pub mode: Option<u32>,
    /// Sums of its contents.
    pub sums: Vec<Sum>,
}

impl Head {
    pub fn of(object: &GetResult) -> Head {
        let metadata = |name: &'static str| {
            let value = object.attributes.get(&Attribute::Metadata(name.into()));
            value.map(|value| value.as_ref())
        };
        let ours = metadata(SUMS).unwrap_or_default().split(' ');
        let mut sums: Vec<Sum> = ours.filter_map(|sum| sum.parse().ok()).collect();
        if let Some(Stated(theirs)) = object.extensions.get() {
            sums.extend(theirs.iter().cloned());
        }
        Head {
            bytes: object.meta.size,
            tag: object.meta.e_tag.clone(),
            came_ns: object.meta.last_modified.timestamp_nanos_opt().unwrap_or(0),
            stated_ns: metadata(TIME).and_then(from_seconds),
            mode: metadata(MODE).and_then(permissions),
            sums,
        }
    }
}

/// What an object is to state of a file.
pub(super) fn attributes(metadata: &Metadata, sums: &[Sum]) -> Attributes {
    let sums: Vec<String> = sums.iter().map(Sum::to_string).collect();
    let mode = metadata.mode.map(|mode| IS_FILE | mode & 0o777);
    let stated = [
        (TIME, metadata.modified_ns.map(seconds)),
        (MODE, mode.map(|mode| format!("{mode:07o}"))),
        (SUMS, (!sums.is_empty()).then(|| sums.join(" "))),
    ];
    let mut attributes = Attributes::new();
    for (name, value) in stated {
        if let Some(value) = value {
            attributes.insert(Attribute::Metadata(name.into()), value.into());
        }
    }
    attributes
}

fn permissions(mode: &str) -> Option<u32> {
    let mode = u32::from_str_radix(mode, 8).ok()?;
    // Nobody's word makes a file run as somebody else.
    Some(mode & 0o777)
}

fn seconds(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let ns = ns.unsigned_abs();
    format!("{sign}{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

fn from_seconds(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let part = format!("{part:0<9.9}");
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_plain(whole) || !is_plain(&part) {
        return None;
    }
    let seconds: i64 = whole.parse().ok()?;
    let ns = seconds.checked_mul(1_000_000_000)?;
    Some(sign * ns.checked_add(part.parse().ok()?)?)
}

/// The sums that the headers of an answer state.
#[derive(Clone)]
struct Stated(Vec<Sum>);

impl Stated {
    fn of(headers: &HeaderMap) -> Stated {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        // Those of sums of parts end with the number of parts, which is no base64.
        let sums = HEADERS.iter().filter_map(|&(name, kind)| {
            let value = base64_decoded(text(name)?)?;
            (value.len() == kind.bytes()).then_some(Sum { kind, value })
        });
        let sums: Vec<Sum> = sums.collect();
        let encryption = text("x-amz-server-side-encryption").unwrap_or("AES256");
        let by_user = headers.contains_key("x-amz-server-side-encryption-customer-algorithm");
        if !sums.is_empty() || encryption != "AES256" || by_user {
            return Stated(sums);
        }
        let md5 = text("etag").and_then(|tag| Sum::from_hex(Kind::Md5, tag.trim_matches('"')));
        Stated(md5.into_iter().collect())
    }
}

/// Connects as usual, keeps what the headers of an answer state beside it, and takes keys out of lists that are no paths.
#[derive(Debug)]
pub(super) struct Listening(pub OddKeys);

impl HttpConnector for Listening {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = ReqwestConnector::default().connect(options)?;
        Ok(HttpClient::new(Listener(client, self.0.clone())))
    }
}

#[derive(Debug)]
struct Listener(HttpClient, OddKeys);

#[async_trait]
impl HttpService for Listener {
    async fn call(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let asks = |method: Method, what: &str| {
            let query = request.uri().query();
            request.method() == method && query.is_some_and(|query| query.contains(what))
        };
        let lists = asks(Method::GET, "list-type=2");
        if asks(Method::POST, "uploadId=") {
            // An upload replaces nothing that came meanwhile. object_store has no way to ask for that.
            let headers = request.headers_mut();
            headers.insert(IF_NONE_MATCH, HeaderValue::from_static("*"));
        }
        let mut answer = self.0.execute(request).await?;
        let stated = Stated::of(answer.headers());
        answer.extensions_mut().insert(stated);
        if lists && answer.status().is_success() {
            let (head, body) = answer.into_parts();
            let page = self.1.taken_out(body.bytes().await?);
            return Ok(HttpResponse::from_parts(head, page.into()));
        }
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_survive_as_text_and_those_of_others_are_read() {
        for ns in [
            0,
            1,
            -1,
            1_700_000_000_123_456_789,
            -2_500_000_000,
            i64::MAX,
        ] {
            assert_eq!(from_seconds(&seconds(ns)), Some(ns));
        }
        assert_eq!(from_seconds("1700000000"), Some(1_700_000_000_000_000_000));
        assert_eq!(
            from_seconds("1700000000.5"),
            Some(1_700_000_000_500_000_000)
        );
        for text in ["", "x", "1.x", "1e9", "99999999999999"] {
            assert_eq!(from_seconds(text), None, "{text}");
        }
    }

    #[test]
    fn modes_are_stated_as_rclone_does_and_none_gives_more_than_permissions() {
        let metadata = Metadata {
            mode: Some(0o104_755),
            ..Metadata::default()
        };
        let stated = attributes(&metadata, &[]);
        let mode = stated.get(&Attribute::Metadata("mode".into()));
        assert_eq!(mode.map(AsRef::as_ref), Some("0100755"));
        assert_eq!(stated.len(), 1);
        assert_eq!(permissions("0104750"), Some(0o750));
        assert_eq!(permissions("rw-r--r--"), None);
    }

    #[test]
    fn only_sums_of_whole_contents_count() {
        let stated = |headers: &[(&'static str, &'static str)]| {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.insert(*name, HeaderValue::from_static(value));
            }
            let Stated(sums) = Stated::of(&map);
            sums.iter().map(Sum::to_string).collect::<Vec<_>>()
        };
        let md5 = "\"900150983cd24fb0d6963f7d28e17f72\"";
        assert_eq!(
            stated(&[("etag", md5)]),
            ["md5:900150983cd24fb0d6963f7d28e17f72"]
        );
        let crc = ("x-amz-checksum-crc32", "y/Q5Jg==");
        assert_eq!(stated(&[("etag", md5), crc]), ["crc32:cbf43926"]);
        for other in [
            [
                ("etag", "\"900150983cd24fb0d6963f7d28e17f72-3\""),
                ("x-amz-checksum-crc32", "y/Q5Jg==-3"),
            ],
            [("etag", md5), ("x-amz-server-side-encryption", "aws:kms")],
            [
                ("etag", md5),
                ("x-amz-server-side-encryption-customer-algorithm", "AES256"),
            ],
        ] {
            assert_eq!(stated(&other), [""; 0], "{other:?}");
        }
    }
}
