//! Recorded answers decode exactly.

use crate::recorded;

use recorded::exchanges;
use tapewise_scsi::commands::*;
use tapewise_scsi::{Command, DecodeError, hex};

const MHVTL: &str = "mhvtl-LTO8-matrix.txt";
const MHVTL_LIBRARY: &str = "mhvtl-LTO8-pymatrix.txt";
const TGT: &str = "tgt-1.0.85-matrix.txt";
const SCSI_DEBUG: &str = "scsi_debug-7.2-tape-matrix.txt";

/// The first whole answer to a command of this label.
fn answer(file: &str, label: &str) -> Vec<u8> {
    exchanges(file)
        .into_iter()
        .find_map(|(asked, answer)| answer.filter(|_| asked == label))
        .unwrap_or_else(|| panic!("{file} has no whole answer to {label:?}"))
}

/// The decoder that belongs to a label of the recordings.
fn decoder_of(label: &str) -> Option<&'static str> {
    let decoders = [
        ("INQUIRY VPD", "vpd"),
        ("VPD", "vpd"),
        ("INQUIRY", "inquiry"),
        ("REQUEST SENSE", "sense"),
        ("READ BLOCK LIMITS", "block-limits"),
        ("MODE SENSE(10)", "mode-10"),
        ("MODE SENSE", "mode"),
        ("LOG SENSE", "log"),
        ("READ POSITION ext", "position-extended"),
        ("READ POSITION long", "position-long"),
        ("READ POSITION", "position"),
        ("REPORT DENSITY", "density"),
        ("REPORT LUNS", "luns"),
        ("REPORT SUPP", "opcodes"),
        ("READ ATTRIBUTE list", "attribute-list"),
        ("READ ATTRIBUTE", "attributes"),
        ("PERSISTENT RES IN", "keys"),
        ("RES type", "elements"),
        ("RES drive", "elements"),
        ("RES 4", "elements"),
        ("READ ELEMENT STATUS", "elements"),
    ];
    let mut found = decoders
        .iter()
        .filter(|(prefix, _)| label.starts_with(prefix));
    found.next().map(|(_, decoder)| *decoder)
}

#[test]
fn every_whole_answer_of_two_targets_is_decoded() {
    let mut decoded = 0;
    for file in [MHVTL, MHVTL_LIBRARY, TGT] {
        for (label, answer) in exchanges(file) {
            let (Some(bytes), Some(decoder)) = (answer, decoder_of(&label)) else {
                continue;
            };
            let report = decode_any(decoder, &bytes)
                .unwrap_or_else(|error| panic!("{file}, {label}: {error}"));
            let may_be_empty = decoder == "opcodes";
            assert!(may_be_empty || !report.lines().is_empty(), "{label}");
            decoded += 1;
        }
    }
    assert_eq!(decoded, 50, "answers in the recordings");
}

#[test]
fn an_inquiry_names_maker_product_and_firmware() {
    let bytes = hex::parse(
        "01 80 05 02 3b 01 01 20 49 42 4d 20 20 20 20 20 55 4c 54 33 35 38 30 2d 54 44 38 20 20 20
         20 20 48 42 39 39",
    );
    let data = Inquiry.decode(&bytes.unwrap()).unwrap();
    assert_eq!(data.kind, DeviceKind::Tape);
    assert_eq!(
        (data.qualifier, data.is_removable, data.version),
        (0, true, 5)
    );
    assert_eq!(data.vendor, "IBM");
    assert_eq!(data.product, "ULT3580-TD8");
    assert_eq!(data.revision, "HB99");
    assert!(data.vendor_specific.is_empty());
}

