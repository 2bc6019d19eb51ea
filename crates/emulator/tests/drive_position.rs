//! LOCATE, SPACE, REWIND and READ POSITION against a naive model of a tape, and what they take.

use crate::host;

use host::{END, FILEMARK, Said, check, drive};
use proptest::prelude::*;
use std::time::Duration;
use tapewise_scsi::Transport;

/// A tape as a list: true for a filemark.
struct Naive {
    objects: Vec<bool>,
    at: usize,
}

#[derive(Clone, Debug)]
enum Move {
    Locate(u64),
    Blocks(i32),
    Filemarks(i32),
    EndOfData,
    Rewind,
    Read,
    WriteBlock,
    WriteFilemark,
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        (0u64..40).prop_map(Move::Locate),
        (-12i32..12).prop_map(Move::Blocks),
        (-4i32..4).prop_map(Move::Filemarks),
        Just(Move::EndOfData),
        Just(Move::Rewind),
        Just(Move::Read),
        Just(Move::WriteBlock),
        Just(Move::WriteFilemark),
    ];
    prop::collection::vec(one, 1..60)
}

fn stopped(code: u16, flags: u8, information: i32) -> Result<(), Said> {
    Err(Said {
        flags,
        information: Some(information),
        ..check(0, code)
    })
}

fn end_of_data(information: i32) -> Result<(), Said> {
    Err(Said {
        information: Some(information),
        ..check(8, 0x0005)
    })
}

impl Naive {
    /// One object at a time, as the standard tells it.
    fn blocks(&mut self, count: i32) -> Result<(), Said> {
        for left in (1..=count.abs()).rev() {
            if count > 0 {
                match self.objects.get(self.at) {
                    None => return end_of_data(left),
                    Some(is_mark) => {
                        self.at += 1;
                        if *is_mark {
                            return stopped(0x0001, FILEMARK, left);
                        }
                    }
                }
            } else {
                if self.at == 0 {
                    return stopped(0x0004, END, left);
                }
                self.at -= 1;
                if self.objects[self.at] {
                    return stopped(0x0001, FILEMARK, left);
                }
            }
        }
        Ok(())
    }

