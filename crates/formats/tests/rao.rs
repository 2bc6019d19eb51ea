//! The drive's own order: lists by hand with every field named, lists at random, and everything that can be wrong.

use proptest::prelude::*;
use tapewise_formats::rao::{
    Process, RaoError, RaoList, UserDataSegment, parameter_list, read_answers,
};
use tapewise_formats::rao_batch::{AnswerError, BlockPlace, RaoBatch, bound};
use tapewise_formats::rao_dump::{DumpError, read_dump};
use tapewise_formats::{Extent, Request};

/// Three files asked for: 7 in blocks 100 to 163, 8 in block 5,000,000,000 alone, 9 in blocks 0 to 0 of partition 1.
const ASKED: &str = "
    00 00 00 00                     # reserved
    00 00 00 60                     # bytes that follow: 96
    00 1e  00 00 00                 # descriptor length 30, reserved
    30 30 30 30 30 30 30 30 30 30   # name 0000000000
    00                              # partition
    00 00 00 00 00 00 00 64         # first logical object 100
    00 00 00 00 00 00 00 a3         # last logical object 163
    00 1e  00 00 00
    30 30 30 30 30 30 30 30 30 31   # name 0000000001
    00
    00 00 00 01 2a 05 f2 00         # 5,000,000,000
    00 00 00 01 2a 05 f2 00
    00 1e  00 00 00
    30 30 30 30 30 30 30 30 30 32   # name 0000000002
    01
    00 00 00 00 00 00 00 00
    00 00 00 00 00 00 00 00
";

/// The answer to it, in the order 2, 0, 1, as sg_raw prints it; bytes 2 to 4 of the descriptors have a value.
const ANSWERED: &str = "SCSI Status: Good

