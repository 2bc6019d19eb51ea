//! What emulated devices answer is what the SCSI crate's decoders, written apart from them, read.

use crate::host;

use std::time::Duration;
use tapewise_emulator::{Clock, DriveKind, Library, LibrarySpec};
use tapewise_scsi::commands::*;
use tapewise_scsi::{Changer, Command, Condition, TapeDrive, Transport};

const SOON: Duration = Duration::from_secs(120);

fn ready(library: &Library, number: usize) -> TapeDrive {
    let transport = library.transport_to_drive(number).unwrap();
    let mut drive = TapeDrive::open(Box::new(transport)).unwrap();
    drive.wait_until_ready(SOON).unwrap();
    drive
}

/// An LTO-9 drive with a few files: block sizes 1000 and 2000, three filemarks.
fn with_data(kind: &str, directory: &std::path::Path) -> (Library, TapeDrive) {
    let (library, _) = host::drive(kind, directory);
    let mut drive = ready(&library, 0);
    for file in 1..=3u8 {
        for block in 0..10 {
            drive.write(&vec![file; 1000 + 100 * block]).unwrap();
        }
        drive.write_filemarks(1, false).unwrap();
    }
    (library, drive)
}

#[test]
fn every_kind_of_drive_identifies_itself_writes_reads_and_locates() {
    for kind in DriveKind::names() {
        let directory = tempfile::tempdir().unwrap();
        let (library, _) = host::drive(kind, directory.path());
        let mut drive = ready(&library, 0);
        assert_eq!(
            drive.identity().serial.as_deref(),
            Some("TWD0000001"),
            "{kind}"
        );
        let blocks: Vec<Vec<u8>> = (0..20u8).map(|fill| vec![fill; 4096]).collect();
        for block in &blocks {
            assert_eq!(drive.write(block).unwrap(), WriteOutcome::Written, "{kind}");
        }
        drive.write_filemarks(1, false).unwrap();
        for number in [17u64, 3, 0, 19] {
            drive.locate(0, number).unwrap();
            assert_eq!(drive.position().unwrap().block, number, "{kind}");
            let mut buffer = vec![0; 4096];
            drive.read(&mut buffer).unwrap();
            assert_eq!(buffer, blocks[number as usize], "{kind}");
        }
        drive.rewind().unwrap();
        drive.unload().unwrap();
        drive.load().unwrap();
    }
}

#[test]
fn the_answers_of_a_modern_drive_decode() {
    let directory = tempfile::tempdir().unwrap();
    let (_library, mut drive) = with_data("lto9", directory.path());
    let transport = drive.transport();

    let inquiry = Inquiry.send(transport).unwrap();
    assert_eq!(inquiry.kind, DeviceKind::Tape);
    assert_eq!(
        (inquiry.vendor.as_str(), inquiry.product.as_str()),
        ("IBM", "ULT3580-TD9")
    );
    for page in [0x00, 0x80, 0x83, 0xb0, 0xb1] {
        InquiryVpd { page }.send(transport).unwrap();
    }

    let limits = ReadBlockLimits.send(transport).unwrap();
    assert_eq!((limits.min_bytes, limits.max_bytes), (1, 0x80_0000));
    let densities = ReportDensitySupport { of_medium: true }
        .send(transport)
        .unwrap();
    assert_eq!(densities[0].code, 0x60);

    let long = ReadPositionLong.send(transport).unwrap();
    assert_eq!((long.block, long.filemarks), (Some((0, 33)), Some(3)));
    let short = ReadPositionShort.send(transport).unwrap();
    assert_eq!(
        (short.first_block, short.objects_in_buffer),
        (Some(33), Some(0))
    );
    let extended = ReadPositionExtended.send(transport).unwrap();
    assert_eq!(extended.first_block, Some(33));

    let mode = ModeSense6 {
        page: 0x3f,
        subpage: 0,
    }
    .send(transport)
    .unwrap();
    assert_eq!(mode.block.unwrap().density, 0x60);
    assert_eq!(mode.pages.len(), 7);
    let again = ModeSense10 {
        page: 0x3f,
        subpage: 0,
    }
    .send(transport)
    .unwrap();
    assert_eq!(again.pages, mode.pages);
    ModeSelect6::block_length(1000).send(transport).unwrap();
    let mode = ModeSense6 {
        page: 0x0f,
        subpage: 0,
    }
    .send(transport)
    .unwrap();
    assert_eq!(mode.block.unwrap().length_bytes, 1000);

    let luns = ReportLuns.send(transport).unwrap();
    assert_eq!(luns.numbers().collect::<Vec<_>>(), [0]);
}

