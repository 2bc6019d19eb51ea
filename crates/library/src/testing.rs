//! An emulated library for tests of the pool's parts, whose drives tell when they are waited for.

use crate::pool::Pool;
use std::time::Duration;
use tapewise_emulator::{CartridgeSpec, Clock, EmulatedTransport, Library, LibrarySpec};
use tapewise_scsi::{Cdb, Changer, Completion, Data, TapeDrive, Transport, TransportError};

/// A library of so many drives, four volumes and a cleaning cartridge.
pub fn library(drives: u16) -> Library {
    let directory = tempfile::tempdir().unwrap();
    let mut spec = LibrarySpec::with_robot("ibm3584", "lto8", drives, 8, 4, 1);
    spec.cartridges.push(CartridgeSpec {
        barcode: "CLN001".to_owned(),
        ..CartridgeSpec::numbered("lto8", 99, 99)
    });
    let path = directory.path().join("library");
    let library = Library::create(&path, &spec, Clock::virtual_time()).unwrap();
    library.owning(directory)
}

pub fn robot(library: &Library) -> Changer {
    Changer::open(Box::new(library.transport_to_changer().unwrap())).unwrap()
}

/// A drive; whenever its host waits, this is done first.
pub fn drive(
    library: &Library,
    number: usize,
    on_wait: impl FnMut() + Send + 'static,
) -> TapeDrive {
    let inner = library.transport_to_drive(number).unwrap();
    TapeDrive::open(Box::new(Watched { inner, on_wait })).unwrap()
}

/// A pool of these drives, with four volumes.
pub fn pool(drives: u16) -> Pool {
    let library = library(drives);
    let drives = (0..usize::from(drives)).map(|number| drive(&library, number, || {}));
    let robots = vec![robot(&library)];
    Pool::new(drives.collect(), robots, None, Box::new(|_| {})).unwrap()
}

struct Watched<F> {
    inner: EmulatedTransport,
    on_wait: F,
}

impl<F: FnMut() + Send> Transport for Watched<F> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn execute(
        &mut self,
        cdb: &Cdb,
        data: Data<'_>,
        timeout: Duration,
    ) -> Result<Completion, TransportError> {
        self.inner.execute(cdb, data, timeout)
    }

    fn now(&self) -> Duration {
        self.inner.now()
    }

    fn wait(&mut self, duration: Duration) {
        (self.on_wait)();
        self.inner.wait(duration);
    }
}