#[test]
fn the_pages_of_vital_product_data_are_told_apart() {
    let page = |bytes: &[u8]| VpdPage::decode(bytes).unwrap();
    assert_eq!(
        page(&answer(MHVTL, "VPD 00")),
        VpdPage::Supported(vec![
            0x00, 0x80, 0x83, 0x86, 0xb0, 0xb1, 0xb2, 0xb5, 0xc0, 0xc1
        ])
    );
    assert_eq!(
        page(&answer(MHVTL, "VPD 80")),
        VpdPage::SerialNumber("XYZZY_A1".into())
    );
    assert_eq!(
        page(&answer(SCSI_DEBUG, "VPD 80")),
        VpdPage::SerialNumber("2000".into())
    );
    assert_eq!(
        page(&answer(MHVTL_LIBRARY, "INQUIRY VPD b1")),
        VpdPage::ManufacturerSerial("XYZZY_A1".into())
    );
    assert_eq!(
        page(&answer(MHVTL, "VPD B0")),
        VpdPage::SequentialAccess {
            worm: true,
            bytes: vec![1, 0, 0, 0]
        }
    );
    let VpdPage::Identification(designators) = page(&answer(MHVTL_LIBRARY, "INQUIRY VPD 83"))
    else {
        panic!("another page");
    };
    let shown: Vec<_> = designators
        .iter()
        .map(|designator| (designator.kind, designator.association, designator.shown()))
        .collect();
    let t10 = "IBM     ULT3580-TD8     XYZZY_A1".to_owned();
    assert_eq!(shown, [(1, 0, t10), (3, 0, "50223344ab000100".into())]);
}

#[test]
fn a_page_other_than_the_one_asked_for_is_refused() {
    let wrong = InquiryVpd { page: 0x83 }.decode(&answer(MHVTL, "VPD 80"));
    assert!(
        matches!(
            wrong,
            Err(DecodeError::Field {
                at: 1,
                value: 0x80,
                ..
            })
        ),
        "{wrong:?}"
    );
}

#[test]
fn block_limits_have_a_granularity_and_two_ends() {
    let limits = |file| {
        ReadBlockLimits
            .decode(&answer(file, "READ BLOCK LIMITS"))
            .unwrap()
    };
    assert_eq!(
        limits(MHVTL),
        BlockLimits {
            granularity: 0,
            min_bytes: 1,
            max_bytes: 0x20_0000
        }
    );
    assert_eq!(
        limits(TGT),
        BlockLimits {
            granularity: 9,
            min_bytes: 4,
            max_bytes: 0x10_0000
        }
    );
    assert_eq!(
        limits(SCSI_DEBUG),
        BlockLimits {
            granularity: 4,
            min_bytes: 0x200,
            max_bytes: 0x10_0000
        }
    );
}

#[test]
fn a_position_says_what_the_drive_does_not_know() {
    let short = |file, label| ReadPositionShort.decode(&answer(file, label)).unwrap();
    let mhvtl = short(MHVTL, "READ POSITION short");
    assert_eq!((mhvtl.first_block, mhvtl.last_block), (Some(6), Some(6)));
    // BYCU: it does not count the bytes in its buffer.
    assert_eq!(
        (mhvtl.objects_in_buffer, mhvtl.bytes_in_buffer),
        (Some(0), None)
    );
    assert!(short(MHVTL, "READ POSITION at BOP").is_bop);

    // LOLU: tgt knows no position at all, and says so in the short form alone.
    assert_eq!(short(TGT, "READ POSITION").first_block, None);
    let long = ReadPositionLong
        .decode(&answer(TGT, "READ POSITION long"))
        .unwrap();
    assert_eq!((long.block, long.is_bop), (Some((0, 0)), false));

    let long = ReadPositionLong
        .decode(&answer(MHVTL, "READ POSITION long"))
        .unwrap();
    assert_eq!((long.block, long.filemarks), (Some((0, 6)), Some(1)));
}

#[test]
fn mode_data_has_a_block_descriptor_and_typed_pages() {
    let mode = |label| ModeSense6::ALL.decode(&answer(MHVTL, label)).unwrap();
    let configuration = mode("MODE SENSE 10");
    assert_eq!(configuration.medium_type, 0x88);
    assert_eq!(configuration.buffered_mode, 1);
    assert_eq!(
        configuration.block,
        Some(BlockDescriptor {
            density: 0x5e,
            blocks: 0,
            length_bytes: 0
        })
    );
    assert_eq!(
        configuration.pages,
        [ModePage::DeviceConfiguration(DeviceConfiguration {
            active_partition: 0,
            write_delay_ds: 0x64,
            marks_end_of_data: true,
            synchronizes_at_early_warning: true,
            compression: 0,
            reports_early_warning: false,
        })]
    );
    assert_eq!(
        mode("MODE SENSE 0f").pages,
        [ModePage::Compression(Compression {
            is_enabled: false,
            is_capable: true,
            decompresses: true,
            algorithm: 0xffff_ffff,
            decompression_algorithm: 0xffff_ffff,
        })]
    );
    let partitions = mode("MODE SENSE 11").pages;
    let [ModePage::Partitions(partitions)] = &partitions[..] else {
        panic!("{partitions:?}");
    };
    assert_eq!((partitions.most_additional, partitions.additional), (3, 0));
    assert_eq!((partitions.size_unit, partitions.size_exponent), (3, 5));
    assert_eq!(partitions.sizes, [0x51eb, 0, 0, 0]);
}