    fn filemarks(&mut self, count: i32) -> Result<(), Said> {
        for left in (1..=count.abs()).rev() {
            loop {
                if count > 0 {
                    match self.objects.get(self.at) {
                        None => return end_of_data(left),
                        Some(is_mark) => {
                            self.at += 1;
                            if *is_mark {
                                break;
                            }
                        }
                    }
                } else {
                    if self.at == 0 {
                        return stopped(0x0004, END, left);
                    }
                    self.at -= 1;
                    if self.objects[self.at] {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    fn write(&mut self, is_mark: bool) {
        self.objects.truncate(self.at);
        self.objects.push(is_mark);
        self.at += 1;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_command_ends_where_a_naive_tape_says(moves in moves()) {
        let directory = tempfile::tempdir().unwrap();
        let (_library, mut host) = drive("lto8", directory.path());
        let mut naive = Naive { objects: Vec::new(), at: 0 };
        for one in moves {
            let (says, should_say) = match one {
                Move::Locate(object) => {
                    let end = naive.objects.len();
                    naive.at = end.min(object as usize);
                    let says = if object as usize > end { Err(check(8, 0x0005)) } else { Ok(()) };
                    (host.locate(0, object), says)
                }
                Move::Blocks(count) => (host.space(0, count), naive.blocks(count)),
                Move::Filemarks(count) => (host.space(1, count), naive.filemarks(count)),
                Move::EndOfData => {
                    naive.at = naive.objects.len();
                    (host.space(3, 0), Ok(()))
                }
                Move::Rewind => {
                    host.rewind();
                    naive.at = 0;
                    (Ok(()), Ok(()))
                }
                Move::Read => {
                    let before = naive.at;
                    let says = host.read(64);
                    let met_block = naive.objects.get(before) == Some(&false);
                    prop_assert_eq!(says.is_ok(), met_block);
                    if before < naive.objects.len() {
                        naive.at += 1;
                    } else {
                        // A second read at end of data would be an error of another kind.
                        host.locate(0, before as u64).unwrap();
                    }
                    (Ok(()), Ok(()))
                }
                Move::WriteBlock => {
                    naive.write(false);
                    (host.write(&[1; 64]), Ok(()))
                }
                Move::WriteFilemark => {
                    naive.write(true);
                    (host.filemarks(1), Ok(()))
                }
            };
            prop_assert_eq!(says, should_say);
            prop_assert_eq!(host.position(), (0, naive.at as u64));
        }
    }
}

#[test]
fn time_passes_on_the_virtual_clock_only_and_more_for_a_longer_way() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("library");
    let mut spec = tapewise_emulator::LibrarySpec::one_drive("lto8", 3);
    // A million blocks of a gigabyte would be much; a hundred thousand bytes stand for 10 TB.
    spec.cartridges[0].scale = 100_000_000;
    let clock = tapewise_emulator::Clock::virtual_time();
    let library = tapewise_emulator::Library::create(&path, &spec, clock).unwrap();
    library.load_cartridge(&spec.cartridges[0].barcode).unwrap();
    let mut host = host::Host::new(library.transport_to_drive(0).unwrap());
    host.wait_until_ready();
    for number in 0..900u32 {
        let block: Vec<u8> = (0..100u32)
            .map(|at| (at * at * 31 + number * 7) as u8)
            .collect();
        host.write(&block).unwrap();
    }
    host.filemarks(0).unwrap();
    let mut took = |object: u64| {
        host.locate(0, 0).unwrap();
        let before = host.transport.now();
        host.locate(0, object).unwrap();
        (host.transport.now() - before, host.physical())
    };
    // On wrap 0 the way grows with the block number; wraps hold about 58 GB, some six blocks.
    let (near, (wrap, _)) = took(1);
    assert_eq!(wrap, 0);
    let (far, _) = took(5);
    assert!(far > near, "{far:?} {near:?}");
    let (_, (other_wrap, lpos)) = took(700);
    assert!(other_wrap > 50 && lpos > 0, "{other_wrap} {lpos}");
    assert!(host.transport.now() > Duration::from_secs(10_000));
}

#[test]
fn the_end_of_wrap_table_is_that_of_the_load() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("library");
    let mut spec = tapewise_emulator::LibrarySpec::one_drive("lto8", 3);
    spec.cartridges[0].scale = 100_000_000;
    let clock = tapewise_emulator::Clock::virtual_time();
    let library = tapewise_emulator::Library::create(&path, &spec, clock).unwrap();
    library.load_cartridge(&spec.cartridges[0].barcode).unwrap();
    let mut drive =
        tapewise_scsi::TapeDrive::open(Box::new(library.transport_to_drive(0).unwrap())).unwrap();
    let soon = Duration::from_secs(100);
    drive.wait_until_ready(soon).unwrap();
    for number in 0..200u32 {
        let block: Vec<u8> = (0..50u32)
            .map(|at| (at * at * 31 + number * 7) as u8)
            .collect();
        drive.write(&block).unwrap();
    }
    drive.write_filemarks(1, false).unwrap();
    assert_eq!(drive.end_of_wrap_table().unwrap(), Some(Vec::new()));
    drive.unload().unwrap();
    drive.load().unwrap();
    drive.wait_until_ready(soon).unwrap();
    let ends = drive.end_of_wrap_table().unwrap().unwrap();
    assert!(ends.len() > 10, "{ends:?}");
    let last = ends.last().unwrap();
    assert_eq!(last.block, 201);
    for end in &ends[..ends.len() - 1] {
        drive.locate(0, end.block).unwrap();
        let here = drive.physical_position().unwrap().unwrap();
        assert_eq!(here.wrap, Some(end.wrap), "{end:?}");
        drive.locate(0, end.block + 1).unwrap();
        let next = drive.physical_position().unwrap().unwrap();
        assert!(next.wrap > here.wrap, "{end:?} {next:?}");
    }
}

#[test]
fn a_drive_of_1998_has_the_commands_of_its_time_only() {
    let directory = tempfile::tempdir().unwrap();
    let (_library, mut host) = drive("dlt4000", directory.path());
    host.write(&[1; 100]).unwrap();
    host.write(&[2; 100]).unwrap();
    host.locate_10(1).unwrap();
    assert_eq!(host.short_position(), 1);
    assert_eq!(host.locate(0, 1).unwrap_err(), check(5, 0x2000));
    let long = host.input([0x34, 0x06, 0, 0, 0, 0, 0, 0, 0, 0], 32);
    assert_eq!(long.unwrap_err(), check(5, 0x2400));
    let sense = host.input([0x03, 0, 0, 0, 96, 0], 96).unwrap();
    assert_eq!(sense.len(), 18);
}

#[test]
fn partitions_are_made_as_ltfs_makes_them_and_kept_apart() {
    let directory = tempfile::tempdir().unwrap();
    let (library, mut host) = drive("lto8", directory.path());
    // Mode page 11h: one additional partition, sizes in units of 10^9 bytes: 1 and the rest.
    let page = [0x11, 0x0a, 0, 1, 0x3c, 3, 9, 0, 0, 1, 0xff, 0xff];
    let mut list = vec![0, 0, 0, 0, 0, 0, 0, 0];
    list.extend(page);
    host.output([0x55, 0x10, 0, 0, 0, 0, 0, 0, list.len() as u8, 0], &list)
        .unwrap();
    host.none([0x04, 0, 1, 0, 0, 0]).unwrap();
    host.write(&[1; 10]).unwrap();
    host.locate(1, 0).unwrap();
    host.write(&[2; 20]).unwrap();
    host.write(&[3; 20]).unwrap();
    host.filemarks(0).unwrap();
    assert_eq!(host.position(), (1, 2));
    // Two wraps of index, two of guard: partition 1 begins on wrap 4.
    assert_eq!(host.physical().0, 4);
    host.locate(0, 0).unwrap();
    assert_eq!(host.read(10).unwrap(), [1; 10]);
    assert_eq!(host.locate(2, 0).unwrap_err(), check(5, 0x2400));
    drop((library, host));
    let path = directory.path().join("library");
    let clock = tapewise_emulator::Clock::virtual_time();
    let library = tapewise_emulator::Library::open(&path, clock).unwrap();
    let mut host = host::Host::new(library.transport_to_drive(0).unwrap());
    host.wait_until_ready();
    host.locate(1, 1).unwrap();
    assert_eq!(host.read(20).unwrap(), [3; 20]);
}

#[test]
fn an_immediate_rewind_returns_at_once_and_the_drive_is_busy_until_it_is_there() {
    let directory = tempfile::tempdir().unwrap();
    let (_library, mut host) = drive("lto8", directory.path());
    host.write(&[1; 100_000]).unwrap();
    host.filemarks(0).unwrap();
    let before = host.transport.now();
    host.none([0x01, 1, 0, 0, 0, 0]).unwrap();
    assert_eq!(host.transport.now(), before);
    assert_eq!(host.none([0; 6]), Err(check(2, 0x0407)));
    host.transport.wait(Duration::from_secs(200));
    host.none([0; 6]).unwrap();
    assert_eq!(host.position(), (0, 0));
}

#[test]
fn addresses_of_the_vendors_own_kind_are_the_logical_ones() {
    let directory = tempfile::tempdir().unwrap();
    let (_library, mut host) = drive("lto8", directory.path());
    host.wait_until_ready();
    for _ in 0..5 {
        host.write(&[1; 64]).unwrap();
    }
    // LOCATE(10) with BT, READ POSITION 01h: what Linux's st sends for `mt seek` and `mt tell`.
    host.none([0x2b, 0x04, 0, 0, 0, 0, 3, 0, 0, 0]).unwrap();
    let answer = host
        .input([0x34, 0x01, 0, 0, 0, 0, 0, 0, 0, 0], 20)
        .unwrap();
    assert_eq!(answer[4..8], [0, 0, 0, 3]);
}
