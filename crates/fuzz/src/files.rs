//! The readers of `tapewise-formats`.

use tapewise_formats::audit_csv::AuditCsv;
use tapewise_formats::deadline::{Deadline, Timestamp};
use tapewise_formats::event_log::{EventWriter, Header, read_events};
use tapewise_formats::fields::FieldOptions;
use tapewise_formats::list::{Separator, read_list};
use tapewise_formats::ltfs_extent::{LtfsLayout, ltfs_requests};
use tapewise_formats::ltfs_index::{LtfsFile, read_ltfs_index};
use tapewise_formats::ltfs_select::{named, select, sorted};
use tapewise_formats::map_file::{read_map, write_map};
use tapewise_formats::name_match::{Matching, Paths, match_list};
use tapewise_formats::plan_json::PlanDocument as Plan;
use tapewise_formats::rao_batch::RaoBatch;
use tapewise_formats::{
    bench_csv, block_moves_csv, bsr as bootstrap, csv_requests as requests, cta_log as cta,
    cta_tapefile as tapefile, detect as recognise, hsi as listing, jsonl as lines,
    locate_csv as locates, ltfs_label as label, ltfs_xattr as xattr, mhl as hashes, rao as answers,
    rao_dump as dump,
};

/// The longest input whose requests are also put to a drive's order, which takes time with their number.
const SHORT_BYTES: usize = 1 << 16;

pub(crate) fn audit_csv(bytes: &[u8]) {
    let Ok(mut table) = AuditCsv::open(bytes) else {
        return;
    };
    while let Ok(Some(_)) = table.next_event() {}
}

pub(crate) fn bench_csv(bytes: &[u8]) {
    if let Ok(pattern) = bench_csv::read_pattern(bytes) {
        let mut out = Vec::new();
        bench_csv::write_pattern(&mut out, &pattern).expect("into memory");
        assert_eq!(
            bench_csv::read_pattern(&out[..]).expect("what was written"),
            pattern
        );
    }
    let _ = bench_csv::read_stocked(bytes);
}

pub(crate) fn block_moves_csv(bytes: &[u8]) {
    let _ = block_moves_csv::read_block_moves(bytes);
}

pub(crate) fn bsr(bytes: &[u8]) {
    if let Ok((records, _)) = bootstrap::read_bsr(bytes) {
        bootstrap::bsr_requests(&records);
    }
}

pub(crate) fn csv_requests(bytes: &[u8]) {
    for block_size in [None, Some(1), Some(262_144)] {
        let options = FieldOptions { block_size };
        if let Ok(read) = requests::read_csv(bytes, options)
            && bytes.len() < SHORT_BYTES
        {
            let batch = RaoBatch::new(&read.requests);
            for window in batch.windows() {
                let _ = answers::parameter_list(window);
            }
        }
    }
}

pub(crate) fn cta_log(bytes: &[u8]) {
    if let Ok(log) = cta::read_cta_log(bytes) {
        let _ = log.moves();
    }
}

pub(crate) fn cta_tapefile(bytes: &[u8]) {
    let _ = tapefile::read_cta_tapefiles(bytes);
}

pub(crate) fn deadline(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        if let Ok(deadline) = Deadline::parse(text) {
            deadline.seconds_from(1_700_000_000_000_000);
        }
        let _ = Timestamp::parse(text);
    }
}

pub(crate) fn detect(bytes: &[u8]) {
    for name in [None, Some("a.csv"), Some("b"), Some(".xml")] {
        let found = recognise(bytes, name);
        assert!(!found.sentence.is_empty());
    }
}

pub(crate) fn event_log(bytes: &[u8]) {
    let Ok(mut log) = read_events(bytes) else {
        return;
    };
    let mut out = Vec::new();
    let header = Header::new("fuzz");
    let mut writer = EventWriter::new(&mut out, &header).expect("into memory");
    for event in log.events() {
        writer.write(event).expect("into memory");
    }
    let again = read_events(&out[..]).expect("what was written");
    assert!(again.events().eq(log.events()));
    log.merge(again);
}