#[test]
fn a_changer_tells_where_its_elements_are() {
    let data = ModeSense6::ALL
        .decode(&answer(MHVTL_LIBRARY, "MODE SENSE 1d"))
        .unwrap();
    let range = |first, count| ElementRange { first, count };
    assert_eq!(
        data.pages,
        [ModePage::ElementAddresses(ElementAddresses {
            robots: range(1, 1),
            slots: range(0x400, 4),
            stations: range(0x300, 2),
            drives: range(0x101, 2),
        })]
    );
}

#[test]
fn element_status_has_addresses_labels_and_sources() {
    // tgt leaves out the last eight bytes of every answer.
    for file in [MHVTL_LIBRARY, TGT] {
        let robots = element_status(&answer(file, "READ ELEMENT STATUS type 1 voltag")).unwrap();
        assert_eq!(robots.len(), 1, "{file}");
        assert_eq!((robots[0].kind, robots[0].address), (ElementKind::Robot, 1));
        assert_eq!((robots[0].is_full, &robots[0].volume_tag), (false, &None));
    }
}

#[test]
fn a_drive_element_names_the_drive_and_where_its_cartridge_was() {
    // One page, one descriptor: full, accessible, from slot 0400h, label, T10 identifier.
    let mut bytes = hex::parse(
        "01 00 00 01 00 00 00 5e  04 80 00 56 00 00 00 56  01 00 09 00 00 00 00 00 00 80 04 00",
    )
    .unwrap();
    bytes.extend(format!("{:36}", "TST001L8").bytes());
    bytes.extend([0x02, 0x01, 0, 0x22]);
    bytes.extend(format!("{:8}{:16}{:10}", "IBM", "ULT3580-TD8", "XYZZY_A1").bytes());
    let elements = element_status(&bytes).unwrap();
    assert_eq!(
        elements,
        [Element {
            kind: ElementKind::Drive,
            address: 0x100,
            is_full: true,
            exception: None,
            is_accessible: true,
            is_from_operator: false,
            source: Some(0x400),
            volume_tag: Some("TST001L8".into()),
            device_id: Some(DeviceId {
                is_cut: false,
                shown: "IBM     ULT3580-TD8     XYZZY_A1".into(),
                serial: Some("XYZZY_A1".into()),
            }),
        }]
    );
}

#[test]
fn element_status_that_is_cut_short_is_refused() {
    let cut = element_status(&answer(TGT, "RES alloc=8"));
    assert_eq!(
        cut,
        Err(DecodeError::Short {
            what: "element status data",
            have: 8,
            need: 0x1b0
        })
    );
}

#[test]
fn the_end_of_wrap_table_of_a_type_m8_tape_is_read() {
    // Four wraps of an M8 tape of 256 KiB blocks; the last holds the end of data.
    let bytes = hex::parse(
        "00 32 00 00
         00 00 00 00 00 00 00 00 00 03 2d b6
         00 01 00 00 00 00 00 00 00 06 5a 0f
         00 02 00 00 00 00 00 00 00 09 87 b2
         00 03 00 00 00 00 00 00 00 09 aa b1",
    )
    .unwrap();
    let ends = ReadEndOfWrapPositions.decode(&bytes).unwrap();
    let expected = [208_310, 416_271, 624_562, 633_521];
    for (wrap, (end, block)) in ends.iter().zip(expected).enumerate() {
        let wrap = wrap as u16;
        assert_eq!(
            *end,
            EndOfWrap {
                wrap,
                partition: 0,
                block
            }
        );
    }
    assert_eq!(ends.len(), expected.len());

    let one = hex::parse("00 08 00 00 00 00 00 03 2d b6").unwrap();
    assert_eq!(ReadEndOfWrapPosition { wrap: 0 }.decode(&one), Ok(208_310));
}

