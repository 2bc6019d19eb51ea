//! A host's way to a drive or a robot, and commands that are on it for long.

use super::host::Host;
use super::judge::writes;
use super::site::Site;
use crate::fate::{Dead, Kind, Steps};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tapewise_emulator::EmulatedTransport;
use tapewise_scsi::{Cdb, Completion, Data, Transport, TransportError};

/// A process's way to a device: an initiator of its own, as over iSCSI.
pub struct Way {
    end: Arc<End>,
    host: Arc<Host>,
}

/// Where a way leads, for commands that outlive their process too.
struct End {
    real: Mutex<EmulatedTransport>,
    name: String,
    /// The drive's number; none for a robot.
    drive: Option<usize>,
    run: String,
    site: Arc<Site>,
}

/// The initiator is gone: what it prevents ends.
impl Drop for End {
    fn drop(&mut self) {
        let real = self.real.get_mut();
        real.unwrap_or_else(PoisonError::into_inner).lose_nexus();
    }
}

impl End {
    fn carry_out(
        &self,
        cdb: &Cdb,
        data: Data<'_>,
        timeout: Duration,
    ) -> Result<Completion, TransportError> {
        let mut real = self.real.lock().unwrap_or_else(PoisonError::into_inner);
        let judge = &self.site.judge;
        let done = real.execute(cdb, data, timeout)?;
        if let Some(drive) = self.drive {
            judge.answered(&self.run, drive, cdb, &done);
        }
        Ok(done)
    }
}

impl Way {
    /// A way for a process of a host, by its name.
    pub fn new(
        real: EmulatedTransport,
        drive: Option<usize>,
        run: &str,
        site: &Arc<Site>,
        host: &Arc<Host>,
    ) -> Way {
        let end = End {
            name: real.name().to_owned(),
            real: Mutex::new(real),
            drive,
            run: run.to_owned(),
            site: Arc::clone(site),
        };
        Way {
            end: Arc::new(end),
            host: Arc::clone(host),
        }
    }

    /// The process is gone; the command may be on its way nevertheless.
    fn lost(&self, cdb: &Cdb, data: &Data<'_>, timeout: Duration) -> TransportError {
        let bytes = match data {
            Data::Out(bytes) => Some(bytes.to_vec()),
            _ => None,
        };
        if let Some(due) = self.host.take_late()
            && !matches!(data, Data::In(_))
        {
            let (end, cdb) = (Arc::clone(&self.end), *cdb);
            let arrives = move || {
                let data = bytes.as_deref().map_or(Data::None, Data::Out);
                // Nobody hears the answer.
                drop(end.carry_out(&cdb, data, timeout));
                let judge = &end.site.judge;
                judge.note("packet", "arrived after its process had ended");
            };
            self.end.site.send(due, Box::new(arrives));
        }
        TransportError::Io {
            device: self.end.name.clone(),
            source: Dead.into(),
        }
    }
}

impl Transport for Way {
    fn name(&self) -> &str {
        &self.end.name
    }

    fn execute(
        &mut self,
        cdb: &Cdb,
        data: Data<'_>,
        timeout: Duration,
    ) -> Result<Completion, TransportError> {
        if let Some(drive) = self.end.drive {
            self.end.site.judge.look(&self.end.run, drive);
        }
        let mut step = self.host.step(Kind::Command);
        if step.is_ok() && self.end.drive.is_some() && writes(cdb) {
            step = self.host.step(Kind::TapeWrite);
        }
        match step {
            Err(Dead) => Err(self.lost(cdb, &data, timeout)),
            Ok(_) => self.end.carry_out(cdb, data, timeout),
        }
    }

    fn now(&self) -> Duration {
        self.end
            .real
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .now()
    }

    fn wait(&mut self, duration: Duration) {
        self.end
            .real
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .wait(duration);
    }

    fn most_bytes(&self) -> Option<usize> {
        self.end
            .real
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .most_bytes()
    }
}