pub(crate) fn hsi(bytes: &[u8]) {
    let _ = listing::read_hsi_listing(bytes);
}

pub(crate) fn jsonl(bytes: &[u8]) {
    for block_size in [None, Some(262_144)] {
        let _ = lines::read_json_lines(bytes, FieldOptions { block_size });
    }
}

pub(crate) fn list(bytes: &[u8]) {
    for separator in [Separator::Newline, Separator::Nul] {
        let _ = read_list(bytes, separator);
    }
}

pub(crate) fn locate_csv(bytes: &[u8]) {
    let _ = locates::read_locates(bytes);
}

pub(crate) fn ltfs_index(bytes: &[u8]) {
    let Ok((index, files)) = read_ltfs_index(bytes) else {
        return;
    };
    assert_eq!(index.file_count, files.len() as u64);
    let order = sorted(&files);
    let mut names = Vec::new();
    for file in files.iter().take(20) {
        let path = String::from(&file.path);
        let same = named(&files, &order, path.as_bytes());
        assert!(same.iter().any(|&at| std::ptr::eq(&files[at], file)));
        names.extend_from_slice(path.as_bytes());
        names.push(0);
    }
    names.extend_from_slice(file_of(&files).as_bytes());
    if let Ok(wanted) = read_list(&names[..], Separator::Nul) {
        let found = select(&files, &wanted.names, Some("/mnt")).expect("names in UTF-8");
        let names = wanted.names.iter();
        let names = names.map(|name| (name, name.as_str().expect("names in UTF-8")));
        let few = files.iter().take(100);
        let paths = Paths::new(few.map(|file| String::from(&file.path)).collect());
        match_list(&paths, &names.collect::<Vec<_>>(), &Matching::default());
        let chosen = found.files.iter().map(|&at| &files[at]);
        let _ = ltfs_requests(chosen, &LtfsLayout::assumed(), None);
    }
}

/// The directory of the last file.
fn file_of(files: &[LtfsFile]) -> &str {
    files.last().map_or("", |file| file.path.directory())
}

pub(crate) fn ltfs_label(bytes: &[u8]) {
    if let Ok(label) = label::read_ltfs_label(bytes) {
        LtfsLayout::from_label(&label);
    }
}

/// The values of the attributes, one a line.
pub(crate) fn ltfs_xattr(bytes: &[u8]) {
    let values = bytes.split(|&byte| byte == b'\n');
    let attributes: Vec<(&str, &[u8])> = xattr::LTFS_XATTR_NAMES.into_iter().zip(values).collect();
    let _ = xattr::request_from_xattrs("a/b", 1 << 20, &attributes, &LtfsLayout::assumed());
}

pub(crate) fn map_file(bytes: &[u8]) {
    if let Ok(map) = read_map(bytes) {
        let mut out = Vec::new();
        write_map(&mut out, &map).expect("into memory");
        assert_eq!(read_map(&out[..]).expect("what was written"), map);
    }
}

pub(crate) fn mhl(bytes: &[u8]) {
    let _ = hashes::read_mhl(bytes);
}

pub(crate) fn plan_json(bytes: &[u8]) {
    if let Ok(plan) = Plan::from_reader(bytes) {
        let mut out = Vec::new();
        plan.to_writer(&mut out).expect("a plan that was read");
        assert_eq!(Plan::from_reader(&out[..]).expect("what was written"), plan);
    }
}

pub(crate) fn rao(bytes: &[u8]) {
    if let Ok(lists) = answers::read_answers(bytes) {
        let _ = RaoBatch::new(&[]).order(&lists);
    }
}

pub(crate) fn rao_dump(bytes: &[u8]) {
    if let Ok(data) = dump::read_dump(bytes) {
        rao(&data);
    }
}