#[test]
fn an_end_of_wrap_table_that_does_not_hold_what_it_says_is_refused() {
    // An LTO-8 drive announced 07CAh bytes, 166 wraps; here is only the first of them.
    let bytes = hex::parse("07 ca 00 00 00 00 00 00 00 00 00 00 00 03 2a 9c").unwrap();
    let cut = ReadEndOfWrapPositions.decode(&bytes);
    let need = 4 + 166 * 12;
    let what = "end-of-wrap table";
    assert_eq!(
        cut,
        Err(DecodeError::Short {
            what,
            have: 16,
            need
        })
    );
    let odd = ReadEndOfWrapPositions.decode(&[0, 3, 0, 0, 0]);
    assert!(matches!(odd, Err(DecodeError::Field { value: 3, .. })));
}

#[test]
fn log_pages_are_parameters_with_names() {
    let log = |label| LogPage::decode(&answer(MHVTL, label)).unwrap();
    assert_eq!(
        log("LOG SENSE 00").pages,
        [
            0x00, 0x02, 0x03, 0x0c, 0x0d, 0x10, 0x11, 0x17, 0x2e, 0x30, 0x31, 0x32, 0x37
        ]
    );
    let capacity = TapeCapacity::of(&log("LOG SENSE 31")).unwrap();
    assert_eq!(
        capacity,
        TapeCapacity {
            remaining_0_mib: Some(2000),
            remaining_1_mib: Some(0),
            most_0_mib: Some(2000),
            most_1_mib: Some(0),
        }
    );
    assert_eq!(VolumeStatistics::of(&log("LOG SENSE 31")), None);
    let debug = LogPage::decode(&answer(SCSI_DEBUG, "LOG SENSE 00")).unwrap();
    assert_eq!(debug.pages, [0x00, 0x0d, 0x2f]);
}

#[test]
fn volume_statistics_are_numbers_and_an_unknown_one_is_none() {
    let page = hex::parse(
        "17 00 00 1d
         00 01 03 04 00 00 00 2a
         00 11 03 04 ff ff ff ff
         00 40 01 09 30 30 30 31 32 33 20 20 20",
    )
    .unwrap();
    let page = LogPage::decode(&page).unwrap();
    let statistics = VolumeStatistics::of(&page).unwrap();
    assert_eq!((statistics.mounts, statistics.read_mb), (Some(42), None));
    assert_eq!(page.text(0x40).as_deref(), Some("000123"));
}

#[test]
fn tape_alerts_have_names() {
    let page = hex::parse("2e 00 00 0f 00 03 c0 01 00 00 14 c0 01 01 00 3c c0 01 01").unwrap();
    let alerts = LogPage::decode(&page).unwrap().tape_alerts().unwrap();
    assert_eq!(alerts.set, [20, 60]);
    assert_eq!(TapeAlerts::name(20), "cleaning required");
    assert_eq!(TapeAlerts::name(60), "WORM volume, overwrite attempted");
}

#[test]
fn attributes_have_formats_and_names() {
    let bytes = hex::parse(
        "00 00 00 1e
         00 00 80 00 08 00 00 00 00 00 00 07 d0
         00 05 81 00 08 4c 54 4f 2d 43 56 45 00
         16 23 00 00",
    );
    // The last header lacks its length byte: nothing is made up.
    let cut = ReadAttributes {
        partition: 0,
        first: 0,
    }
    .decode(&bytes.unwrap());
    assert!(matches!(cut, Err(DecodeError::Short { .. })));

    let bytes = hex::parse(
        "00 00 00 1a
         00 00 80 00 08 00 00 00 00 00 00 07 d0
         00 05 81 00 08 4c 54 4f 2d 43 56 45 00",
    );
    let attributes = ReadAttributes {
        partition: 0,
        first: 0,
    }
    .decode(&bytes.unwrap())
    .unwrap();
    assert_eq!(attributes[0].name(), Some("remaining capacity, MiB"));
    assert_eq!(attributes[0].number(), Some(2000));
    assert!(attributes[1].is_read_only);
    assert_eq!(attributes[1].value, AttributeValue::Ascii("LTO-CVE".into()));
}

