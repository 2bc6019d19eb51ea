//! A drive is reset in the middle of a file that lies in several parts of its tape: the bytes come once.

use crate::site;

use site::{Site, contents};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tapewise_archive::catalogue::{CopyState, Files, Volumes};
use tapewise_emulator::{Clock, EmulatedTransport, Faults, Library, LibrarySpec};
use tapewise_library::pool::{Pace, Pool};
use tapewise_scsi::{Cdb, Changer, Completion, Data, TapeDrive, Transport, TransportError};

const REWIND: u8 = 0x01;
const READ: u8 = 0x08;

/// Power on, reset or bus device reset: 06h/29h/00h.
const WAS_RESET: [u8; 18] = [0x70, 0, 6, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x29, 0, 0, 0, 0, 0];

/// A drive that is reset once, at a read counted from the last rewind.
struct Resetting {
    drive: EmulatedTransport,
    reads: u64,
    at: Arc<AtomicU64>,
}

impl Transport for Resetting {
    fn name(&self) -> &str {
        self.drive.name()
    }

    fn execute(
        &mut self,
        cdb: &Cdb,
        data: Data<'_>,
        timeout: Duration,
    ) -> Result<Completion, TransportError> {
        match cdb.opcode() {
            REWIND => self.reads = 0,
            READ => self.reads += 1,
            _ => {}
        }
        let is_now = cdb.opcode() == READ && self.at.load(Ordering::Relaxed) == self.reads;
        if is_now {
            self.at.store(0, Ordering::Relaxed);
            let rewind = Cdb::new([REWIND, 0, 0, 0, 0, 0]);
            self.drive.execute(&rewind, Data::None, timeout)?;
            return Ok(Completion::check_condition(0, &WAS_RESET));
        }
        self.drive.execute(cdb, data, timeout)
    }

    fn now(&self) -> Duration {
        self.drive.now()
    }

    fn wait(&mut self, duration: Duration) {
        self.drive.wait(duration);
    }
}

/// A site with one drive, and the read at which it is reset: none at 0.
fn site() -> (Site, Arc<AtomicU64>) {
    let mut site = Site::at_scale(1, 1, Faults::none(), 1);
    let spec = LibrarySpec::with_robot("ibm3584", "lto8", 1, 4, 2, 7);
    let path = site.directory.path().join("another");
    let library = Library::create(&path, &spec, Clock::virtual_time()).expect("a library");
    let at = Arc::new(AtomicU64::new(0));
    let drive = Resetting {
        drive: library.transport_to_drive(0).expect("a drive"),
        reads: 0,
        at: Arc::clone(&at),
    };
    let drive = TapeDrive::open(Box::new(drive)).expect("a drive");
    let robot = library.transport_to_changer().expect("a robot");
    let robot = Changer::open(Box::new(robot)).expect("a robot");
    let pool = Pool::new(vec![drive], vec![robot], None, Box::new(|_| {}));
    site.pool = pool.expect("a pool");
    site.at_pace(Pace::Turns);
    (site, at)
}

#[test]
fn wherever_a_drive_is_reset_a_file_of_several_parts_comes_once_and_its_copy_stays_whole() {
    let (mut site, at) = site();
    site.settings.part_bytes = 20_000;
    let files = [("before", 3), ("long", 1)].map(|(name, number)| {
        let name = name.to_owned();
        (name, contents(61, number))
    });
    site.store_these(&files, 1);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    site.empty_cache();
    let (volume, _) = site.catalogue.volumes().expect("a catalogue")[0].clone();
    let long = site.id("long");
    let segments = |site: &Site| {
        let copies = site.catalogue.file(long).expect("a file").copies;
        assert_eq!(copies[0].state, CopyState::Whole);
        copies[0].segments.len()
    };
    assert_eq!(segments(&site), 3);
    // The first read is that of the volume's label.
    let mut read = 2;
    loop {
        at.store(read, Ordering::Relaxed);
        let to = site.destination(&format!("back-{read}"));
        site.request(&[&files[1]], &to);
        let done = site.mover(|mover| mover.recall()).expect("recalled");
        assert_eq!((done.delivered, done.failed), (1, vec![]), "read {read}");
        assert_eq!(done.unverified, 0);
        let found = std::fs::read(to.join("long")).expect("delivered");
        assert!(found == files[1].1, "read {read}");
        if at.load(Ordering::Relaxed) != 0 {
            break;
        }
        at.store(read, Ordering::Relaxed);
        let found = site.verify(volume).expect("verified");
        assert_eq!((found.right, found.lost), (2, vec![]), "read {read}");
        segments(&site);
        read += 1;
    }
    assert!(read > 10, "{read}");
}
