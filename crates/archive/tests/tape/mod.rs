//! Emulated cartridges for tests of what is written on them.
#![allow(dead_code)] // not every test needs all of it

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tapewise_archive::record::{File, Volume, VolumeFormat, VolumeState};
use tapewise_archive::sums::{Kind, Sum};
use tapewise_archive::volume::{Entry, Label, Member, Written};
use tapewise_emulator::{Clock, EmulatedTransport, Library, LibrarySpec};
use tapewise_scsi::commands::ReadOutcome;
use tapewise_scsi::{Cdb, Completion, Data, TapeDrive, Transport, TransportError};

/// What nobody sets.
pub static NEVER: AtomicBool = AtomicBool::new(false);

/// The barcode of the cartridge in [`drive`].
pub const BARCODE: &str = "TW0001";

/// An LTO-8 drive with a blank cartridge in it.
pub fn drive(directory: &Path) -> (Library, TapeDrive) {
    drive_of(LibrarySpec::one_drive("lto8", 7), directory)
}

/// The first drive of a library, with its first cartridge in it.
pub fn drive_of(spec: LibrarySpec, directory: &Path) -> (Library, TapeDrive) {
    let path = directory.join("library");
    let library = Library::create(&path, &spec, Clock::virtual_time()).expect("a library");
    library.load_cartridge(BARCODE).expect("a free drive");
    let transport = library.transport_to_drive(0).expect("a drive");
    let mut drive = TapeDrive::open(Box::new(transport)).expect("a tape drive");
    let limit = Duration::from_secs(600);
    drive
        .wait_until_ready(limit)
        .expect("a drive that gets ready");
    (library, drive)
}

/// READ(6).
pub const READ: u8 = 0x08;

/// The first drive of a library, over a way that answers some commands itself: where this gives one, with a sense key, an
/// additional sense code and its qualifier.
pub fn answering(
    library: &Library,
    answers: impl FnMut(&Cdb) -> Option<[u8; 3]> + Send + 'static,
) -> TapeDrive {
    let inner = library.transport_to_drive(0).expect("a drive");
    let mut drive = TapeDrive::open(Box::new(Answering { inner, answers })).expect("a tape drive");
    drive
        .wait_until_ready(Duration::from_secs(600))
        .expect("a drive that gets ready");
    drive
}

struct Answering<F> {
    inner: EmulatedTransport,
    answers: F,
}

impl<F: FnMut(&Cdb) -> Option<[u8; 3]> + Send> Transport for Answering<F> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn execute(
        &mut self,
        cdb: &Cdb,
        data: Data<'_>,
        timeout: Duration,
    ) -> Result<Completion, TransportError> {
        let Some([key, code, qualifier]) = (self.answers)(cdb) else {
            return self.inner.execute(cdb, data, timeout);
        };
        let mut sense = [0; 18];
        (sense[0], sense[2], sense[7]) = (0x70, key, 10);
        (sense[12], sense[13]) = (code, qualifier);
        Ok(Completion::check_condition(0, &sense))
    }

    fn now(&self) -> Duration {
        self.inner.now()
    }

    fn wait(&mut self, duration: Duration) {
        self.inner.wait(duration);
    }
}

/// The label of the test's volume.
pub fn label(block_bytes: u32) -> Label {
    Label {
        uuid: "6f1d3a52-0f6e-4c55-9d0e-1f6f3c2b7a10".to_owned(),
        barcode: BARCODE.to_owned(),
        block_bytes,
        created: "2026-01-31T12:00:00Z".to_owned(),
    }
}

/// What a catalogue would have of it.
pub fn volume(label: &Label, next_block: u64) -> Volume {
    Volume {
        label: label.barcode.clone(),
        uuid: label.uuid.clone(),
        format: VolumeFormat::Tapewise,
        state: VolumeState::Filling,
        block_bytes: label.block_bytes,
        next_block,
        written_bytes: 0,
    }
}

/// Contents of a file that no other seed gives.
pub fn contents(seed: u64, bytes: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..bytes).map(|_| next()).collect()
}

/// A file with these contents.
pub fn file(path: &[u8], contents: &[u8]) -> File {
    File {
        path: path.to_vec(),
        bytes: contents.len() as u64,
        modified_ns: 1_700_000_000_123_456_789,
        mode: 0o640,
        sums: vec![Sum::of(Kind::Xxh3, contents)],
    }
}

/// An entry of these contents.
pub fn entry<'c>(path: &[u8], contents: &'c [u8]) -> std::io::Result<Entry<'c>> {
    Ok(Entry {
        member: Member::of(&file(path, contents)),
        contents: Box::new(contents),
    })
}

/// What is on the tape, read by the drive alone: the blocks of each tape file.
pub fn tape_files(drive: &mut TapeDrive) -> Vec<Vec<Vec<u8>>> {
    drive.rewind().expect("rewound");
    let mut files = vec![Vec::new()];
    let mut buffer = vec![0; 1 << 20];
    loop {
        match drive.read(&mut buffer).expect("read") {
            ReadOutcome::Block { bytes } => {
                let file: &mut Vec<Vec<u8>> = files.last_mut().expect("a file");
                file.push(buffer[..bytes].to_vec());
            }
            ReadOutcome::Filemark => files.push(Vec::new()),
            ReadOutcome::EndOfData => return files,
            other => panic!("{other:?}"),
        }
    }
}

/// The bytes of a file where its segment says they are.
pub fn at_segment(blocks: &[Vec<u8>], written: &Written, at: usize) -> Vec<u8> {
    let segment = written.files[at].segment;
    let blocks = &blocks[segment.first_block as usize..=segment.last_block as usize];
    let all = blocks.concat();
    let from = segment.byte_offset as usize;
    all[from..from + segment.bytes as usize].to_vec()
}
