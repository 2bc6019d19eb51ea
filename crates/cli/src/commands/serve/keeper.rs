//! What goes on beside HTTP and drives: lifetimes of staged files begin, settings are read again, certificates renewed,
//! systemd is told that all is alive.

use super::{Configured, IDLE, Serve};
use crate::error::CliError;
use crate::gather::LOOK;
use crate::interrupt::is_set;
use crate::log::{self, About};
use crate::output::say;
use crate::systemd::{self, Pulse};
use signal_hook::consts::SIGHUP;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tapewise_serve::{Certificate, Service, Work};

/// How often a certificate's files are looked at.
const RENEWAL: Duration = Duration::from_secs(60);

/// How long a stage request is remembered after all of its files ended.
const REMEMBERED_NS: i64 = 14 * 86_400_000_000_000;

/// Keeps a service in order.
pub struct Keeper<'a> {
    pub args: &'a Serve,
    pub service: &'a Service,
    pub certificate: Option<&'a Certificate>,
    pub work: &'a Work,
    pub stop: &'a AtomicBool,
}

impl Keeper<'_> {
    /// Works until the service is to end.
    pub fn work(&self) -> Result<(), CliError> {
        let reload = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(SIGHUP, Arc::clone(&reload)).map_err(CliError::failed)?;
        systemd::notify("READY=1");
        let (mut renewed, mut pulse) = (Instant::now(), Pulse::begin());
        let (mut settled, mut said) = (None::<Instant>, String::new());
        while !is_set(self.stop) {
            std::thread::sleep(LOOK);
            if settled.is_none_or(|settled| settled.elapsed() >= IDLE) {
                settled = Some(Instant::now());
                self.settle(&mut said);
            }
            if reload.swap(false, Ordering::Relaxed) {
                self.reload();
                self.renew();
            } else if renewed.elapsed() >= RENEWAL {
                renewed = Instant::now();
                self.renew();
            }
            pulse.beat(self.work);
        }
        systemd::notify("STOPPING=1");
        Ok(())
    }

    /// Looks after stage requests and what the service needs. The same trouble is told once.
    fn settle(&self, said: &mut String) {
        let looked_after = self.service.look_after(REMEMBERED_NS);
        let why = looked_after.err().unwrap_or_default();
        if !why.is_empty() && why != *said {
            log::warn(About::default(), format_args!("{why}; it is tried again"));
        }
        *said = why;
    }

    /// Users and issuers as the settings have them now. What cannot be used changes nothing.
    fn reload(&self) {
        let access = Configured::of(self.args).and_then(|configured| {
            let (token, _, _) = configured.token(self.args)?;
            configured.access(&token)
        });
        match access {
            Ok(access) => {
                self.service.set_access(access);
                say(format_args!("tapewise: users and issuers are read again\n"));
            }
            Err(error) => log::warn(
                About::default(),
                format_args!(
                    "{}; users and issuers stay as they were",
                    in_a_line(error.message())
                ),
            ),
        }
    }

    fn renew(&self) {
        let Some(certificate) = self.certificate else {
            return;
        };
        match certificate.renew() {
            Ok(false) => {}
            Ok(true) => say(format_args!("tapewise: there is a new certificate\n")),
            Err(error) => log::warn(
                About::default(),
                format_args!("{error}; the last certificate is still used"),
            ),
        }
    }
}

/// A message without the lines of a file that it shows: where it is, and what is wrong, which comes last.
fn in_a_line(message: &str) -> String {
    let mut lines = message.lines();
    let first = lines.next().unwrap_or_default();
    match lines.next_back() {
        Some(last) => format!("{first}: {last}"),
        None => first.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tapewise_serve::ServeSettings;

    #[test]
    fn what_is_wrong_in_the_settings_is_one_line_of_the_log() {
        let error = ServeSettings::of("site = \"A\"\nlimit = 3\n").expect_err("no such key");
        let said = in_a_line(&format!("serve.toml: {error}"));
        assert!(
            said.starts_with("serve.toml: ") && said.contains("line 2"),
            "{said}"
        );
        assert!(
            said.contains("unknown field `limit`") && !said.contains('\n'),
            "{said}"
        );
        assert_eq!(in_a_line("no token"), "no token");
    }
}