Received 104 bytes of data:
 00     02 01 00 00 00 00 00 60  00 1e 00 00 2a 30 30 30    .......`....*000
 10     30 30 30 30 30 30 32 01  00 00 00 00 00 00 00 00    0000002.........
 20     00 00 00 00 00 00 00 00  00 1e 00 00 07 30 30 30    .............000
 30     30 30 30 30 30 30 30 00  00 00 00 00 00 00 00 64    0000000........d
 40     00 00 00 00 00 00 00 a3  00 1e 00 01 00 30 30 30    .............000
 50     30 30 30 30 30 30 31 00  00 00 00 01 2a 05 f2 00    0000001.....*...
 60     00 00 00 01 2a 05 f2 00                             ....*...
";

fn request(id: &str, extents: &[(Option<u8>, u64, u64)]) -> Request {
    Request {
        id: id.to_string(),
        extents: extents
            .iter()
            .map(|&(partition, start_block, block_count)| Extent {
                partition,
                start_block,
                block_count,
                ..Extent::default()
            })
            .collect(),
        ..Request::default()
    }
}

fn three_requests() -> Vec<Request> {
    vec![
        request("seven", &[(None, 100, 64)]),
        request("eight", &[(Some(0), 5_000_000_000, 1)]),
        request("nine", &[(Some(1), 0, 1)]),
    ]
}

/// An answer written field by field, apart from the code under test.
fn answer(segments: &[UserDataSegment], geometry: &[u8]) -> Vec<u8> {
    let mut list = Vec::new();
    for segment in segments {
        list.extend((30 + geometry.len() as u16).to_be_bytes());
        list.extend([0, 0, 9]);
        list.extend(segment.name);
        list.push(segment.partition);
        list.extend(segment.first_block.to_be_bytes());
        list.extend(segment.last_block.to_be_bytes());
        list.extend(geometry);
    }
    let mut data = vec![2, 1, 0, 0];
    data.extend((list.len() as u32).to_be_bytes());
    data.extend(list);
    data
}

fn segment(number: usize, first_block: u64, last_block: u64) -> UserDataSegment {
    UserDataSegment {
        name: format!("{number:010}").into_bytes().try_into().unwrap(),
        partition: 0,
        first_block,
        last_block,
    }
}

fn answers(data: &[u8]) -> Vec<RaoList> {
    read_answers(data).unwrap()
}

#[test]
fn the_parameter_list_is_as_the_references_lay_it_out() {
    let requests = three_requests();
    let batch = RaoBatch::new(&requests);
    let asked = read_dump(ASKED.as_bytes()).unwrap();
    assert_eq!(parameter_list(batch.segments()).unwrap(), *asked);
    assert_eq!(parameter_list(&[]).unwrap(), [0; 8], "the list that clears");
}

#[test]
fn an_answer_orders_the_requests() {
    let data = read_dump(ANSWERED.as_bytes()).unwrap();
    let lists = answers(&data);
    assert_eq!(lists.len(), 1);
    assert_eq!(lists[0].process, Process::Reorder);
    let first = &lists[0].segments[0];
    assert_eq!((first.offset, first.unassigned), (8, [0, 0, 0x2a]));
    assert_eq!(first.segment.name_text(), "0000000002");
    let requests = three_requests();
    assert_eq!(RaoBatch::new(&requests).order(&lists), Ok(vec![2, 0, 1]));
}

#[test]
fn every_dump_of_the_same_data_reads_alike() {
    let data = read_dump(ANSWERED.as_bytes()).unwrap().into_owned();
    let pairs: Vec<String> = data.iter().map(|byte| format!("{byte:02x}")).collect();
    let plain = pairs.join(" ");
    let c_array = pairs.iter().map(|pair| format!("0x{pair},\n")).collect();
    let line = |index: usize, chunk: &[String], colon: &str, between: &str| {
        let bytes = chunk.join(between);
        format!("{:08x}{colon}  {bytes:<60}  |0.#@ 01|\n", index * 16)
    };
    let rows = |colon: &str, between: &str| -> String {
        let rows = pairs.chunks(16).enumerate();
        rows.map(|(index, chunk)| line(index, chunk, colon, between))
            .chain([format!("{:08x}{colon}\n", data.len())])
            .collect()
    };
    let dumps: [String; 6] = [
        plain.to_uppercase(),
        plain.replace(' ', ""),
        c_array,
        rows("", " "),
        rows(":", "").replace('|', " "),
        format!(
            "\u{feff}# recorded\r\n{}\r\n",
            plain.replace(" 00 1e", "\r\n00 1e")
        ),
    ];
    for dump in dumps {
        assert_eq!(
            read_dump(dump.as_bytes()).as_deref(),
            Ok(&data[..]),
            "{dump}"
        );
    }
    assert_eq!(
        read_dump(&data).as_deref(),
        Ok(&data[..]),
        "binary stays as it is"
    );
}

#[test]
fn a_dump_that_is_wrong_names_the_place() {
    let without_line = ANSWERED.replace(" 20     ", "#");
    assert_eq!(
        read_dump(without_line.as_bytes()),
        Err(DumpError::Offset {
            line: 7,
            offset: 0x30,
            found: 0x20
        })
    );
    for (dump, line, column) in [("02 01\n00 0g", 2, 4), ("02 1", 1, 4), ("0x 01", 1, 1)] {
        let error = read_dump(dump.as_bytes()).unwrap_err();
        assert!(
            matches!(error, DumpError::NotHex { line: l, column: c, .. } if (l, c) == (line, column)),
            "{dump}: {error}"
        );
    }
    assert_eq!(read_dump(b"02 \xff"), Err(DumpError::NotText { offset: 3 }));
}

#[test]
fn several_answers_follow_each_other_and_the_rest_of_a_buffer_is_left_alone() {
    let mut data = answer(&[segment(1, 5, 9)], &[7; 20]);
    data.extend(answer(&[segment(0, 1, 1), segment(2, 50, 51)], &[]));
    let end = data.len();
    data.extend([0; 50]);
    let lists = answers(&data);
    assert_eq!(lists.len(), 2);
    assert_eq!(lists[0].segments[0].geometry, [7; 20]);
    assert_eq!(lists[1].segments[1].offset, end - 32);
    let requests = [
        request("a", &[(None, 1, 1)]),
        request("none", &[]),
        request("b", &[(None, 5, 5), (None, 50, 2)]),
    ];
    assert_eq!(RaoBatch::new(&requests).order(&lists), Ok(vec![2, 0]));
}

#[test]
fn short_and_damaged_answers_name_the_byte() {
    let whole = answer(&[segment(0, 1, 2), segment(1, 3, 4)], &[]);
    for length in 0..whole.len() {
        let error = read_answers(&whole[..length]).unwrap_err();
        assert!(
            matches!(error, RaoError::Short { offset: 0, .. }),
            "{length}: {error}"
        );
    }
    let damaged = |at: usize, value: u8| {
        let mut data = whole.clone();
        data[at] = value;
        read_answers(&data).unwrap_err()
    };
    assert_eq!(damaged(1, 0), RaoError::NoList { offset: 1 });
    assert_eq!(
        damaged(1, 5),
        RaoError::Status {
            offset: 1,
            status: 5
        }
    );
    let length = |error: &RaoError| match error {
        RaoError::DescriptorLength { offset, length, .. } => Some((*offset, *length)),
        _ => None,
    };
    assert_eq!(length(&damaged(9, 29)), Some((8, 29)));
    assert_eq!(length(&damaged(41, 31)), Some((40, 31)));
    // The first descriptor takes in the second: the list then has one segment, with 32 bytes that look like geometry.
    assert_eq!(
        answers(&{
            let mut data = whole.clone();
            data[9] = 62;
            data
        })[0]
            .segments
            .len(),
        1
    );
    // A list length that cuts the second descriptor in two.
    assert_eq!(length(&damaged(7, 40)), Some((40, 30)));
    assert!(matches!(
        damaged(7, 33),
        RaoError::Short {
            offset: 40,
            found: 1,
            ..
        }
    ));
    assert!(matches!(
        damaged(39, 0),
        RaoError::EndBeforeStart { offset: 8, .. }
    ));
}

#[test]
fn an_answer_to_another_list_is_refused() {
    let requests = three_requests();
    let batch = RaoBatch::new(&requests);
    let mut segments = batch.segments().to_vec();
    let order = |segments: &[UserDataSegment]| batch.order(&answers(&answer(segments, &[])));
    assert_eq!(order(&segments), Ok(vec![0, 1, 2]));
    assert!(matches!(
        order(&segments[..1]),
        Err(AnswerError::Missing { count: 2, asked: 3, ref id, .. }) if id == "eight"
    ));
    segments.push(segments[1]);
    assert!(matches!(
        order(&segments),
        Err(AnswerError::Twice {
            offset: 104,
            list: 1,
            ..
        })
    ));
    segments[3] = segment(3, 1, 2);
    assert!(matches!(
        order(&segments),
        Err(AnswerError::Unknown { offset: 104, .. })
    ));
    segments.truncate(3);
    segments[0].last_block += 1;
    let error = order(&segments).unwrap_err();
    assert_eq!(
        error.to_string(),
        "list 1, byte 8: segment \"0000000000\" is partition 0, blocks 100 to 164, asked for was partition 0, \
         blocks 100 to 163; is this the answer to another list?"
    );
}

#[test]
fn binding_points_are_asked_for_in_their_places_and_ignored_in_answers() {
    let requests = three_requests();
    let batch = RaoBatch::new(&requests);
    let head = BlockPlace {
        partition: 1,
        block: 42,
    };
    let list = bound(batch.segments(), head, true).unwrap();
    let texts: Vec<String> = list.iter().map(|segment| segment.name_text()).collect();
    // The only segment of several blocks goes last: a single block there would bind the end.
    assert_eq!(
        texts,
        ["start", "0000000001", "0000000002", "0000000000", "unload"]
    );
    assert_eq!(
        (list[0].partition, list[0].first_block, list[0].last_block),
        (1, 42, 42)
    );
    assert_eq!(
        (list[4].partition, list[4].first_block, list[4].last_block),
        (0, 0, 0)
    );
    assert_eq!(
        batch.order(&answers(&answer(&list, &[]))),
        Ok(vec![1, 2, 0])
    );
}

#[test]
fn a_large_batch_goes_in_windows() {
    let requests: Vec<Request> = (0..6_000)
        .map(|number| request("r", &[(None, number * 10, 3)]))
        .collect();
    let batch = RaoBatch::new(&requests);
    let head = BlockPlace {
        partition: 0,
        block: 0,
    };
    let lists: Vec<Vec<UserDataSegment>> = batch
        .windows()
        .map(|window| bound(window, head, true).unwrap())
        .collect();
    let sizes: Vec<usize> = lists.iter().map(Vec::len).collect();
    assert_eq!(sizes, [2_730, 2_730, 6_000 - 2 * 2_728 + 2]);
    let data: Vec<u8> = lists.iter().flat_map(|list| answer(list, &[])).collect();
    assert_eq!(batch.order(&answers(&data)), Ok((0..6_000).collect()));
    assert_eq!(
        parameter_list(batch.segments()),
        Err(RaoError::TooMany { count: 6_000 })
    );
    assert!(matches!(
        bound(&batch.segments()[..2_729], head, true),
        Err(RaoError::TooMany { count: 2_731 })
    ));
}

fn any_segment() -> impl Strategy<Value = UserDataSegment> {
    (any::<[u8; 10]>(), any::<u8>(), any::<(u64, u64)>()).prop_map(|(name, partition, (a, b))| {
        UserDataSegment {
            name,
            partition,
            first_block: a.min(b),
            last_block: a.max(b),
        }
    })
}

proptest! {
    /// A drive answers with the descriptors that it was sent.
    #[test]
    fn what_is_written_is_read_back(segments in prop::collection::vec(any_segment(), 1..40)) {
        let mut data = parameter_list(&segments).unwrap();
        prop_assert_eq!(data.len(), 8 + 32 * segments.len());
        data[..2].copy_from_slice(&[1, 1]);
        let lists = answers(&data);
        prop_assert_eq!(lists[0].process, Process::AsListed);
        let read: Vec<_> = lists[0].segments.iter().map(|listed| listed.segment).collect();
        prop_assert_eq!(&read, &segments);
    }

    #[test]
    fn answers_are_read_back_with_geometry_of_any_length(
        lists in prop::collection::vec(
            (prop::collection::vec(any_segment(), 1..9), prop::collection::vec(any::<u8>(), 0..60)), 1..4),
        padding in 0..99usize,
    ) {
        let mut data = Vec::new();
        for (segments, geometry) in &lists {
            data.extend(answer(segments, geometry));
        }
        data.resize(data.len() + padding, 0);
        let read = answers(&data);
        prop_assert_eq!(read.len(), lists.len());
        for (read, (segments, geometry)) in read.iter().zip(&lists) {
            prop_assert_eq!(read.segments.len(), segments.len());
            for (read, segment) in read.segments.iter().zip(segments) {
                prop_assert_eq!(&read.segment, segment);
                prop_assert_eq!(&read.geometry, geometry);
            }
        }
    }

    #[test]
    fn any_permutation_of_what_was_asked_is_an_order(
        blocks in prop::collection::vec((0..1u64 << 40, 1..1_000u64), 1..50),
        seed in any::<u64>(),
    ) {
        let requests: Vec<Request> =
            blocks.iter().map(|&(first, count)| request("r", &[(None, first, count)])).collect();
        let batch = RaoBatch::new(&requests);
        let mut expected: Vec<usize> = (0..requests.len()).collect();
        expected.sort_by_key(|&index| (seed ^ index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let listed: Vec<_> = expected.iter().map(|&index| batch.segments()[index]).collect();
        prop_assert_eq!(batch.order(&answers(&answer(&listed, &[]))), Ok(expected));
    }

    #[test]
    fn no_bytes_whatever_make_it_panic(data in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_answers(&data);
        let _ = read_dump(&data);
    }

    #[test]
    fn no_text_whatever_makes_it_panic(text in "[0-9a-f x:,#|\n\u{e9}]{0,80}") {
        let _ = read_dump(text.as_bytes());
    }
}

#[test]
fn the_example_of_the_documentation_is_an_answer() {
    let page = &tapewise_house::page("reference/rao.md");
    let example = page.split("```\n").nth(1).expect("a block of text");
    let lists = answers(&read_dump(example.as_bytes()).unwrap());
    let requests = [
        request("a", &[(None, 100, 64)]),
        request("b", &[(None, 5_000, 101)]),
    ];
    assert_eq!(RaoBatch::new(&requests).order(&lists), Ok(vec![1, 0]));
}
