//! Tape files as CTA lists them: `cta-admin --json tapefile ls --vid V01007`.
//!
//! The names are those of CTA's message `TapeFileLsItem` (cta_admin.proto) as protobuf writes them in JSON: `af`
//! (archiveId, size, storageClass), `df` (diskId, diskInstance, path) and `tf` (vid, copyNb, blockId, fSeq). Whole
//! numbers of 64 bits stand there as text.
//!
//! `blockId` is the first header block of the file. On the tape follow three header records and a filemark, the data
//! in blocks of 256 KiB, a filemark, three trailer records and a filemark. A request covers all of it, as CTA itself
//! asks an enterprise drive to: `blockId` to `blockId + 8 + ceil(size / 262144)`, both inclusive.

use std::fmt;
use std::io::{self, BufRead};

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};

use crate::bounded::{Bounded, ItemMeter, MAX_LINE_BYTES};
use crate::format::{Content, Format, ReadError};
use crate::json_error::without_position;
use crate::notice::Notices;
use crate::number::{NumberFault, excerpt, parse_u64};
use crate::request::{Extent, Request, Requests, blocks_for, run_fits};

/// See [`crate::detect::FORMATS`].
pub const FORMAT: Format = Format {
    name: "cta-tapefile",
    title: "a CTA tape file listing",
    endings: &[],
    recognise: |head| {
        head.text()
            .starts_with('[')
            .then_some("a JSON array, as `cta-admin --json tapefile ls` prints it")
    },
    content: Content::Requests {
        read: |input, _| read_cta_tapefiles(input).map_err(ReadError::new),
        block_bytes: Some(CTA_BLOCK_SIZE),
        is_text: false,
    },
};

/// The block size of CTA's tapes, in bytes.
pub const CTA_BLOCK_SIZE: u64 = 262_144;
/// Logical objects of a file that are not data: two times three label records, and three filemarks.
pub const CTA_LABEL_OBJECTS: u64 = 9;

/// Why a listing of CTA tape files could not be read.
#[derive(Debug, thiserror::Error)]
pub enum CtaError {
    /// The input could not be read.
    #[error("cannot read: {0}")]
    Io(io::Error),
    /// Not the JSON that `cta-admin --json tapefile ls` prints.
    #[error(
        "line {line}, column {column}: {what}; expected the output of `cta-admin --json tapefile ls`"
    )]
    NotJson {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong.
        what: String,
    },
    /// An object that is no tape file.
    #[error(
        "item {item} has neither af nor tf: a JSON array is read as the output of `cta-admin --json tapefile ls`, and this \
         is none. Requests as JSON have one object a line, without brackets and commas (JSON Lines)"
    )]
    NotATapeFile {
        /// Which item of the array, from 1.
        item: u64,
    },
    /// A field that must be there is not.
    #[error("item {item}: {field} is missing")]
    Missing {
        /// Which item of the array, from 1.
        item: u64,
        /// The field.
        field: &'static str,
    },
    /// A number that is none.
    #[error("item {item}: {field} is \"{text}\", expected {fault}")]
    BadNumber {
        /// Which item of the array, from 1.
        item: u64,
        /// The field.
        field: &'static str,
        /// Its text, shortened.
        text: String,
        /// What was expected.
        fault: NumberFault,
    },
    /// A file that ends beyond 64 bits.
    #[error("item {item}: {size} bytes from block {block_id} end beyond 2^64")]
    Overflow {
        /// Which item of the array, from 1.
        item: u64,
        /// The first block.
        block_id: u64,
        /// The size in bytes.
        size: u64,
    },
    /// Block numbers that are not positions (CTA issue 1153: labels of other systems come with dummy numbers).
    #[error(
        "volume {vid}: file {second_f_seq} begins at block {second_block}, but file {first_f_seq} before it at block {first_block}: these block numbers are not positions (CTA stores dummy ones for tapes written by Enstore)"
    )]
    DummyBlocks {
        /// The volume.
        vid: String,
        /// The file number of the first.
        first_f_seq: u64,
        /// Its block.
        first_block: u64,
        /// The file number of the one after it.
        second_f_seq: u64,
        /// Its block.
        second_block: u64,
    },
}

/// Reads the listing; requests in its order, id = archiveId, sort key = fSeq, path = df.path where there is one.
///
/// Copies that another tape supersedes are left out with a notice. Memory grows with the number of files.
///
/// # Errors
/// When it is not such a listing, a field is missing, or the block numbers cannot be positions.
pub fn read_cta_tapefiles(input: impl BufRead) -> Result<Requests, CtaError> {
    let bounded = Bounded::new(input, MAX_LINE_BYTES);
    let meter = bounded.meter();
    let mut notices = Notices::new();
    let mut requests = Vec::new();
    let mut item = 0;
    let mut failed = None;
    let mut take = |entry: Item| {
        item += 1;
        match request(entry, item, &mut notices) {
            Ok(request) => requests.extend(request),
            Err(error) => failed = Some(error),
        }
        failed.is_none()
    };
    let mut json = serde_json::Deserializer::from_reader(bounded);
    let outcome = Items {
        meter,
        take: &mut take,
    }
    .deserialize(&mut json)
    .and_then(|()| json.end());
    if let Some(error) = failed {
        return Err(error);
    }
    outcome.map_err(|error| match error.io_error_kind() {
        Some(_) => CtaError::Io(error.into()),
        None => CtaError::NotJson {
            line: error.line(),
            column: error.column(),
            what: without_position(&error),
        },
    })?;
    check_positions(&requests)?;
    Ok(Requests {
        requests,
        notices: notices.finish(),
    })
}

