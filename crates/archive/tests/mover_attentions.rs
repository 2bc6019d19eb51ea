//! What a drive tells while a volume is written: it was reset, or another cartridge may be in it. And that the
//! cartridge stays in it meanwhile.

use crate::site;

use site::{Site, pool_through};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tapewise_archive::catalogue::Volumes;
use tapewise_archive::mover::{Migrated, MoveError};
use tapewise_archive::record::VolumeState;
use tapewise_emulator::{Clock, EmulatedTransport, Faults, Library, LibrarySpec};
use tapewise_scsi::{Cdb, Completion, Data, Status, Transport, TransportError};

const REWIND: u8 = 0x01;
const READ: u8 = 0x08;
const WRITE: u8 = 0x0a;
const WRITE_FILEMARKS: u8 = 0x10;
const LOAD_UNLOAD: u8 = 0x1b;
const PREVENT_ALLOW: u8 = 0x1e;
const LONG: Duration = Duration::from_secs(100_000);

/// Illegal request: the drive does not know the command.
const UNKNOWN: [u8; 18] = sense(5, 0x20);

const fn sense(key: u8, code: u8) -> [u8; 18] {
    [
        0x70, 0, key, 0, 0, 0, 0, 10, 0, 0, 0, 0, code, 0, 0, 0, 0, 0,
    ]
}

/// What happens to the drive before it gets a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// It rewinds, and says so with this additional sense code: reset (29h), medium may have changed (28h).
    Tells(u8),
    /// It says that the medium may have changed, and another program has labelled what is in it.
    Swapped,
    /// Another host wants to take the cartridge out.
    Unloaded,
}

#[derive(Default)]
struct Script {
    /// What happens at commands of a code: after how many, and how often in a row.
    next: Option<(What, u8, u64, u64)>,
    knows_no_prevention: bool,
    /// How often others could take the cartridge out, or could not.
    unloads: [u64; 2],
}

struct Path {
    drive: EmulatedTransport,
    other: EmulatedTransport,
    script: Arc<Mutex<Script>>,
}

fn send(drive: &mut EmulatedTransport, cdb: [u8; 6], data: Data<'_>) -> Status {
    let done = drive.execute(&Cdb::new(cdb), data, LONG);
    done.expect("a drive").status
}

/// Whether another host can take the cartridge out, past what the drive has to tell it first.
fn unload(other: &mut EmulatedTransport) -> bool {
    (0..4).any(|_| send(other, [LOAD_UNLOAD, 0, 0, 0, 0, 0], Data::None) == Status::Good)
}

impl Path {
    /// The sense that the host gets instead of an answer.
    fn happens(&mut self, what: What) -> Option<[u8; 18]> {
        let code = match what {
            What::Tells(code) => code,
            What::Swapped => 0x28,
            What::Unloaded => {
                let was_taken = unload(&mut self.other);
                self.script.lock().expect("a script").unloads[usize::from(!was_taken)] += 1;
                return None;
            }
        };
        send(&mut self.drive, [REWIND, 0, 0, 0, 0, 0], Data::None);
        if what == What::Swapped {
            send(
                &mut self.drive,
                [WRITE, 0, 0, 0, 80, 0],
                Data::Out(&[7; 80]),
            );
            send(
                &mut self.drive,
                [WRITE_FILEMARKS, 0, 0, 0, 1, 0],
                Data::None,
            );
        }
        Some(sense(6, code))
    }

    /// What happens before this command.
    fn due(&self, opcode: u8) -> Option<What> {
        let mut script = self.script.lock().expect("a script");
        let (what, at, left, times) = script.next.as_mut()?;
        if *at != opcode {
            return None;
        }
        if *left > 0 {
            *left -= 1;
            return None;
        }
        let what = *what;
        *times -= 1;
        if *times == 0 {
            script.next = None;
        }
        Some(what)
    }
}

impl Transport for Path {
    fn name(&self) -> &str {
        self.drive.name()
    }

    fn execute(
        &mut self,
        cdb: &Cdb,
        data: Data<'_>,
        timeout: Duration,
    ) -> Result<Completion, TransportError> {
        let opcode = cdb.opcode();
        if opcode == PREVENT_ALLOW && self.script.lock().expect("a script").knows_no_prevention {
            return Ok(Completion::check_condition(0, &UNKNOWN));
        }
        let told = self.due(opcode).and_then(|what| self.happens(what));
        match told {
            Some(sense) => Ok(Completion::check_condition(0, &sense)),
            None => self.drive.execute(cdb, data, timeout),
        }
    }

    fn now(&self) -> Duration {
        self.drive.now()
    }

    fn wait(&mut self, duration: Duration) {
        self.drive.wait(duration);
    }
}

struct Scripted {
    site: Site,
    script: Arc<Mutex<Script>>,
    library: Library,
}

impl Scripted {
    /// One drive, four cartridges.
    fn new() -> Scripted {
        let mut site = Site::new(1, 4, Faults::none());
        let spec = LibrarySpec::with_robot("ibm3584", "lto8", 1, 9, 4, 7);
        let path = site.directory.path().join("another");
        let library = Library::create(&path, &spec, Clock::virtual_time()).expect("a library");
        let script = Arc::new(Mutex::new(Script::default()));
        site.pool = pool_through(&library, 1, |number, drive| {
            let other = library.transport_to_drive(number).expect("a drive");
            let script = Arc::clone(&script);
            Box::new(Path {
                drive,
                other,
                script,
            })
        });
        site.settings.byte_scale = 1;
        site.settings.segment_bytes = 64 << 10;
        Scripted {
            site,
            script,
            library,
        }
    }

