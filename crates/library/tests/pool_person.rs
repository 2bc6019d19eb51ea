//! Drives that a person loads.

use crate::pool_bench;

use pool_bench::listener;
use std::sync::{Arc, Mutex};
use tapewise_emulator::{CartridgeSpec, Clock, Library, LibrarySpec};
use tapewise_formats::event::Event;
use tapewise_library::pool::{Answer, Person, Pool, PoolError};
use tapewise_scsi::TapeDrive;
use tempfile::TempDir;

/// A person with a shelf, who does one thing after the other, whatever is asked for.
struct Operator {
    library: Library,
    /// The last first.
    gives: Vec<Gives>,
    says: Answer,
    /// Whether a cartridge that comes out is taken away.
    takes: bool,
}

enum Gives {
    Cartridge(&'static str),
    Word(Answer),
}

impl Person for Operator {
    fn ask(&mut self, _: &str, _: &str) {
        if let Some(next) = self.gives.pop() {
            match next {
                Gives::Cartridge(label) => self.library.load_cartridge(label).unwrap(),
                Gives::Word(answer) => self.says = answer,
            }
        }
    }

    fn answer(&mut self) -> Answer {
        std::mem::replace(&mut self.says, Answer::Nothing)
    }

    fn take(&mut self, volume: &str, _: &str) {
        if self.takes {
            self.library.take_out(volume).unwrap();
        }
    }
}

/// A drive without a robot, two cartridges, and a person who does this, the last first.
fn by_hand(takes: bool, gives: Vec<Gives>) -> (Pool, Library, Arc<Mutex<Vec<String>>>, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let mut spec = LibrarySpec::one_drive("lto8", 1);
    spec.cartridges.push(CartridgeSpec::numbered("lto8", 2, 2));
    let path = directory.path().join("library");
    let library = Library::create(&path, &spec, Clock::virtual_time()).unwrap();
    let drive = TapeDrive::open(Box::new(library.transport_to_drive(0).unwrap())).unwrap();
    let person: Box<dyn Person> = Box::new(Operator {
        library: library.clone(),
        gives,
        says: Answer::Nothing,
        takes,
    });
    let said = Arc::default();
    let pool = Pool::new(vec![drive], Vec::new(), Some(person), listener(&said)).unwrap();
    (pool, library, said, directory)
}

#[test]
fn a_person_is_asked_the_drive_is_watched_and_a_wrong_cartridge_is_given_out_again() {
    let gives = vec![
        Gives::Word(Answer::Skipped),
        Gives::Cartridge("TW0001"),
        Gives::Cartridge("TW0002"),
    ];
    let (mut pool, _library, said, _directory) = by_hand(true, gives);
    let mut log: Vec<Event> = Vec::new();
    let index = pool.mount("TW0001", &mut log).unwrap();
    assert!(pool.is_loaded_by_hand(index));
    pool.reject(index, "TW0002", &mut log).unwrap();
    let index = pool.mount("TW0001", &mut log).unwrap();
    pool.dismount(index, &mut log).unwrap();
    let error = pool.mount("TW0002", &mut log).unwrap_err();
    assert!(matches!(error, PoolError::NotGiven { .. }), "{error}");
    let rejected = said.lock().unwrap()[0].clone();
    assert!(
        rejected.contains("the label on tape says TW0002"),
        "{rejected}"
    );
}

#[test]
fn a_cartridge_that_was_given_out_and_not_taken_is_not_the_next_one() {
    let gives = vec![
        Gives::Word(Answer::Gone),
        Gives::Word(Answer::Stop),
        Gives::Cartridge("TW0001"),
    ];
    let (mut pool, library, _, _directory) = by_hand(false, gives);
    let mut log: Vec<Event> = Vec::new();
    let index = pool.mount("TW0001", &mut log).unwrap();
    pool.release(index);
    let error = pool.mount("TW0002", &mut log).unwrap_err();
    assert!(matches!(error, PoolError::Stopped { .. }), "{error}");
    // It is in the drive still, and wanted again: nobody need touch it.
    let index = pool.mount("TW0001", &mut log).unwrap();
    pool.dismount(index, &mut log).unwrap();
    library.take_out("TW0001").unwrap();
    let error = pool.mount("TW0002", &mut log).unwrap_err();
    assert!(matches!(error, PoolError::NobodyThere { .. }), "{error}");
}

#[test]
fn a_person_who_says_that_it_is_in_when_it_is_not_is_asked_again() {
    let gives = vec![Gives::Cartridge("TW0001"), Gives::Word(Answer::Inserted)];
    let (mut pool, _library, said, _directory) = by_hand(true, gives);
    let mut log: Vec<Event> = Vec::new();
    pool.mount("TW0001", &mut log).unwrap();
    assert!(said.lock().unwrap()[0].contains("sees no cartridge"));
}
