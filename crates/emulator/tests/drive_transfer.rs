//! READ and WRITE: lengths, filemarks, end of data, early warning.

use crate::host;

use host::{END, FILEMARK, Host, LENGTH, Said, check, drive};
use tapewise_scsi::Data;

/// What stands on the tape of these tests: a block of 100 bytes, one of 60, a filemark, three
/// blocks of 50.
fn written(host: &mut Host) {
    for length in [100, 60] {
        host.write(&vec![length as u8; length]).unwrap();
    }
    host.filemarks(1).unwrap();
    for fill in 1..=3 {
        host.write(&[fill; 50]).unwrap();
    }
    host.filemarks(0).unwrap();
}

/// A line of the table: what is set and asked, and what comes of it.
struct Line {
    scenario: &'static str,
    block_length: u32,
    at: u64,
    fixed: bool,
    ignore_length: bool,
    length: u32,
    /// Bytes of data that come.
    bytes: usize,
    says: Option<Said>,
    then_at: u64,
}

const ILI: Said = Said {
    key: 0,
    code: 0,
    flags: LENGTH,
    information: None,
};

const fn with(said: Said, information: i32) -> Option<Said> {
    let mut said = said;
    said.information = Some(information);
    Some(said)
}

const MARK: Said = Said {
    key: 0,
    code: 0x0001,
    flags: FILEMARK,
    information: None,
};
const EOD: Said = Said {
    key: 8,
    code: 0x0005,
    flags: 0,
    information: None,
};
const INVALID: Said = Said {
    key: 5,
    code: 0x2400,
    flags: 0,
    information: None,
};

#[rustfmt::skip]
const TABLE: &[Line] = &[
    Line { scenario: "just right", block_length: 0, at: 0, fixed: false, ignore_length: false, length: 100, bytes: 100, says: None, then_at: 1 },
    Line { scenario: "underlength", block_length: 0, at: 0, fixed: false, ignore_length: false, length: 130, bytes: 100, says: with(ILI, 30), then_at: 1 },
    Line { scenario: "underlength, SILI", block_length: 0, at: 0, fixed: false, ignore_length: true, length: 130, bytes: 100, says: None, then_at: 1 },
    Line { scenario: "underlength, fixed", block_length: 100, at: 0, fixed: true, ignore_length: false, length: 2, bytes: 100, says: with(ILI, 1), then_at: 2 },
    Line { scenario: "overlength", block_length: 0, at: 0, fixed: false, ignore_length: false, length: 30, bytes: 30, says: with(ILI, -70), then_at: 1 },
    Line { scenario: "overlength, SILI, no block length", block_length: 0, at: 0, fixed: false, ignore_length: true, length: 30, bytes: 30, says: None, then_at: 1 },
    Line { scenario: "overlength, SILI, block length", block_length: 50, at: 0, fixed: false, ignore_length: true, length: 30, bytes: 30, says: with(ILI, -70), then_at: 1 },
    Line { scenario: "overlength, fixed", block_length: 50, at: 0, fixed: true, ignore_length: false, length: 3, bytes: 0, says: with(ILI, 3), then_at: 1 },
    Line { scenario: "fixed and SILI", block_length: 50, at: 0, fixed: true, ignore_length: true, length: 1, bytes: 0, says: with(INVALID, 1), then_at: 0 },
    Line { scenario: "fixed without block length", block_length: 0, at: 0, fixed: true, ignore_length: false, length: 4, bytes: 0, says: with(INVALID, 4), then_at: 0 },
    Line { scenario: "filemark", block_length: 0, at: 2, fixed: false, ignore_length: false, length: 70, bytes: 0, says: with(MARK, 70), then_at: 3 },
    Line { scenario: "filemark, fixed", block_length: 60, at: 1, fixed: true, ignore_length: false, length: 5, bytes: 60, says: with(MARK, 4), then_at: 3 },
    Line { scenario: "end of data", block_length: 0, at: 6, fixed: false, ignore_length: false, length: 70, bytes: 0, says: with(EOD, 70), then_at: 6 },
    Line { scenario: "end of data, fixed", block_length: 50, at: 3, fixed: true, ignore_length: false, length: 7, bytes: 150, says: with(EOD, 4), then_at: 6 },
    Line { scenario: "nothing asked for", block_length: 0, at: 0, fixed: false, ignore_length: false, length: 0, bytes: 0, says: None, then_at: 0 },
];

#[test]
fn reads_of_other_lengths_say_what_the_table_says() {
    let directory = tempfile::tempdir().unwrap();
    let (_library, mut host) = drive("lto8", directory.path());
    written(&mut host);
    for line in TABLE {
        let name = line.scenario;
        host.set_block_length(line.block_length);
        host.locate(0, line.at).unwrap();
        let flags = u8::from(line.fixed) | u8::from(line.ignore_length) << 1;
        let b = line.length.to_be_bytes();
        let mut room = vec![0; 1000];
        let done = host.run([0x08, flags, b[1], b[2], b[3], 0], Data::In(&mut room));
        let says = done.sense.bytes();
        let says = (!says.is_empty()).then(|| host::decode(says));
        assert_eq!(says, line.says, "{name}");
        assert_eq!(done.transferred, line.bytes, "{name}");
        assert_eq!(host.position(), (0, line.then_at), "{name}");
    }
}

