//! The bytes of every command, as the standards' tables and other programs have them.

use tapewise_scsi::commands::*;
use tapewise_scsi::{Cdb, Command, hex};

fn assert_cdb(cdb: Cdb, expected: &str) {
    assert_eq!(hex::plain(cdb.bytes()), expected);
}

#[test]
fn commands_of_six_bytes() {
    assert_cdb(TestUnitReady.cdb(), "00 00 00 00 00 00");
    assert_cdb(Rewind { immediate: true }.cdb(), "01 01 00 00 00 00");
    assert_cdb(RequestSense.cdb(), "03 00 00 00 fc 00");
    assert_cdb(ReadBlockLimits.cdb(), "05 00 00 00 00 00");
    assert_cdb(InitializeElementStatus.cdb(), "07 00 00 00 00 00");
    assert_cdb(ReadBlock { length: 0x01_0203 }.cdb(), "08 00 01 02 03 00");
    let write = Write6 { length: 0x80000 };
    assert_cdb(write.cdb(), "0a 00 08 00 00 00");
    let marks = WriteFilemarks {
        count: 2,
        immediate: true,
    };
    assert_cdb(marks.cdb(), "10 01 00 00 02 00");
    assert_cdb(
        Space6::new(Over::Blocks, -2).unwrap().cdb(),
        "11 00 ff ff fe 00",
    );
    assert_cdb(
        Space6::new(Over::Filemarks, 1).unwrap().cdb(),
        "11 01 00 00 01 00",
    );
    assert_cdb(
        Space6::new(Over::ToEndOfData, 0).unwrap().cdb(),
        "11 03 00 00 00 00",
    );
    assert_cdb(Inquiry.cdb(), "12 00 00 00 60 00");
    assert_cdb(InquiryVpd { page: 0x80 }.cdb(), "12 01 80 00 fc 00");
    assert_cdb(ModeSelect6::block_length(512).cdb(), "15 10 00 00 0c 00");
    assert_cdb(
        ModeSense6 {
            page: 0x1d,
            subpage: 0,
        }
        .cdb(),
        "1a 00 1d 00 fc 00",
    );
    assert_cdb(LoadUnload::LOAD.cdb(), "1b 00 00 00 01 00");
    assert_cdb(LoadUnload::UNLOAD.cdb(), "1b 00 00 00 00 00");
    assert_cdb(PreventAllow { prevent: true }.cdb(), "1e 00 00 00 01 00");
}

#[test]
fn counts_that_do_not_fit_space_6_are_refused() {
    assert!(Space6::new(Over::Blocks, 0x7f_ffff).is_some());
    assert!(Space6::new(Over::Blocks, 0x80_0000).is_none());
    assert!(Space6::new(Over::Blocks, -0x80_0000).is_some());
    assert!(Space6::new(Over::Blocks, -0x80_0001).is_none());
}

#[test]
fn commands_of_ten_bytes() {
    let locate = Locate10 {
        partition: Some(1),
        block: 0x0102_0304,
        immediate: false,
    };
    assert_cdb(locate.cdb(), "2b 02 00 01 02 03 04 00 01 00");
    assert_cdb(ReadPositionShort.cdb(), "34 00 00 00 00 00 00 00 00 00");
    assert_cdb(ReadPositionLong.cdb(), "34 06 00 00 00 00 00 00 00 00");
    assert_cdb(ReadPositionExtended.cdb(), "34 08 00 00 00 00 00 00 20 00");
    let density = ReportDensitySupport { of_medium: true };
    assert_cdb(density.cdb(), "44 01 00 00 00 00 00 20 00 00");
    let log = LogSense {
        page: 0x17,
        subpage: 0,
    };
    assert_cdb(log.cdb(), "4d 00 57 00 00 00 00 ff ff 00");
    let sense = ModeSense10 {
        page: 0x10,
        subpage: 1,
    };
    assert_cdb(sense.cdb(), "5a 00 10 01 00 00 00 10 00 00");
    let select = ModeSelectPage::new(&[0x8f, 0x0e]);
    assert_cdb(select.cdb(), "55 10 00 00 00 00 00 00 0a 00");
    assert_cdb(ReadKeys.cdb(), "5e 00 00 00 00 00 00 1f 48 00");
    let kind = ReservationType::ExclusiveAccess;
    assert_cdb(
        PersistentReserveOut::reserve(1, kind).cdb(),
        "5f 01 03 00 00 00 00 00 18 00",
    );
    let robot = PositionToElement {
        robot: 1,
        element: 0x400,
    };
    assert_cdb(robot.cdb(), "2b 00 00 01 04 00 00 00 00 00");
}

#[test]
fn commands_of_twelve_and_sixteen_bytes() {
    let space = Space16 {
        over: Over::Blocks,
        count: -1,
    };
    assert_cdb(
        space.cdb(),
        "91 00 00 00 ff ff ff ff ff ff ff ff 00 00 00 00",
    );
    let locate = Locate16 {
        partition: None,
        destination: Destination::EndOfData,
        immediate: true,
    };
    assert_cdb(
        locate.cdb(),
        "92 19 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
    );
    let attributes = ReadAttributes {
        partition: 1,
        first: 0x400,
    };
    assert_cdb(
        attributes.cdb(),
        "8c 00 00 00 00 00 00 01 04 00 00 01 00 00 00 00",
    );
    assert_cdb(ReportLuns.cdb(), "a0 00 00 00 00 00 00 00 40 00 00 00");
    assert_cdb(
        ReportSupportedOpcodes.cdb(),
        "a3 0c 00 00 00 00 00 00 40 00 00 00",
    );
    let one = ReportSupportedOpcode {
        opcode: 0xa3,
        service_action: Some(0x1f),
    };
    assert_cdb(one.cdb(), "a3 0c 82 a3 00 1f 00 00 01 00 00 00");
    assert_cdb(
        ReadEndOfWrapPositions.cdb(),
        "a3 1f 45 02 00 00 00 00 40 00 00 00",
    );
    assert_cdb(
        ReadEndOfWrapPosition { wrap: 7 }.cdb(),
        "a3 1f 45 01 00 07 00 00 00 0a 00 00",
    );
    assert_cdb(
        ReceiveAccessOrder { segments: 2 }.cdb(),
        "a3 1d 00 00 00 00 00 00 00 48 00 00",
    );
    assert_cdb(
        ReceiveAccessOrderLimits.cdb(),
        "a3 9d 00 00 00 00 00 00 00 04 00 00",
    );
    let generate = GenerateAccessOrder::new(AccessOrderProcess::Reorder, &[Segment::UNLOADED]);
    assert_cdb(generate.cdb(), "a4 1d 02 00 00 00 00 00 00 28 00 00");
    let status = ReadElementStatus {
        kind: ElementKind::Drive,
        first: 0x100,
        count: 2,
        volume_tags: true,
        device_ids: true,
    };
    assert_cdb(status.cdb(), "b8 14 01 00 00 02 01 00 01 40 00 00");
    let exchange = ExchangeMedium {
        robot: 1,
        from: 2,
        to: 3,
        then: 4,
    };
    assert_cdb(exchange.cdb(), "a6 00 00 01 00 02 00 03 00 04 00 00");
}
