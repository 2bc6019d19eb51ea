//! No bytes that a host can send bring an emulated device down, or its clock back.

use proptest::prelude::*;
use std::time::Duration;
use tapewise_emulator::{Clock, EmulatedTransport, Library, LibrarySpec};
use tapewise_scsi::{Cdb, Data, Status, Transport};

/// Operation codes that some device knows, with their lengths.
const KNOWN: &[(u8, usize)] = &[
    (0x00, 6),
    (0x01, 6),
    (0x03, 6),
    (0x04, 6),
    (0x05, 6),
    (0x07, 6),
    (0x08, 6),
    (0x0a, 6),
    (0x10, 6),
    (0x11, 6),
    (0x12, 6),
    (0x15, 6),
    (0x16, 6),
    (0x17, 6),
    (0x19, 6),
    (0x1a, 6),
    (0x1b, 6),
    (0x1e, 6),
    (0x2b, 10),
    (0x34, 10),
    (0x37, 10),
    (0x44, 10),
    (0x4d, 10),
    (0x55, 10),
    (0x5a, 10),
    (0x5e, 10),
    (0x5f, 10),
    (0x8c, 16),
    (0x8d, 16),
    (0x91, 16),
    (0x92, 16),
    (0xa0, 12),
    (0xa3, 12),
    (0xa4, 12),
    (0xa5, 12),
    (0xa6, 12),
    (0xb8, 12),
];

/// Bytes of a CDB or of parameters: mostly small, so that fields make sense now and then.
fn byte() -> impl Strategy<Value = u8> {
    prop_oneof![4 => Just(0u8), 4 => 0u8..8, 2 => 8u8..0x40, 1 => any::<u8>()]
}

#[derive(Clone, Debug)]
struct Sent {
    to_changer: bool,
    cdb: [u8; 16],
    length: usize,
    data: Vec<u8>,
    is_input: bool,
}

fn sent() -> impl Strategy<Value = Sent> {
    let opcode =
        prop_oneof![9 => prop::sample::select(KNOWN), 1 => any::<u8>().prop_map(|code| (code, 12))];
    let bytes = prop::array::uniform16(byte());
    let data = prop::collection::vec(byte(), 0..80);
    (any::<bool>(), opcode, bytes, data, any::<bool>()).prop_map(
        |(to_changer, (opcode, length), mut cdb, data, is_input)| {
            cdb[0] = opcode;
            Sent {
                to_changer,
                cdb,
                length,
                data,
                is_input,
            }
        },
    )
}

fn send(transport: &mut EmulatedTransport, sent: &Sent) -> Status {
    let c = sent.cdb;
    let cdb = match sent.length {
        6 => Cdb::new([c[0], c[1], c[2], c[3], c[4], c[5]]),
        10 => Cdb::new([c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9]]),
        12 => Cdb::new([
            c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9], c[10], c[11],
        ]),
        _ => Cdb::new(c),
    };
    let mut room = vec![0; 4096];
    let data = if sent.is_input {
        Data::In(&mut room)
    } else {
        Data::Out(&sent.data)
    };
    let done = transport.execute(&cdb, data, Duration::from_secs(100_000));
    let done = done.unwrap();
    assert!(done.transferred <= 4096);
    assert_eq!(
        done.status == Status::CheckCondition,
        !done.sense.bytes().is_empty()
    );
    done.status
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn devices_answer_whatever_they_are_sent(all in prop::collection::vec(sent(), 100..300)) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("library");
        let mut spec = LibrarySpec::with_robot("ibm3584", "lto9", 2, 4, 3, 1);
        // A tape that is soon full: one command may write sixteen million filemarks.
        for cartridge in &mut spec.cartridges {
            cartridge.scale = 1_000_000_000;
        }
        spec.faults.power_loss = 0.05;
        spec.faults.reset = 0.02;
        spec.faults.robot_error = 0.05;
        let library = Library::create(&path, &spec, Clock::virtual_time()).unwrap();
        let mut drive = library.transport_to_drive(0).unwrap();
        let mut changer = library.transport_to_changer().unwrap();
        let load = [0xa5, 0, 0, 1, 4, 1, 1, 1, 0, 0, 0, 0];
        for _ in 0..3 {
            let _ = changer.execute(&Cdb::new(load), Data::None, Duration::from_secs(1000));
        }
        drive.wait(Duration::from_secs(100));
        let mut now = drive.now();
        for one in &all {
            send(if one.to_changer { &mut changer } else { &mut drive }, one);
            prop_assert!(drive.now() >= now);
            now = drive.now();
        }
        drop((library, drive, changer));
        Library::open(&path, Clock::virtual_time()).unwrap();
    }
}
