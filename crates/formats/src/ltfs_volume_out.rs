//! Writes what makes a cartridge an LTFS volume: labels, indexes and what the cartridge's memory says of them.
//!
//! LTFS Format Specification 2.5: sections 6 (partitions), 9.2 (index) and 10.4 (cartridge memory). Nothing here
//! touches a tape or a file; whoever writes puts the blocks where [`crate::ltfs_index::LtfsLocation`] says.

use crate::ltfs_index::{LtfsFile, LtfsLocation};
use jiff::Timestamp;
use std::fmt::Write as _;

/// The block size that `mkltfs` takes.
pub const BLOCK_BYTES: u64 = 524_288;

/// Blocks of the label of each partition: VOL1, a filemark, the XML label, a filemark.
pub const LABEL_BLOCKS: u64 = 4;

/// A volume to be written: index partition a, data partition b.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LtfsVolumeOut {
    /// The name of the program that writes it.
    pub creator: String,
    /// The barcode; VOL1 keeps its first six characters.
    pub barcode: String,
    /// The volume's UUID, in lower case.
    pub uuid: String,
    /// When it was formatted and its index written, in nanoseconds since 1970.
    pub time_ns: i64,
    /// Bytes of a block.
    pub block_bytes: u64,
}

impl LtfsVolumeOut {
    /// The VOL1 label, the first block of each partition.
    pub fn vol1(&self) -> [u8; 80] {
        let mut label = [b' '; 80];
        label[..4].copy_from_slice(b"VOL1");
        for (to, from) in label[4..10].iter_mut().zip(self.barcode.bytes()) {
            *to = from;
        }
        label[10] = b'L';
        label[24..28].copy_from_slice(b"LTFS");
        label[79] = b'4';
        label
    }

    /// The XML label of the partition with this letter.
    pub fn label(&self, partition: char) -> String {
        let (creator, uuid, bytes) = (escaped(&self.creator), &self.uuid, self.block_bytes);
        let time = rfc3339(self.time_ns);
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ltfslabel version=\"2.4.0\">\n\
             <creator>{creator}</creator>\n<formattime>{time}</formattime>\n<volumeuuid>{uuid}</volumeuuid>\n\
             <location>\n<partition>{partition}</partition>\n</location>\n\
             <partitions>\n<index>a</index>\n<data>b</data>\n</partitions>\n\
             <blocksize>{bytes}</blocksize>\n<compression>true</compression>\n</ltfslabel>\n"
        )
    }

    /// An index of these files, which are sorted by their paths, as the first of the volume; it lies at `location`.
    ///
    /// Directories have the time of the volume, and exist only where a file is below them.
    pub fn index(&self, files: &[LtfsFile], location: LtfsLocation) -> String {
        let mut out = IndexText {
            text: String::new(),
            time: rfc3339(self.time_ns),
            next_uid: 1,
        };
        out.directory_begins(&self.barcode);
        let mut open: Vec<&str> = Vec::new();
        for file in files {
            let wanted: Vec<&str> = file
                .path
                .directory()
                .split('/')
                .filter(|name| !name.is_empty())
                .collect();
            let common = open.iter().zip(&wanted).take_while(|(a, b)| a == b).count();
            for _ in common..open.len() {
                out.directory_ends();
            }
            for name in &wanted[common..] {
                out.directory_begins(name);
            }
            open = wanted;
            out.file(file);
        }
        for _ in 0..=open.len() {
            out.directory_ends();
        }
        let (creator, uuid, time) = (escaped(&self.creator), &self.uuid, &out.time);
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ltfsindex version=\"2.4.0\">\n\
             <creator>{creator}</creator>\n<volumeuuid>{uuid}</volumeuuid>\n\
             <generationnumber>1</generationnumber>\n<updatetime>{time}</updatetime>\n{}\
             <allowpolicyupdate>true</allowpolicyupdate>\n<highestfileuid>{}</highestfileuid>\n\
             <volumelockstate>unlocked</volumelockstate>\n{}</ltfsindex>\n",
            place("location", location),
            out.next_uid - 1,
            out.text
        )
    }

    /// The value of attribute 080Ch of a partition whose newest index begins at a block (SPC-5, 7.4.2.4.10).
    pub fn coherency(&self, generation: u64, start_block: u64) -> Vec<u8> {
        const CHANGE_REFERENCE: u64 = 1;
        let mut value = vec![8];
        value.extend(CHANGE_REFERENCE.to_be_bytes());
        value.extend(generation.to_be_bytes());
        value.extend(start_block.to_be_bytes());
        let mut of_application = b"LTFS\0".to_vec();
        of_application.extend(self.uuid.bytes());
        // The end of the text, and the version of this layout.
        of_application.extend([0, 1]);
        value.extend((of_application.len() as u16).to_be_bytes());
        value.extend(of_application);
        value
    }
}