#[test]
fn counters_and_attributes_of_drive_and_cartridge_decode() {
    let directory = tempfile::tempdir().unwrap();
    let (_library, mut drive) = with_data("lto9", directory.path());
    let transport = drive.transport();
    let pages = LogSense {
        page: 0,
        subpage: 0,
    }
    .send(transport)
    .unwrap();
    assert_eq!(pages.pages, [0, 0x0c, 0x11, 0x14, 0x17, 0x1b, 0x2e, 0x31]);
    let page = |page, transport: &mut dyn Transport| {
        LogSense { page, subpage: 0 }.send(transport).unwrap()
    };
    let volume = VolumeStatistics::of(&page(0x17, transport)).unwrap();
    assert_eq!((volume.valid, volume.mounts), (Some(1), Some(1)));
    let device = DeviceStatistics::of(&page(0x14, transport)).unwrap();
    assert_eq!(device.loads, Some(1));
    let alerts = page(0x2e, transport).tape_alerts().unwrap();
    assert!(alerts.set.is_empty());
    let capacity = TapeCapacity::of(&page(0x31, transport)).unwrap();
    let most = capacity.most_0_mib.unwrap();
    assert!((17_000_000..18_000_000).contains(&most), "{most} MiB");
    page(0x0c, transport);

    let all = ReadAttributes {
        partition: 0,
        first: 0,
    }
    .send(transport)
    .unwrap();
    let ids = ReadAttributeList { partition: 0 }
        .send(transport)
        .unwrap()
        .ids;
    assert_eq!(ids, all.iter().map(|one| one.id).collect::<Vec<_>>());
    let loads = all.iter().find(|one| one.id == 0x0003).unwrap();
    assert_eq!(loads.number(), Some(1));
}

#[test]
fn a_drive_lists_the_commands_it_has_with_their_time_outs() {
    let directory = tempfile::tempdir().unwrap();
    let (_library, mut drive) = with_data("lto9", directory.path());
    assert_eq!(drive.supports(0xa4, Some(0x1d)).unwrap(), Some(true));
    assert_eq!(drive.supports(0xa3, Some(0x1f)).unwrap(), Some(true));
    assert_eq!(drive.supports(0xc0, None).unwrap(), Some(false));
    let transport = drive.transport();
    let all = ReportSupportedOpcodes.send(transport).unwrap();
    for known in &all {
        let one = ReportSupportedOpcode {
            opcode: known.opcode,
            service_action: known.service_action,
        };
        let one = one.send(transport).unwrap();
        assert_eq!(one.is_supported(), Some(true), "{known:?}");
        assert_eq!(one.usage.len(), usize::from(known.cdb_length));
        assert!(one.timeouts.unwrap().nominal_s > 0);
    }
    let directory = tempfile::tempdir().unwrap();
    let (_library, mut older) = with_data("lto8", directory.path());
    assert_eq!(older.supports(0xa4, Some(0x1d)).unwrap(), Some(false));
    // Operation code A3h is there for others, A4h for nothing: hence two answers.
    let refused = ReceiveAccessOrderLimits
        .send(older.transport())
        .unwrap_err();
    assert_eq!(refused.condition(), Some(Condition::UnsupportedField));
    let refused = GenerateAccessOrder::new(AccessOrderProcess::Reorder, &[]);
    let refused = refused.send(older.transport()).unwrap_err();
    assert_eq!(refused.condition(), Some(Condition::UnsupportedCommand));
}

