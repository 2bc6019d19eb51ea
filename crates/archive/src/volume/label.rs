//! The label: the first file of a volume, a tar archive of one text that explains the volume.

use super::VolumeError;
use super::member::{RECORD_BYTES, header, padded};
use super::tar::is_header;
use std::fmt::Write as _;
use tapewise_formats::event::Action;
use tapewise_run::{Item, Recorder};

/// The name of the label's text in its archive.
pub const LABEL_NAME: &str = "TAPEWISE-LABEL.txt";

/// The version of the tape format that this writes and reads.
pub const FORMAT: i64 = 1;

/// What a volume says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Its identity: never two volumes with one.
    pub uuid: String,
    /// Its barcode when it was labelled.
    pub barcode: String,
    /// Bytes of each of its blocks.
    pub block_bytes: u32,
    /// When it was labelled, as RFC 3339 has it.
    pub created: String,
}

impl Label {
    /// The text: comments for people, keys for programs, all of it TOML.
    pub fn text(&self) -> String {
        let records = self.block_bytes as usize / RECORD_BYTES;
        let mut text = String::new();
        for line in EXPLANATION.lines() {
            let line = line.replace("BLOCKING", &records.to_string());
            let _ = writeln!(text, "{}", format!("# {line}").trim_end());
        }
        let keys = toml::Table::from_iter([
            ("tapewise_volume".to_owned(), toml::Value::Integer(FORMAT)),
            ("uuid".to_owned(), self.uuid.as_str().into()),
            ("barcode".to_owned(), self.barcode.as_str().into()),
            ("block_bytes".to_owned(), i64::from(self.block_bytes).into()),
            ("created".to_owned(), self.created.as_str().into()),
        ]);
        let _ = write!(text, "\n{keys}");
        text
    }

    /// Reads the text again.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(text: &str) -> Result<Label, String> {
        let keys: toml::Table = text
            .parse()
            .map_err(|error: toml::de::Error| error.to_string())?;
        let integer = |key: &str| {
            let value = keys.get(key).and_then(toml::Value::as_integer);
            value.ok_or_else(|| format!("{LABEL_NAME} has no number {key}"))
        };
        let string = |key: &str| {
            let value = keys.get(key).and_then(toml::Value::as_str);
            value
                .map(str::to_owned)
                .ok_or_else(|| format!("{LABEL_NAME} has no text {key}"))
        };
        let format = integer("tapewise_volume")?;
        if format != FORMAT {
            return Err(format!(
                "{LABEL_NAME} is of format {format}; this program reads format {FORMAT}"
            ));
        }
        let block_bytes = integer("block_bytes")?;
        let block_bytes = u32::try_from(block_bytes)
            .ok()
            .filter(|bytes| is_block_length(*bytes));
        Ok(Label {
            uuid: string("uuid")?,
            barcode: string("barcode")?,
            block_bytes: block_bytes.ok_or("block_bytes cannot be the block size of a volume")?,
            created: string("created")?,
        })
    }

    /// The block that is written: an archive of the text, filled up.
    ///
    /// # Errors
    /// [`VolumeError::BlockLength`].
    pub(super) fn block(&self) -> Result<Vec<u8>, VolumeError> {
        let bytes = self.block_bytes;
        let text = self.text();
        let mut header = header(LABEL_NAME.as_bytes(), b'0', 0o644, 0);
        header.set_size(text.len() as u64);
        header.set_cksum();
        let mut block = [header.as_bytes(), text.as_bytes()].concat();
        // Two empty records end an archive.
        let archive_bytes = padded(block.len()) + 2 * RECORD_BYTES;
        if !is_block_length(bytes) || archive_bytes > bytes as usize {
            return Err(VolumeError::BlockLength { bytes });
        }
        block.resize(bytes as usize, 0);
        Ok(block)
    }

    /// The label in the first block of a cartridge.
    pub(super) fn in_block(block: &[u8]) -> Result<Label, String> {
        let (head, rest) = block
            .split_first_chunk::<RECORD_BYTES>()
            .filter(|(head, _)| is_header(head))
            .ok_or("its first block is not a tar archive")?;
        let head = ::tar::Header::from_byte_slice(head);
        let name = head.path_bytes();
        if *name != *LABEL_NAME.as_bytes() {
            let name = String::from_utf8_lossy(&name)
                .chars()
                .take(100)
                .collect::<String>();
            return Err(format!("its first file is {name:?}, not {LABEL_NAME}"));
        }
        let text = head
            .entry_size()
            .ok()
            .and_then(|bytes| rest.get(..usize::try_from(bytes).ok()?));
        let text = text.ok_or_else(|| format!("{LABEL_NAME} is longer than the first block"))?;
        let text = std::str::from_utf8(text).map_err(|error| format!("{LABEL_NAME}: {error}"))?;
        let label = Label::parse(text)?;
        if label.block_bytes as usize == block.len() {
            Ok(label)
        } else {
            Err(format!(
                "its first block has {} bytes, its label says {}",
                block.len(),
                label.block_bytes
            ))
        }
    }
}