    /// From now on, before commands of a code, after so many, so many times.
    fn happens(&self, what: What, opcode: u8, after: u64, times: u64) {
        self.script.lock().expect("a script").next = Some((what, opcode, after, times));
    }

    /// Whether all of it has happened.
    fn has_happened(&self) -> bool {
        self.script.lock().expect("a script").next.is_none()
    }

    fn migrate(&mut self) -> Result<Migrated, MoveError> {
        self.site.mover(|mover| mover.migrate(i64::MAX))
    }

    /// Volumes in a state.
    fn count(&self, state: VolumeState) -> usize {
        let volumes = self.site.catalogue.volumes().expect("a catalogue");
        volumes.iter().filter(|(_, one)| one.state == state).count()
    }

    /// Whether another host can take the cartridge out now.
    fn may_be_taken(&self) -> bool {
        unload(&mut self.library.transport_to_drive(0).expect("a drive"))
    }
}

#[test]
fn a_volume_is_written_on_after_a_unit_attention_if_its_label_is_the_same() {
    for code in [0x28, 0x29] {
        for opcode in [WRITE, WRITE_FILEMARKS, READ] {
            let mut after = 0;
            loop {
                let mut scripted = Scripted::new();
                let mut files = scripted.site.store(2, 1, 4);
                scripted.migrate().expect("migrated");
                files.extend(scripted.site.store(12, 1, 5));
                scripted.happens(What::Tells(code), opcode, after, 1);
                let migrated = scripted.migrate().expect("migrated");
                assert_eq!(
                    (migrated.files, migrated.volumes_lost),
                    (12, vec![]),
                    "{code:#x} {opcode:#x} {after}"
                );
                assert_eq!(scripted.count(VolumeState::Filling), 1);
                scripted.site.assert_integrity();
                scripted.site.empty_cache();
                let has_happened = scripted.has_happened();
                scripted.happens(What::Unloaded, 0xff, 0, 1);
                scripted.site.assert_comes_back(&files, "back");
                if !has_happened {
                    break;
                }
                after += 1 + after / 4;
            }
            assert!(after > 1, "{code:#x} {opcode:#x}: never happened");
        }
    }
}

#[test]
fn after_a_unit_attention_another_label_ends_the_volume_and_costs_no_file() {
    let mut scripted = Scripted::new();
    scripted.site.store(2, 1, 4);
    scripted.migrate().expect("migrated");
    let files = scripted.site.store(12, 1, 5);
    scripted.happens(What::Swapped, WRITE, 9, 1);
    let migrated = scripted.migrate().expect("migrated");
    assert!(scripted.has_happened());
    assert_eq!((migrated.files, migrated.volumes_lost.len()), (12, 1));
    assert_eq!(scripted.count(VolumeState::Suspect), 1);
    // What was closed before went with the label, but the cache has it.
    let on: Vec<_> = files
        .iter()
        .map(|(path, _)| scripted.site.id(path))
        .collect();
    assert_eq!(on.len(), 12);
}

#[test]
fn unit_attentions_without_end_end_a_migration() {
    let mut scripted = Scripted::new();
    scripted.site.store(2, 1, 4);
    scripted.migrate().expect("migrated");
    scripted.site.store(12, 1, 5);
    scripted.happens(What::Tells(0x29), WRITE, 0, 1_000);
    let ended = scripted.migrate();
    assert!(matches!(ended, Err(MoveError::Volume { .. })), "{ended:?}");
    // Nobody knows which of two blank cartridges is in the drive.
    let mut blank = Scripted::new();
    blank.site.store(2, 1, 4);
    blank.happens(What::Tells(0x28), WRITE, 1, 1);
    let ended = blank.migrate();
    assert!(matches!(ended, Err(MoveError::Volume { .. })), "{ended:?}");
}

#[test]
fn the_cartridge_stays_in_the_drive_while_it_is_written_and_can_be_taken_afterwards() {
    for opcode in [READ, WRITE, WRITE_FILEMARKS] {
        let mut scripted = Scripted::new();
        scripted.happens(What::Unloaded, opcode, 1, 1);
        let files = scripted.site.store(12, 1, 5);
        let migrated = scripted.migrate().expect("migrated");
        assert_eq!((migrated.files, migrated.volumes_lost), (12, vec![]));
        assert_eq!(scripted.script.lock().expect("a script").unloads, [0, 1]);
        assert!(scripted.may_be_taken(), "{opcode:#x}");
        assert_eq!(files.len(), 12);
    }
    // Another way out: the volume is given up.
    let mut scripted = Scripted::new();
    scripted.site.store(2, 1, 4);
    scripted.happens(What::Tells(0x2f), WRITE, 1, 1);
    let ended = scripted.migrate();
    assert!(matches!(ended, Err(MoveError::Volume { .. })), "{ended:?}");
    assert!(scripted.may_be_taken());
}

#[test]
fn a_drive_that_cannot_keep_its_cartridge_in_writes_and_reads_all_the_same() {
    let mut scripted = Scripted::new();
    scripted
        .script
        .lock()
        .expect("a script")
        .knows_no_prevention = true;
    let files = scripted.site.store(5, 1, 5);
    assert_eq!(scripted.migrate().expect("migrated").files, 5);
    scripted.site.empty_cache();
    scripted.site.assert_comes_back(&files, "back");
}