#[test]
fn the_drive_orders_segments_between_the_points_it_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let (_library, mut drive) = with_data("lto9", directory.path());
    let transport = drive.transport();
    let limits = ReceiveAccessOrderLimits.send(transport).unwrap();
    assert_eq!(limits.most_segments, 2730);
    let segment = |name: u8, first, last| Segment {
        name: [name; 10],
        partition: 0,
        first,
        last,
    };
    let asked = [
        segment(b's', 5, 5),
        segment(b'a', 20, 22),
        segment(b'b', 8, 9),
        segment(b'c', 12, 14),
        segment(b'e', 30, 30),
    ];
    GenerateAccessOrder::new(AccessOrderProcess::Reorder, &asked)
        .send(transport)
        .unwrap();
    let order = ReceiveAccessOrder { segments: 5 }.send(transport).unwrap();
    let names: Vec<u8> = order
        .segments
        .iter()
        .map(|one| one.segment.name[0])
        .collect();
    assert_eq!(names, *b"sbcae");
    assert!(order.segments.iter().all(|one| one.raw_time == [0; 3]));
}

#[test]
fn persistent_reservations_keep_others_out_until_preempted() {
    let directory = tempfile::tempdir().unwrap();
    let (library, mut first) = with_data("lto8", directory.path());
    let mut second = ready(&library, 0);
    let kind = ReservationType::ExclusiveAccess;
    PersistentReserveOut::register(1)
        .send(first.transport())
        .unwrap();
    PersistentReserveOut::reserve(1, kind)
        .send(first.transport())
        .unwrap();
    let held = ReadReservation.send(second.transport()).unwrap().held;
    assert_eq!(held, Some((1, kind)));
    assert!(second.rewind().is_err());
    first.rewind().unwrap();
    PersistentReserveOut::register(2)
        .send(second.transport())
        .unwrap();
    PersistentReserveOut::preempt(2, 1, kind)
        .send(second.transport())
        .unwrap();
    assert_eq!(ReadKeys.send(second.transport()).unwrap().keys, [2]);
    second.rewind().unwrap();
    let attention = first.rewind().unwrap_err();
    assert!(
        matches!(attention.condition(), Some(Condition::UnitAttention(_))),
        "{attention}"
    );
    assert!(first.rewind().is_err());
}

#[test]
fn a_library_is_inventoried_and_a_drive_found_by_its_serial_number() {
    let directory = tempfile::tempdir().unwrap();
    let spec = LibrarySpec::with_robot("ibm3584", "lto8", 2, 10, 4, 1);
    let path = directory.path().join("library");
    let library = Library::create(&path, &spec, Clock::virtual_time()).unwrap();
    let mut changer = Changer::open(Box::new(library.transport_to_changer().unwrap())).unwrap();
    changer.wait_until_ready(SOON).unwrap();
    let inventory = changer.inventory().unwrap();
    assert_eq!(inventory.elements().count(), 1 + 2 + 2 + 10);
    let slot = inventory.find("TW0003").unwrap().address;
    let element = changer.element_of("TWD0000002").unwrap();
    changer.move_medium(slot, element).unwrap();
    let mut drive = ready(&library, 1);
    assert_eq!(drive.identity().serial.as_deref(), Some("TWD0000002"));
    drive.write(&[1; 100]).unwrap();
    let inventory = changer.inventory().unwrap();
    let there = inventory.find("TW0003").unwrap();
    assert_eq!((there.address, there.source), (element, Some(slot)));
    assert!(!there.is_accessible);
    drive.unload().unwrap();
    changer.move_medium(element, slot).unwrap();
    assert_eq!(
        changer.inventory().unwrap().find("TW0003").unwrap().address,
        slot
    );
    let addresses = changer.addresses().unwrap();
    assert_eq!((addresses.drives.count, addresses.slots.count), (2, 10));
}
