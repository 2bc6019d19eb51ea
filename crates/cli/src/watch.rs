//! What `serve` and `mover` make of the things that drives do: metrics, and lines of the log.

use crate::archive::Archive;
use crate::log::{self, About};
use crate::now::now_ns;
use crate::telemetry;
use crate::units;
use tapewise_archive::mover::Recalled;
use tapewise_formats::event::{Action, Event, Outcome};
use tapewise_serve::{Tracer, Work, recalls_of};

/// Sees what the drives of a process do.
pub struct Watch<'a> {
    pub archive: &'a Archive,
    pub work: &'a Work,
    /// Who is told what was done for each request.
    pub tracer: Option<&'a Tracer>,
    pub quiet: bool,
}

impl Watch<'_> {
    /// A drive has done something.
    pub fn saw(&self, event: &Event) {
        let now_ns = now_ns();
        let goes_on = self.work.saw(event, now_ns);
        if let Some(tracer) = self.tracer {
            let catalogue = self.archive.catalogue.as_ref();
            telemetry::trace(tracer, catalogue, event, now_ns);
        }
        let has_failed = event.outcome == Outcome::Failed;
        if !has_failed && (self.quiet || !is_told(event.action, goes_on)) {
            return;
        }
        let (drive, volume) = (event.device.as_deref(), event.cartridge.as_deref());
        let purpose = event.purpose.as_deref().unwrap_or_default();
        let request = recalls_of(purpose).next();
        let about = About {
            request: request.map(|request| request.0),
            volume,
            drive,
            epoch: drive.and_then(|drive| self.epoch(drive)),
            hint: None,
        };
        let (drive, volume) = (drive.unwrap_or("a drive"), volume.unwrap_or("no cartridge"));
        let action = event.action;
        if has_failed {
            let why = event.sense.as_deref().unwrap_or("it does not say why");
            log::warn(
                about,
                format_args!("{action} of {volume} in {drive} failed: {why}"),
            );
        } else {
            let took = event.took_us;
            log::info(
                about,
                format_args!("{action} of {volume} in {drive} took {took}"),
            );
        }
    }

    /// What came of recalls.
    pub fn did(&self, recalled: &Recalled) {
        self.work.did(recalled);
        for (request, failure) in &recalled.failed {
            let about = About {
                request: Some(request.0),
                ..About::default()
            };
            log::warn(
                about,
                format_args!("recall {} failed: {failure}", request.0),
            );
        }
        if recalled.lost > 0 {
            log::warn(About::default(), lost(recalled.lost));
        }
        if self.quiet || recalled.delivered == 0 && recalled.failed.is_empty() {
            return;
        }
        let files = units::count(recalled.delivered as usize, "file");
        let (bytes, failed) = (units::bytes(recalled.bytes), recalled.failed.len());
        let mounts = units::count(recalled.mounts as usize, "mount");
        let mut said = format!("delivered {files} ({bytes}), {failed} failed, {mounts}");
        if recalled.joined > 0 {
            let joined = units::count(recalled.joined as usize, "file");
            said += &format!(", {joined} asked for while the cartridge was read");
        }
        if recalled.cut > 0 {
            let cut = units::count(recalled.cut as usize, "mount");
            said += &format!(", {cut} ended early for an overdue request");
        }
        log::info(About::default(), format_args!("{said}"));
    }

    /// Something keeps the work from going on; it is tried again. The same is told once.
    pub fn is_stuck(&self, why: &str, last: &mut String) {
        self.work.is_stuck(why.to_owned());
        if last != why {
            log::warn(About::default(), format_args!("{why}; it is tried again"));
            why.clone_into(last);
        }
    }

    /// The number of the lease under which a drive is used.
    fn epoch(&self, drive: &str) -> Option<u64> {
        // A line of the log can do without.
        let mut leases = self.archive.catalogue.leases().ok()?.into_iter();
        let lease = leases.find(|lease| lease.drive == drive)?;
        Some(lease.epoch)
    }
}

/// Whether an action of a drive is told that went well. To go on with the cartridge that is loaded is no mount.
fn is_told(action: Action, goes_on: bool) -> bool {
    match action {
        Action::Mount => !goes_on,
        action => action == Action::Unmount,
    }
}

/// What is to be said of copies that recalls have given up.
pub fn lost(copies: u64) -> String {
    format!(
        "copies that could not be read, or had other contents, and now count as lost: {copies}; their files came from \
         other copies. `tapewise catalog verify` reads them again, and makes those anew that are still wrong"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_of_mounts_and_unmounts_and_not_of_reading_on() {
        assert!(is_told(Action::Mount, false));
        assert!(!is_told(Action::Mount, true));
        assert!(is_told(Action::Unmount, false));
        assert!(!is_told(Action::Locate, false));
    }
}
