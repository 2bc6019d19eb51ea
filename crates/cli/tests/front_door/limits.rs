//! Numbers near the ends of what 64 bits hold, wherever a list may have some: refused with words or taken, in
//! every reader alike, and never a sum that has run over.

use crate::program::Desk;
use tapewise_model::Random;

/// Numbers at which additions run over, multiplications by block sizes do, or signs turn.
const EDGES: [u64; 12] = [
    0,
    1,
    2,
    524_288,
    (1 << 31) - 1,
    1 << 32,
    1 << 45,
    (1 << 63) - 1,
    1 << 63,
    u64::MAX - 524_288,
    u64::MAX - 1,
    u64::MAX,
];

/// Where a file begins, a count, an offset, and a length.
type Row = [u64; 4];

fn csv(rows: &[Row]) -> String {
    let mut text = "id,start_block,block_count,byte_offset,byte_count,file_offset\n".to_owned();
    for (at, [start, count, offset, bytes]) in rows.iter().enumerate() {
        text += &format!("f{at},{start},{count},{offset},{bytes},0\n");
    }
    text
}

fn jsonl(rows: &[Row]) -> String {
    let row = |(at, [start, count, _, bytes]): (usize, &Row)| {
        format!(
            "{{\"id\":\"f{at}\",\"start_block\":{start},\"block_count\":{count},\"byte_count\":{bytes}}}\n"
        )
    };
    rows.iter().enumerate().map(row).collect()
}

fn ltfs(rows: &[Row]) -> String {
    let mut text = "<?xml version=\"1.0\"?>\n<ltfsindex version=\"2.4.0\"><creator>x</creator>\
        <volumeuuid>30a91a08-daae-48d1-ae75-69804e61d2ea</volumeuuid><generationnumber>3</generationnumber>\
        <updatetime>2013-01-28T19:39:57.245954278Z</updatetime>\
        <location><partition>a</partition><startblock>5</startblock></location>\
        <directory><name>V</name><contents>"
        .to_owned();
    for (at, [start, length, offset, bytes]) in rows.iter().enumerate() {
        text += &format!(
            "<file><name>f{at}</name><length>{length}</length><extentinfo><extent><fileoffset>0</fileoffset>\
             <partition>b</partition><startblock>{start}</startblock><byteoffset>{offset}</byteoffset>\
             <bytecount>{bytes}</bytecount></extent></extentinfo></file>"
        );
    }
    text + "</contents></directory></ltfsindex>\n"
}

/// Every list through every command that takes it: each ends as promised.
fn goes_through(rows: &[Row]) {
    let desk = Desk::new();
    desk.put("V.csv", csv(rows));
    desk.put("V.jsonl", jsonl(rows));
    desk.put("V.xml", ltfs(rows));
    desk.put("V00001L8.xml", ltfs(rows));
    desk.done("catalog init A --drive emulated:lto8 --profile lto8");
    for line in [
        "order --profile lto8 --block-size 524288 V.csv --json",
        "order --profile lto8 --block-size 524288 V.jsonl",
        "order --profile lto8 V.xml --all-files --json",
        "order --profile lto8 V.xml --all-files",
        "convert --block-size 524288 V.csv",
        "convert V.xml --all-files",
        "catalog add --archive A V.csv --block-size 524288",
        "catalog add --archive A V00001L8.xml",
        "catalog find --archive A",
        "catalog check --archive A",
    ] {
        let ran = desk.run(line);
        let is_empty = line.contains("find") && ran.err.contains("nothing in the archive matches");
        assert!(
            (is_empty || matches!(ran.code, 0 | 2 | 3 | 7)) && !ran.err.contains("panicked"),
            "{line}: {} {}\n{rows:?}",
            ran.code,
            ran.err
        );
    }
}

#[test]
fn numbers_near_the_limits_are_refused_or_taken() {
    for case in 0..12 {
        let mut random = Random::new(64, case);
        let mut number = || EDGES[random.below(EDGES.len() as u64) as usize];
        let rows: Vec<Row> = (0..1 + case % 3)
            .map(|_| [(); 4].map(|()| number()))
            .collect();
        goes_through(&rows);
    }
}

/// The greatest of everything: sums of these run over with the second row.
#[test]
fn the_greatest_numbers_of_all_are_refused_or_taken() {
    goes_through(&[[0, 1 << 44, 0, 1 << 63], [1 << 45, 1 << 44, 0, 1 << 63]]);
    goes_through(&[[u64::MAX, 1, 0, 1], [0, 1, u64::MAX, 1]]);
}