fn request(entry: Item, item: u64, notices: &mut Notices) -> Result<Option<Request>, CtaError> {
    let missing = |field| CtaError::Missing { item, field };
    if entry.af.is_none() && entry.tf.is_none() {
        return Err(CtaError::NotATapeFile { item });
    }
    let af = entry.af.ok_or_else(|| missing("af"))?;
    let tf = entry.tf.ok_or_else(|| missing("tf"))?;
    let df = entry.df.unwrap_or_default();
    let number = |field, value: Option<Scalar>| {
        let text = value.ok_or_else(|| missing(field))?.0;
        parse_u64(&text).map_err(|fault| CtaError::BadNumber {
            item,
            field,
            text: excerpt(&text),
            fault,
        })
    };
    let archive_id = af.archive_id.ok_or_else(|| missing("af.archiveId"))?.0;
    let vid = tf
        .vid
        .filter(|vid| !vid.0.is_empty())
        .ok_or_else(|| missing("tf.vid"))?
        .0;
    if let Some(by) = tf.superseded_by_vid.filter(|by| !by.0.is_empty()) {
        notices.push("superseded", None, || {
            let (id, by) = (excerpt(&archive_id), excerpt(&by.0));
            format!("file {id} on {vid} is superseded by a copy on {by} and was left out")
        });
        return Ok(None);
    }
    let size = number("af.size", af.size)?;
    let block_id = number("tf.blockId", tf.block_id)?;
    let f_seq = number("tf.fSeq", tf.f_seq)?;
    // Cannot overflow: a quotient by 262144 leaves room for nine more.
    let block_count = blocks_for(0, size, CTA_BLOCK_SIZE).unwrap_or(0) + CTA_LABEL_OBJECTS;
    if !run_fits(block_id, block_count) {
        return Err(CtaError::Overflow {
            item,
            block_id,
            size,
        });
    }
    let text = |value: Option<Scalar>| value.map(|scalar| scalar.0).filter(|s| !s.is_empty());
    let extra = [
        ("copyNb", tf.copy_nb),
        ("storageClass", af.storage_class),
        ("diskInstance", df.disk_instance),
        ("diskId", df.disk_id),
    ];
    Ok(Some(Request {
        id: archive_id,
        volume: Some(vid),
        path: text(df.path),
        extents: vec![Extent {
            start_block: block_id,
            block_count,
            byte_count: Some(size),
            ..Extent::default()
        }],
        sort_key: Some(f_seq),
        extra: extra
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_string(), text(value)?)))
            .collect(),
        ..Request::default()
    }))
}

/// Files of one volume must begin at blocks that grow with their number.
fn check_positions(requests: &[Request]) -> Result<(), CtaError> {
    let mut places: Vec<(&str, u64, u64)> = requests
        .iter()
        .filter_map(|r| {
            Some((
                r.volume.as_deref()?,
                r.sort_key?,
                r.extents.first()?.start_block,
            ))
        })
        .collect();
    places.sort_unstable();
    places.dedup();
    for pair in places.windows(2) {
        let [
            (vid, first_f_seq, first_block),
            (next_vid, second_f_seq, second_block),
        ] = *pair
        else {
            continue;
        };
        if vid == next_vid && second_block <= first_block {
            return Err(CtaError::DummyBlocks {
                vid: excerpt(vid),
                first_f_seq,
                first_block,
                second_f_seq,
                second_block,
            });
        }
    }
    Ok(())
}

#[derive(Deserialize)]
#[serde(expecting = "an object with af and tf")]
struct Item {
    af: Option<ArchiveFile>,
    df: Option<DiskFile>,
    tf: Option<TapeFile>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ArchiveFile {
    archive_id: Option<Scalar>,
    size: Option<Scalar>,
    storage_class: Option<Scalar>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct DiskFile {
    disk_id: Option<Scalar>,
    disk_instance: Option<Scalar>,
    path: Option<Scalar>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TapeFile {
    vid: Option<Scalar>,
    copy_nb: Option<Scalar>,
    block_id: Option<Scalar>,
    f_seq: Option<Scalar>,
    superseded_by_vid: Option<Scalar>,
}

/// A text, or a number kept as text: protobuf writes 64-bit numbers as text and shorter ones as numbers.
struct Scalar(String);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ScalarVisitor;
        impl Visitor<'_> for ScalarVisitor {
            type Value = Scalar;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a number")
            }

            fn visit_str<E>(self, text: &str) -> Result<Scalar, E> {
                Ok(Scalar(text.to_string()))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Scalar, E> {
                Ok(Scalar(number.to_string()))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Scalar, E> {
                Ok(Scalar(number.to_string()))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Scalar, E> {
                Ok(Scalar(number.to_string()))
            }
        }
        deserializer.deserialize_any(ScalarVisitor)
    }
}

/// Hands over the items of the array one by one, so that the JSON is never in memory as a whole.
struct Items<'a, F> {
    meter: ItemMeter,
    take: &'a mut F,
}

impl<'de, F: FnMut(Item) -> bool> DeserializeSeed<'de> for Items<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, F: FnMut(Item) -> bool> Visitor<'de> for Items<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of tape files")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        self.meter.start_item();
        while let Some(item) = seq.next_element::<Item>()? {
            self.meter.start_item();
            if !(self.take)(item) {
                return Err(serde::de::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}
