//! What a run has measured as a scenario of `tapewise simulate`.

use super::measured::{Measured, MeasuredError, times_s};
use std::collections::HashMap;
use std::fmt::Write;
use tapewise_formats::bench_csv::{LOCATIONS, Retrieval};
use tapewise_formats::event::{Action, Event, Outcome};
use tapewise_model::Micros;

/// The requests of the pattern, and every step's times as they were measured, each as likely.
///
/// # Errors
/// [`MeasuredError::NeverDone`].
pub fn text(
    pattern: &[Retrieval],
    events: &[Event],
    measured: &Measured,
) -> Result<String, MeasuredError> {
    let values = |action| values(&times_s(events, action), action);
    let cartridges = pattern.iter().map(|one| one.cartridge).max().unwrap_or(1);
    let mut text = format!(
        "# What `tapewise library bench` measured, {} of {} requests: the same requests, and the times\n\
         # of its steps, each as likely. A search is a locate and the read after it. Drives that took no part\n\
         # are not counted.\n\n\
         name = \"library bench\"\n\
         requests = {}\n\
         replications = 100\n\
         warm_up = \"keep\"\n\n\
         [policy]\n\
         most_per_mount = 1\n\
         affinity = false\n\
         dismount = \"at-once\"\n\
         rewind = \"after-answer\"\n\n\
         [[library]]\n\
         name = \"measured\"\n\n\
         [library.robot]\n\
         get_s = {}\n\
         put_s = {}\n\n\
         [[library.drive]]\n\
         count = {}\n\
         load_s = {}\n\
         unload_s = {}\n\
         search_s = {}\n\
         rewind_s = {}\n\n\
         [[library.cartridge]]\n\
         count = {cartridges}\n\n\
         [arrivals]\n\
         pattern = \"trace\"\n\
         list = [\n",
        measured.answered,
        measured.requests,
        pattern.len(),
        values(Action::Fetch)?,
        values(Action::Return)?,
        measured.drives,
        values(Action::Mount)?,
        values(Action::Unmount)?,
        self::values(&searches_s(events), Action::Locate)?,
        values(Action::Rewind)?,
    );
    for one in pattern {
        let place = f64::from(one.location - 1) / f64::from(LOCATIONS - 1);
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "    {{ at_s = {}, cartridge = {}, place = {place:.4} }},",
            one.at.as_secs_f64(),
            one.cartridge - 1
        );
    }
    text.push_str("]\n");
    Ok(text)
}

/// From the beginning of every locate to the end of the read behind it.
fn searches_s(events: &[Event]) -> Vec<f64> {
    let is_read = |event: &&Event| event.action == Action::Read && event.outcome == Outcome::Done;
    let mut began: HashMap<Option<&str>, Micros> = HashMap::new();
    for locate in events.iter().filter(|event| event.action == Action::Locate) {
        began
            .entry(locate.purpose.as_deref())
            .or_insert(locate.at_us);
    }
    let search_s = |read: &Event| {
        let began = began.get(&read.purpose.as_deref())?;
        Some((read.at_us + read.took_us - *began).as_secs_f64())
    };
    events.iter().filter(is_read).filter_map(search_s).collect()
}

/// A distribution of these values.
fn values(seconds: &[f64], action: Action) -> Result<String, MeasuredError> {
    if seconds.is_empty() {
        return Err(MeasuredError::NeverDone { action });
    }
    let values: Vec<String> = seconds.iter().map(|s| format!("{s:.3}")).collect();
    Ok(format!("{{ values = [{}] }}", values.join(", ")))
}
