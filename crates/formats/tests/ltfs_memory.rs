//! How much memory an LTFS index takes, by the peak of this process. What one measurement has freed, the next may use
//! without a new peak: so the test that runs measures in a fixed order, the least first.

#![cfg(target_os = "linux")]

use std::io::{BufReader, Read};
use tapewise_formats::ltfs_index::read_ltfs_index;

/// Text that is made while it is read, so that it takes no memory itself.
struct Made<F> {
    nth: usize,
    next: F,
    text: Vec<u8>,
    at: usize,
}

impl<F: FnMut(usize) -> Option<String>> Read for Made<F> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.text.len() {
            let Some(text) = (self.next)(self.nth) else {
                return Ok(0);
            };
            (self.text, self.at) = (text.into_bytes(), 0);
            self.nth += 1;
        }
        let count = out.len().min(self.text.len() - self.at);
        out[..count].copy_from_slice(&self.text[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

fn made(next: impl FnMut(usize) -> Option<String>) -> BufReader<impl Read> {
    BufReader::new(Made {
        nth: 0,
        next,
        text: Vec::new(),
        at: 0,
    })
}

/// The largest resident size of this process since `forget_peak`, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.unwrap().split_whitespace().nth(1).unwrap();
    kib.parse::<u64>().unwrap() << 10
}

/// Begins the peak anew where the kernel allows it.
fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

const FILES_PER_DIRECTORY: usize = 500;

/// What reading an index of so many files adds to the peak, in bytes for each file.
fn bytes_for_each_of(files: usize) -> u64 {
    let open = "<ltfsindex version=\"2.4.0\"><volumeuuid>U</volumeuuid><directory><name>v</name><contents>";
    let directories = files / FILES_PER_DIRECTORY;
    let reader = made(|nth| match nth {
        0 => Some(open.to_string()),
        nth if nth <= directories => Some(directory(nth)),
        nth if nth == directories + 1 => Some("</contents></directory></ltfsindex>".to_string()),
        _ => None,
    });
    forget_peak();
    let before = peak();
    let (index, read) = read_ltfs_index(reader).unwrap();
    assert_eq!((index.file_count, read.len()), (files as u64, files));
    let name = format!("clip{:09}.mov", files - 1);
    assert_eq!(read[files - 1].path.name(), name);
    (peak() - before) / files as u64
}

fn directory(nth: usize) -> String {
    let mut xml = format!(
        "<directory><name>show {:03}</name><contents><directory><name>reel{nth:07}</name><contents>",
        nth / 100
    );
    for file in 0..FILES_PER_DIRECTORY {
        let number = (nth - 1) * FILES_PER_DIRECTORY + file;
        xml += &format!(
            "<file><name>clip{number:09}.mov</name><length>1000000</length><readonly>false</readonly>\
             <modifytime>2026-11-21T04:03:10.577564666Z</modifytime><fileuid>{number}</fileuid><extentinfo><extent>\
             <fileoffset>0</fileoffset><partition>b</partition><startblock>{number}</startblock>\
             <byteoffset>0</byteoffset><bytecount>1000000</bytecount></extent></extentinfo></file>"
        );
    }
    xml + "</contents></directory></contents></directory>"
}

#[test]
fn an_index_takes_memory_for_its_files_and_a_hostile_one_no_more() {
    let each = bytes_for_each_of(200_000);
    // Two million of them take less than 600 MB. Less than the name of a file alone would be no measurement.
    assert!((19..290).contains(&each), "{each} bytes for each file");
    a_small_index_cannot_make_much_of_itself();
}

#[test]
#[ignore = "twenty seconds: cargo test -p tapewise-formats --test ltfs_memory -- --ignored"]
fn two_million_files_take_less_than_600_mb() {
    let each = bytes_for_each_of(2_000_000);
    assert!(each * 2_000_000 < 600_000_000, "{each} bytes for each file");
}

/// An index whose files lie below directories with long names, each in a directory of its own.
fn deep(levels: usize, name_bytes: usize, files: usize, own_directory: bool) -> String {
    let name = "n".repeat(name_bytes);
    let open = format!("<directory><name>{name}</name><contents>");
    let close = "</contents></directory>";
    let file = "<file><name>f</name><length>0</length></file>";
    let file = if own_directory {
        format!("<directory><name>d</name><contents>{file}{close}")
    } else {
        file.to_string()
    };
    format!(
        "<ltfsindex version=\"2.4.0\"><volumeuuid>U</volumeuuid><directory><name>v</name><contents>{}{}{}{close}\
         </ltfsindex>",
        open.repeat(levels),
        file.repeat(files),
        close.repeat(levels)
    )
}

fn a_small_index_cannot_make_much_of_itself() {
    for (name_bytes, own_directory) in [(1_000, false), (100_000, true), (1_000, true)] {
        let levels = 120_000 / name_bytes;
        let xml = deep(levels, name_bytes, 30_000, own_directory);
        assert!(xml.len() < 5_000_000);
        forget_peak();
        let before = peak();
        let error = read_ltfs_index(xml.as_bytes()).map(|_| ()).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("bytes in the paths of its files"),
            "{error}"
        );
        let added = peak() - before;
        assert!(
            added < 200_000_000,
            "{added} bytes for an index of {}",
            xml.len()
        );
    }
    // What has 1 KiB a path is taken, however many there are, and shares the text of its directories.
    let (index, files) = read_ltfs_index(deep(4, 250, 50_000, false).as_bytes()).unwrap();
    assert_eq!(
        (index.file_count, files[49_999].path.len()),
        (50_000, 4 * 251 + 1)
    );
    let text = files[0].path.directory().as_ptr();
    assert!(
        files
            .iter()
            .all(|file| file.path.directory().as_ptr() == text)
    );
}