/// The same index as if it lay at another place, with the index before it at `previous`.
///
/// `None` when its head names no place, which every index does.
pub fn index_at(
    xml: &str,
    location: LtfsLocation,
    previous: Option<LtfsLocation>,
) -> Option<String> {
    let head_end = xml.find("<directory")?;
    let (head, rest) = xml.split_at(head_end);
    let (before, _, after) = element(head, "location")?;
    let after = match element(after, "previousgenerationlocation") {
        Some((between, _, after)) => format!("{}{}", between.trim_start(), after.trim_start()),
        None => after.trim_start().to_owned(),
    };
    let previous = previous.map(|previous| place("previousgenerationlocation", previous));
    Some(format!(
        "{before}{}{}{after}{rest}",
        place("location", location),
        previous.unwrap_or_default()
    ))
}

/// The same index without the checksums that it keeps of its files, for a volume on which their bytes are others.
pub fn without_hashes(xml: &str) -> String {
    let mut out = String::with_capacity(xml.len());
    let mut rest = xml;
    while let Some((before, attribute, after)) = element(rest, "xattr") {
        out.push_str(before);
        if !attribute.contains(">ltfs.hash.") {
            out.push_str(&rest[before.len()..rest.len() - after.len()]);
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The text before the first element of this name, the element's content, and what follows it.
fn element<'x>(xml: &'x str, name: &str) -> Option<(&'x str, &'x str, &'x str)> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let (before, rest) = xml.split_once(&open)?;
    let (content, after) = rest.split_once(&close)?;
    Some((before, content, after))
}

fn place(name: &str, at: LtfsLocation) -> String {
    format!(
        "<{name}>\n<partition>{}</partition>\n<startblock>{}</startblock>\n</{name}>\n",
        at.partition, at.start_block
    )
}

/// The directories and files of an index.
struct IndexText {
    text: String,
    time: String,
    next_uid: u64,
}

impl IndexText {
    // Writing to a string cannot fail: the results of `write!` have nothing to say.

    fn directory_begins(&mut self, name: &str) {
        let time = self.time.clone();
        let uid = self.uid();
        let _ = write!(
            self.text,
            "<directory>\n{}<readonly>false</readonly>\n{}<fileuid>{uid}</fileuid>\n<contents>\n",
            name_element("name", name),
            times(&time)
        );
    }

    fn directory_ends(&mut self) {
        self.text.push_str("</contents>\n</directory>\n");
    }

    fn file(&mut self, file: &LtfsFile) {
        let uid = self.uid();
        let time = file.modified_ns.map_or_else(|| self.time.clone(), rfc3339);
        let _ = write!(
            self.text,
            "<file>\n{}<length>{}</length>\n<readonly>{}</readonly>\n{}<fileuid>{uid}</fileuid>\n",
            name_element("name", file.path.name()),
            file.length,
            file.readonly,
            times(&time)
        );
        if let Some(target) = &file.symlink {
            self.text.push_str(&name_element("symlink", target));
        }
        if !file.extents.is_empty() {
            self.text.push_str("<extentinfo>\n");
        }
        for extent in &file.extents {
            let _ = write!(
                self.text,
                "<extent>\n<fileoffset>{}</fileoffset>\n<partition>{}</partition>\n<startblock>{}</startblock>\n\
                 <byteoffset>{}</byteoffset>\n<bytecount>{}</bytecount>\n</extent>\n",
                extent.file_offset,
                extent.partition,
                extent.start_block,
                extent.byte_offset,
                extent.byte_count
            );
        }
        if !file.extents.is_empty() {
            self.text.push_str("</extentinfo>\n");
        }
        self.text.push_str("</file>\n");
    }

    fn uid(&mut self) -> u64 {
        self.next_uid += 1;
        self.next_uid - 1
    }
}

fn times(time: &str) -> String {
    ["creation", "change", "modify", "access", "backup"]
        .map(|which| format!("<{which}time>{time}</{which}time>\n"))
        .concat()
}

/// A name as an element; names that XML cannot hold are percent-encoded (9.2.5).
fn name_element(element: &str, name: &str) -> String {
    let is_plain =
        |one: char| !one.is_control() && one != ':' && one != '\u{fffe}' && one != '\u{ffff}';
    if name.chars().all(is_plain) {
        return format!("<{element}>{}</{element}>\n", escaped(name));
    }
    let encoded: String = name
        .chars()
        .flat_map(|one| {
            let mut bytes = [0; 4];
            let text = one.encode_utf8(&mut bytes);
            let is_kept = is_plain(one) && one != '%';
            if is_kept {
                vec![escaped(text)]
            } else {
                text.bytes().map(|byte| format!("%{byte:02X}")).collect()
            }
        })
        .collect();
    format!("<{element} percentencoded=\"true\">{encoded}</{element}>\n")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// A time as LTFS has it: nanoseconds, nine digits.
fn rfc3339(ns: i64) -> String {
    let time = Timestamp::from_nanosecond(i128::from(ns)).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{time:.9}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ltfs_index::{LtfsExtent, read_ltfs_index};
    use crate::ltfs_label::read_ltfs_label;
    use crate::ltfs_path::LtfsPath;

    fn volume() -> LtfsVolumeOut {
        LtfsVolumeOut {
            creator: "a <test> & more".to_owned(),
            barcode: "TW0001L8".to_owned(),
            uuid: "30a91a08-daae-48d1-ae75-69804e61d2ea".to_owned(),
            time_ns: 1_700_000_000_123_456_789,
            block_bytes: BLOCK_BYTES,
        }
    }

    fn file(path: &str, start_block: u64, bytes: u64) -> LtfsFile {
        let extent = LtfsExtent {
            file_offset: 0,
            partition: 'b',
            start_block,
            byte_offset: 0,
            byte_count: bytes,
        };
        LtfsFile {
            path: LtfsPath::from(path),
            length: bytes,
            modified_ns: Some(1_600_000_000_000_000_001),
            extents: (bytes > 0).then_some(extent).into_iter().collect(),
            ..LtfsFile::default()
        }
    }

    #[test]
    fn an_index_is_read_as_it_was_written_whatever_the_names() {
        let names = [
            "a/b/c/deep",
            "a/b/flat",
            "a/z: 50%\n",
            "b/<&>\"'",
            "b/é/ü",
            "top",
            "zero",
        ];
        let mut files: Vec<LtfsFile> = names
            .iter()
            .enumerate()
            .map(|(at, name)| file(name, 4 + at as u64, 1000 * (6 - at as u64)))
            .collect();
        files[5].symlink = Some("a/b/flat & more".into());
        let location = LtfsLocation {
            partition: 'b',
            start_block: 77,
        };
        let text = volume().index(&files, location);
        let (head, read) = read_ltfs_index(text.as_bytes()).expect("an index");
        assert_eq!(head.location, Some(location));
        assert_eq!(
            (head.volume_name.as_str(), head.generation),
            ("TW0001L8", 1)
        );
        assert_eq!(head.creator, "a <test> & more");
        assert_eq!((head.file_count, head.directory_count), (7, 6));
        assert_eq!(head.highest_file_uid, Some(13));
        for (read, written) in read.iter().zip(&files) {
            assert_eq!(read.path, written.path);
            assert_eq!(
                (read.length, &read.extents),
                (written.length, &written.extents)
            );
            assert_eq!(read.symlink, written.symlink);
            assert_eq!(read.modified_ns, written.modified_ns);
        }
        assert_eq!(read.len(), files.len());
        assert_eq!(head.notices, []);
    }

    #[test]
    fn an_index_moves_and_loses_its_hashes_and_nothing_else() {
        let a = LtfsLocation {
            partition: 'a',
            start_block: 5,
        };
        let b = LtfsLocation {
            partition: 'b',
            start_block: 99,
        };
        let first = volume().index(&[file("x", 4, 10)], b);
        let moved = index_at(&first, a, Some(b)).expect("a head");
        let (head, _) = read_ltfs_index(moved.as_bytes()).expect("an index");
        assert_eq!((head.location, head.previous_location), (Some(a), Some(b)));
        assert_eq!(index_at(&moved, b, None).as_deref(), Some(&*first));
        let hash = "<xattr><key>ltfs.hash.sha256sum</key><value>00</value></xattr>";
        let kept = "<xattr><key>colour</key><value>green</value></xattr>";
        let text = format!("<a>{kept}{hash}{kept}</a>");
        assert_eq!(without_hashes(&text), format!("<a>{kept}{kept}</a>"));
    }

    #[test]
    fn labels_are_read_as_they_were_written() {
        let volume = volume();
        let label = read_ltfs_label(volume.label('b').as_bytes()).expect("a label");
        assert_eq!(
            (label.partition, label.index_partition, label.data_partition),
            ('b', 'a', 'b')
        );
        assert_eq!(
            (label.volume_uuid, label.block_size),
            (volume.uuid.clone(), BLOCK_BYTES)
        );
        assert!(volume.vol1().starts_with(b"VOL1TW0001L"));
        assert_eq!(volume.coherency(1, 5).len(), 25 + 2 + 43);
    }
}
