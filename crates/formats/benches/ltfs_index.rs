//! How long an LTFS index of 200,000 files takes to read; the index is made in memory.

use std::fmt::Write;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tapewise_formats::ltfs_index::{read_ltfs_index, visit_ltfs_index};

const FILES: usize = 200_000;
const FILES_PER_DIRECTORY: usize = 500;

/// An index as LTFS 2.4 writes it, with all the times, one file in ten in two pieces.
fn index_xml() -> String {
    let times = ["creation", "change", "modify", "access", "backup"]
        .map(|kind| format!("<{kind}time>2026-11-21T04:03:10.577564666Z</{kind}time>\n"))
        .concat();
    let mut xml = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ltfsindex version=\"2.4.0\">\n<creator>bench</creator>\n\
         <volumeuuid>5005b061-f7af-46ed-9a6f-1cf307d37bc0</volumeuuid>\n<generationnumber>1</generationnumber>\n\
         <directory>\n<name>vol</name>\n<contents>\n",
    );
    let mut block = 6;
    for first in (0..FILES).step_by(FILES_PER_DIRECTORY) {
        let node = format!("<readonly>false</readonly>\n{times}<fileuid>{first}</fileuid>\n");
        let _ = write!(
            xml,
            "<directory>\n<name>reel{first:06}</name>\n{node}<contents>\n"
        );
        for file in first..first + FILES_PER_DIRECTORY {
            let _ = write!(
                xml,
                "<file>\n<name>clip{file:06}.mov</name>\n<length>1000000</length>\n{node}<extentinfo>\n"
            );
            for piece in 0..if file % 10 == 0 { 2 } else { 1 } {
                let _ = write!(
                    xml,
                    "<extent>\n<fileoffset>{}</fileoffset>\n<partition>b</partition>\n<startblock>{block}</startblock>\n\
                     <byteoffset>0</byteoffset>\n<bytecount>500000</bytecount>\n</extent>\n",
                    piece * 500_000
                );
                block += 1;
            }
            xml.push_str("</extentinfo>\n</file>\n");
        }
        xml.push_str("</contents>\n</directory>\n");
    }
    xml.push_str("</contents>\n</directory>\n</ltfsindex>\n");
    xml
}

fn read_index(criterion: &mut Criterion) {
    let xml = index_xml();
    let mut group = criterion.benchmark_group("ltfs index of 200,000 files");
    group.sample_size(10);
    group.throughput(Throughput::Bytes(xml.len() as u64));
    group.bench_function("into a list", |bencher| {
        bencher.iter(|| {
            let (index, files) = read_ltfs_index(black_box(xml.as_bytes())).expect("a good index");
            assert_eq!((index.file_count, files.len()), (FILES as u64, FILES));
        });
    });
    group.bench_function("one by one", |bencher| {
        bencher.iter(|| {
            let index = visit_ltfs_index(black_box(xml.as_bytes()), |file| {
                black_box(file);
            });
            assert_eq!(index.expect("a good index").extent_count, 220_000);
        });
    });
    group.finish();
}

criterion_group!(benches, read_index);
criterion_main!(benches);