#[test]
fn a_second_read_at_end_of_data_is_a_sequence_error_until_the_host_positions() {
    let directory = tempfile::tempdir().unwrap();
    let (_library, mut host) = drive("lto8", directory.path());
    written(&mut host);
    assert_eq!(host.read(10).unwrap_err().code, 0x0005);
    assert_eq!(
        host.read(10).unwrap_err(),
        with(check(3, 0x1404), 10).unwrap()
    );
    host.locate(0, 5).unwrap();
    assert_eq!(host.read(50).unwrap(), [3; 50]);
}

#[test]
fn writing_in_the_middle_ends_the_data_there() {
    let directory = tempfile::tempdir().unwrap();
    let (_library, mut host) = drive("lto8", directory.path());
    written(&mut host);
    host.locate(0, 1).unwrap();
    host.write(&[9; 40]).unwrap();
    assert_eq!(host.read(10).unwrap_err().key, 8);
    host.locate(0, 0).unwrap();
    assert_eq!(host.read(100).unwrap(), [100; 100]);
    assert_eq!(host.read(40).unwrap(), [9; 40]);
    assert_eq!(host.locate(0, 4).unwrap_err(), check(8, 0x0005));
    assert_eq!(host.position(), (0, 2));
}

#[test]
fn fixed_mode_writes_blocks_of_one_length() {
    let directory = tempfile::tempdir().unwrap();
    let (_library, mut host) = drive("dlt4000", directory.path());
    host.set_block_length(512);
    host.output([0x0a, 1, 0, 0, 3, 0], &[5; 3 * 512]).unwrap();
    assert_eq!(host.short_position(), 3);
    host.rewind();
    let blocks = host.input([0x08, 1, 0, 0, 3, 0], 3 * 512).unwrap();
    assert_eq!(blocks, [5; 3 * 512]);
}

#[test]
fn a_drive_of_blocks_of_one_size_refuses_another() {
    let directory = tempfile::tempdir().unwrap();
    let (_library, mut host) = drive("ampex-dst310", directory.path());
    host.write(&[1; 4096]).unwrap();
    assert_eq!(host.write(&[1; 4095]).unwrap_err().code, 0x2400);
    host.write(&[2; 4096]).unwrap();
}

#[test]
fn a_full_tape_warns_and_then_refuses() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("library");
    let mut spec = tapewise_emulator::LibrarySpec::one_drive("lto8", 3);
    // A byte stands for a gigabyte: 12 TB are full after some 12,000 bytes.
    spec.cartridges[0].scale = 1_000_000_000;
    let clock = tapewise_emulator::Clock::virtual_time();
    let library = tapewise_emulator::Library::create(&path, &spec, clock).unwrap();
    library.load_cartridge(&spec.cartridges[0].barcode).unwrap();
    let mut host = Host::new(library.transport_to_drive(0).unwrap());
    host.wait_until_ready();
    // Without compression, so that a stored byte is a recorded one.
    let list = [
        0, 0, 0x10, 0, 0x0f, 0x0e, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ];
    host.output([0x15, 0x10, 0, 0, 20, 0], &list).unwrap();
    let mut bytes = 0;
    let warning = loop {
        match host.write(&[0; 8]) {
            Ok(()) => bytes += 8,
            Err(said) => break said,
        }
    };
    let early = Said {
        flags: END,
        ..check(0, 0x0002)
    };
    assert_eq!(warning, with(early, 0).unwrap());
    assert!((11_000..12_500).contains(&bytes), "{bytes}");
    let refusal = loop {
        match host.write(&[0; 8]) {
            Err(said) if said == warning => {}
            other => break other.unwrap_err(),
        }
    };
    let full = Said {
        flags: END,
        ..check(13, 0x0002)
    };
    assert_eq!(refusal, with(full, 8).unwrap());
}

#[test]
fn compression_is_the_published_line_in_the_ratio_that_gzip_reaches() {
    let directory = tempfile::tempdir().unwrap();
    let (library, mut host) = drive("dlt4000-jm98", directory.path());
    // Hexadecimal digits of noise: gzip makes them a little less than twice as small.
    let mut random = tapewise_model::Random::new(1, 1);
    let mut noise = || random.below(256) as u8;
    let hex: Vec<u8> = (0..32_768)
        .map(|_| b"0123456789abcdef"[usize::from(noise() & 15)])
        .collect();
    let plain: Vec<u8> = (0..32_768).map(|_| noise()).collect();
    host.write(&hex).unwrap();
    host.write(&plain).unwrap();
    // Mode page 0Fh: compression off.
    let list = [
        0, 0, 0x10, 0, 0x0f, 0x0e, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ];
    host.output([0x15, 0x10, 0, 0, 20, 0], &list).unwrap();
    host.write(&hex).unwrap();
    host.unload().unwrap();
    drop((library, host));
    let cartridge = directory.path().join("library/cartridges/TW0001");
    let medium = tapewise_emulator::Medium::open(&cartridge).unwrap();
    let object = |number| medium.partition(0).unwrap().object(number).unwrap();
    let recorded = |number| (object(number).recorded.end - object(number).recorded.start) as f64;
    let kind = tapewise_emulator::DriveKind::find("dlt4000-jm98").unwrap();
    let line = kind.compression.unwrap();
    let gzip_ratio = object(0).gzip_ratio.unwrap();
    assert!((1.6..2.0).contains(&gzip_ratio), "{gzip_ratio}");
    let ratio = 32_768.0 / recorded(0);
    assert!(
        (ratio - (line.a + line.b * gzip_ratio)).abs() < 1e-3,
        "{ratio}"
    );
    assert_eq!(object(1).gzip_ratio, Some(1.0));
    assert_eq!((object(2).gzip_ratio, recorded(2)), (None, 32_768.0));
}
