//! How far a long work has come: a line on a terminal, or JSON Lines for a program.

mod drives;
mod state;

pub use drives::Drives;
pub use state::{Left, State};

use crate::error::{CliError, Exit};
use crate::json::envelope;
use crate::terminal::{for_terminal, write_error};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use state::Shown;
use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The name of the format of every line, after `tapewise-`.
const FORMAT: &str = "progress";

/// A program is told this often at most, and of the last state in any case.
const EVERY: Duration = Duration::from_millis(500);

/// How progress is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// A line on standard error, if that is a terminal.
    #[default]
    Line,
    /// A JSON object a line on standard error, and nothing else there.
    Json,
    /// Nothing.
    None,
}

/// What the whole program does with its standard error.
struct Channel {
    form: Form,
    verb: String,
    began: Instant,
}

static CHANNEL: OnceLock<Channel> = OnceLock::new();

/// The line that is drawn now. Whatever else is printed first takes it away.
static LINE: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Decides, once for the whole program, how progress is shown. `verb` is as `library stress`.
pub fn begin(form: Form, verb: String) {
    CHANNEL.get_or_init(|| Channel {
        form,
        verb,
        began: Instant::now(),
    });
}

fn form() -> Form {
    CHANNEL.get().map_or(Form::Line, |channel| channel.form)
}

/// Whether standard error is for a program.
pub fn is_json() -> bool {
    form() == Form::Json
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the progress line, if one is drawn, away, prints, and draws the line again.
pub fn aside<T>(print: impl FnOnce() -> T) -> T {
    let line = locked(&LINE).clone();
    match line {
        Some(line) => line.suspend(print),
        None => print(),
    }
}

/// What every line for a program has.
#[derive(Serialize)]
struct Line<'a, T> {
    event: &'static str,
    verb: &'a str,
    elapsed_s: f64,
    #[serde(flatten)]
    body: T,
}

fn emit(event: &'static str, body: impl Serialize) {
    let Some(channel) = CHANNEL.get() else { return };
    let line = Line {
        event,
        verb: &channel.verb,
        elapsed_s: channel.began.elapsed().as_secs_f64(),
        body,
    };
    // The objects are ours, and their keys are strings: no line is ever lost here.
    if let Ok(line) = envelope::line(FORMAT, &line) {
        write_error(&line);
    }
}

/// Tells a program what a person would read.
pub fn message(text: &str) {
    let text = text.trim_end();
    if !text.is_empty() {
        emit("message", serde_json::json!({ "text": text }));
    }
}

/// The end of the program, as the last line for a program has it.
#[derive(Debug, PartialEq, Serialize)]
struct End<'a> {
    outcome: &'static str,
    exit_code: u8,
    message: Option<&'a str>,
    hint: Option<&'a str>,
}

/// Tells a program how all ended.
pub fn end(result: &Result<ExitCode, CliError>) {
    if is_json() {
        emit("end", ending(result));
    }
}

fn ending(result: &Result<ExitCode, CliError>) -> End<'_> {
    let (exit_code, error) = match result {
        // An exit code keeps its number to itself.
        Ok(code) => {
            let number = (0..=u8::MAX).find(|number| ExitCode::from(*number) == *code);
            (number.unwrap_or(Exit::Failed as u8), None)
        }
        Err(error) => (error.exit() as u8, Some(error)),
    };
    End {
        outcome: Exit::outcome(exit_code),
        exit_code,
        message: error.map(CliError::message),
        hint: error.and_then(CliError::to_do),
    }
}

/// Shows how far one work has come, until it is dropped.
pub struct Meter {
    form: Form,
    line: ProgressBar,
    began: Instant,
    told: Mutex<Told>,
}

/// What a program was told last, and what it was not told yet.
#[derive(Default)]
struct Told {
    at: Option<Instant>,
    held: Option<Shown>,
}

impl Meter {
    pub fn new() -> Meter {
        Meter::unless(false)
    }

    /// One without a line if nothing is to be shown. A program that asked for JSON is told all the same.
    pub fn unless(quiet: bool) -> Meter {
        let style = ProgressStyle::with_template("{wide_msg}");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
        Meter {
            form: match form() {
                Form::Line if quiet => Form::None,
                form => form,
            },
            // It draws on a terminal only, and nothing before it has something to say.
            line: ProgressBar::new_spinner().with_style(style),
            began: Instant::now(),
            told: Mutex::default(),
        }
    }

    /// Whether it is time to show a state that costs something to find out.
    pub fn is_due(&self) -> bool {
        let told = locked(&self.told);
        self.form != Form::None && told.at.is_none_or(|at| at.elapsed() >= EVERY)
    }

    /// Shows a state; a program is told one that comes too soon when it is the last.
    pub fn show(&self, state: State) {
        let is_due = self.is_due();
        let shown = || Shown::new(state, self.began.elapsed());
        let mut told = locked(&self.told);
        match self.form {
            Form::None => return,
            Form::Line => {
                self.line.set_message(for_terminal(&shown().to_string()));
                self.line.tick();
                *locked(&LINE) = Some(self.line.clone());
            }
            Form::Json if is_due => {
                emit("progress", shown());
                told.held = None;
            }
            Form::Json => told.held = Some(shown()),
        }
        if is_due {
            told.at = Some(Instant::now());
        }
    }
}

/// Does a work that cannot tell how far it has come. Once it takes longer than half a second, it shows `what` is
/// done, for how many seconds, and out of how many if there is a limit.
pub fn during<T>(what: &str, limit: Option<Duration>, work: impl FnOnce() -> T) -> T {
    let (working, ended) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let watch = move || {
            let meter = Meter::new();
            while ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                // A work that is past its limit ends at its next chance.
                let elapsed = meter.began.elapsed().min(limit.unwrap_or(Duration::MAX));
                let whole = |time: Duration| time.as_secs_f64().ceil() as u64;
                let share = limit.map(|limit| elapsed.as_secs_f64() / limit.as_secs_f64());
                let counted = State::counted("second", elapsed.as_secs(), limit.map(whole));
                meter.show(State {
                    share,
                    ..counted.doing(what)
                });
            }
        };
        // Where there are no threads, the work goes on unseen.
        let _ = thread::Builder::new().spawn_scoped(scope, watch);
        // Dropped when the work ends in any way, so that the thread above ends too.
        let _working = working;
        work()
    })
}

impl Drop for Meter {
    fn drop(&mut self) {
        if self.form == Form::Line {
            *locked(&LINE) = None;
            self.line.finish_and_clear();
        }
        if let Some(shown) = locked(&self.told).held.take() {
            emit("progress", shown);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_has_the_exit_code_its_name_and_what_to_do() {
        let done = ending(&Ok(ExitCode::SUCCESS));
        assert_eq!((done.outcome, done.exit_code, done.hint), ("done", 0, None));
        assert_eq!(ending(&Ok(ExitCode::from(7))).outcome, "partial");
        let error = Err(CliError::with(Exit::Interrupted, "interrupted").hint("again"));
        let expected = End {
            outcome: "interrupted",
            exit_code: 130,
            message: Some("interrupted"),
            hint: Some("again"),
        };
        assert_eq!(ending(&error), expected);
    }
}
