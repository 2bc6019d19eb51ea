//! The person at the terminal, who puts cartridges into drives that have no robot.

use crate::interrupt::is_set;
use crate::output::say;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
use tapewise_library::pool::{Answer, Person};

/// How long an answer is waited for before the drive is asked again.
const MOMENT: Duration = Duration::from_millis(200);

/// A person who is told on standard error what to put in, and answers on standard input.
pub struct Terminal {
    /// The lines of standard input; none before the first question, because a list of names may be
    /// read from there.
    lines: Option<Receiver<String>>,
    stop: Arc<AtomicBool>,
}

impl Terminal {
    /// Somebody who may interrupt the work.
    pub fn new(stop: &Arc<AtomicBool>) -> Terminal {
        Terminal {
            lines: None,
            stop: Arc::clone(stop),
        }
    }
}

impl Person for Terminal {
    fn ask(&mut self, volume: &str, drive: &str) {
        say(format_args!(
            "insert {volume} into {drive} (the drive is watched; press Enter when the cartridge is in, or type s to skip it)\n"
        ));
    }

    fn answer(&mut self) -> Answer {
        let lines = self.lines.get_or_insert_with(listen);
        let line = match lines.recv_timeout(MOMENT) {
            _ if is_set(&self.stop) => return Answer::Stop,
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => return Answer::Nothing,
            Err(RecvTimeoutError::Disconnected) => return Answer::Gone,
        };
        match line.trim() {
            "" => Answer::Inserted,
            "s" | "S" => Answer::Skipped,
            other => {
                say(format_args!(
                    "{other:?} is not an answer: press Enter when the cartridge is in, or type s to skip it\n"
                ));
                Answer::Nothing
            }
        }
    }

    fn take(&mut self, volume: &str, drive: &str) {
        say(format_args!(
            "take the cartridge out of {drive}: {volume}\n"
        ));
    }
}

/// Reads standard input on a thread of its own, which ends with it: a question can be answered by the
/// drive instead.
fn listen() -> Receiver<String> {
    let (tell, lines) = channel();
    // Without a thread nobody listens, and that is said when the next cartridge is asked for.
    let _ = std::thread::Builder::new().spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            if tell.send(line).is_err() {
                return;
            }
        }
    });
    lines
}