/// Whether blocks of a volume may have this length: tar's records fit in, a name of 4 KiB too, and
/// READ and WRITE can carry it.
pub fn is_block_length(bytes: u32) -> bool {
    bytes.is_multiple_of(RECORD_BYTES as u32) && (8 << 10..=8 << 20).contains(&bytes)
}

/// Rewinds and reads the label.
///
/// # Errors
/// [`VolumeError::NoLabel`] with what stands there instead; those of the drive.
pub fn read_label(recorder: &mut Recorder<'_>) -> Result<Label, VolumeError> {
    let no_label = |why: &str| VolumeError::NoLabel {
        why: why.to_owned(),
    };
    recorder.rewind()?;
    let mut label = Err(no_label("it is blank"));
    recorder.read_file(Action::Read, 1, &mut |_, item| {
        label = match item {
            Item::Filemark => Err(no_label("it begins with a filemark")),
            Item::Block(block) => Label::in_block(block).map_err(|why| no_label(&why)),
        };
        Ok(())
    })?;
    label
}

/// What stands on every volume for whoever finds it.
const EXPLANATION: &str = "\
TAPEWISE-LABEL.txt

This cartridge is a volume of a tapewise archive. Its files can be restored on any
machine with `mt` and GNU tar (or another tar that knows pax archives); tapewise itself
is not needed. With the drive as /dev/nst0:

    mt -f /dev/nst0 setblk 0
    mt -f /dev/nst0 asf 1
    tar -x -b BLOCKING --warning=no-unknown-keyword -f /dev/nst0

The first command lets the drive read blocks of any length. The second goes to the
archive after the first filemark; this text stands before it. There is one archive
after each filemark: repeat the last two with `asf 2`, `asf 3` and so on, until there
is no more data. `tar -t` instead of `tar -x` only lists. What follows the last filemark
was never finished and is to be ignored.

A file NAME.tapewise-part-0001-of-0003 is the first of three parts of NAME; the others
may be on other volumes. They are joined by

    cat NAME.tapewise-part-*-of-0003 > NAME

Parts that end in another number are of another version of NAME.

A file NAME.zst with a TAPEWISE.zstd record was compressed: `zstd -d NAME.zst`.

The headers have records of our own, which tar ignores: TAPEWISE.xxh3 is the XXH3 sum
(64 bits, seed 0; `xxhsum -H3`) of the contents as they stand on the tape.
TAPEWISE.part and TAPEWISE.offset tell which part a part is and where it begins,
TAPEWISE.zstd the length before compression, TAPEWISE.file.xxh3 the sum of the
file as it was before it was cut or compressed, TAPEWISE.stored when the file was
stored, TAPEWISE.copies on how many volumes it was to lie.

What follows is for programs (TOML).
";