#[test]
fn a_density_has_tracks_and_capacity() {
    let bytes = hex::parse(
        "00 36 00 00
         5c 5c a0 00 34 00 4a a3 00 7f 0e 00 00 5b 8d 80 4c 54 4f 2d 43 56 45 20 55 2d 37 33 32 20
         20 20 55 6c 74 72 69 75 6d 20 37 2f 33 32 54 20 20 20 20 20 20 20",
    );
    let found = ReportDensitySupport { of_medium: true }
        .decode(&bytes.unwrap())
        .unwrap();
    assert_eq!(
        found,
        [Density {
            code: 0x5c,
            secondary: 0x5c,
            is_writable: true,
            is_default: true,
            bits_per_mm: 19_107,
            width_dmm: 127,
            tracks: 3584,
            capacity_mb: 6_000_000,
            organization: "LTO-CVE".into(),
            name: "U-732".into(),
            description: "Ultrium 7/32T".into(),
        }]
    );
}

#[test]
fn supported_commands_come_with_service_actions_and_times() {
    let bytes = hex::parse(
        "00 00 00 1c
         92 00 00 00 00 00 00 10
         a3 00 00 1f 00 03 00 0c 00 0a 00 00 00 00 00 3c 00 00 0b 7c",
    );
    let found = ReportSupportedOpcodes.decode(&bytes.unwrap()).unwrap();
    let timeouts = CommandTimeouts {
        nominal_s: 60,
        recommended_s: 2940,
    };
    assert_eq!(
        found,
        [
            SupportedOpcode {
                opcode: 0x92,
                service_action: None,
                cdb_length: 16,
                timeouts: None
            },
            SupportedOpcode {
                opcode: 0xa3,
                service_action: Some(0x1f),
                cdb_length: 12,
                timeouts: Some(timeouts),
            },
        ]
    );
}

#[test]
fn reservations_have_holders() {
    let none = ReadReservation
        .decode(&answer(MHVTL, "PERSISTENT RES IN"))
        .unwrap();
    assert_eq!(
        none,
        Reservation {
            generation: 0,
            held: None
        }
    );
    let bytes =
        hex::parse("00 00 00 07 00 00 00 10  74 61 70 65 77 69 73 65  00 00 00 00 00 06 00 00");
    let held = ReadReservation.decode(&bytes.unwrap()).unwrap();
    let kind = ReservationType::ExclusiveAccessRegistrantsOnly;
    assert_eq!(held.held, Some((u64::from_be_bytes(*b"tapewise"), kind)));
}

#[test]
fn logical_units_are_numbered() {
    let luns = ReportLuns.decode(&answer(TGT, "REPORT LUNS")).unwrap();
    assert_eq!(luns.numbers().collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[test]
fn an_access_order_goes_out_and_comes_back() {
    let segments = [
        Segment {
            name: *b"0000000001",
            partition: 0,
            first: 10,
            last: 10,
        },
        Segment {
            name: *b"0000000002",
            partition: 1,
            first: 5_000_000_000,
            last: 5_000_000_100,
        },
    ];
    let generate = GenerateAccessOrder::new(AccessOrderProcess::Reorder, &segments);
    let tapewise_scsi::Direction::Out(list) = generate.direction() else {
        panic!("a list goes out");
    };
    assert_eq!(list.len(), 8 + 2 * 32);
    // What comes back has the same descriptors behind another header.
    let mut answer = list.to_vec();
    answer[0] = 2;
    answer[8 + 32 + 3] = 0x7b;
    let order = ReceiveAccessOrder { segments: 2 }.decode(&answer).unwrap();
    assert_eq!((order.process, order.status), (2, 0));
    let returned: Vec<_> = order
        .segments
        .iter()
        .map(|ordered| ordered.segment)
        .collect();
    assert_eq!(returned, segments);
    assert_eq!(order.segments[1].raw_time, [0, 0x7b, 0]);
    assert!(order.segments.iter().all(|ordered| ordered.rest.is_empty()));
}

#[test]
fn a_partition_page_that_ends_early_still_tells_the_counts() {
    use tapewise_scsi::commands::{ModePage, ModeSense6};
    let answer = [0x08, 0, 0, 0, 0x11, 0x03, 3, 1, 0x3c];
    let mode = ModeSense6 {
        page: 0x11,
        subpage: 0,
    };
    let data = tapewise_scsi::Command::decode(&mode, &answer).unwrap();
    let [ModePage::Partitions(page)] = &data.pages[..] else {
        panic!("{data:?}");
    };
    assert_eq!((page.most_additional, page.additional), (3, 1));
    assert_eq!((page.size_unit, page.sizes.len()), (3, 0));
}
