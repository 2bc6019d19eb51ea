//! READ: everything in one go.

use crate::common;

use common::{drive, drives};
use tapewise_model::{NominalLayout, profile};
use tapewise_order::{Tape, read_whole_tape};

#[test]
fn a_dlt4000_takes_just_under_four_hours() {
    // Hillyer & Silberschatz 1996, section 4: typically 14,000 s, rewind included.
    let dlt = drive("dlt4000");
    let problem = dlt.problem(dlt.plain_options(), &[]);
    let time = read_whole_tape(&problem, &dlt.map).as_secs_f64();
    assert!((13_860.0..14_140.0).contains(&time), "{time}");
}

#[test]
fn an_lto_8_takes_its_wraps_its_turns_and_a_rewind() {
    let lto8 = profile::find("lto8").unwrap();
    let tape = Tape::new(&lto8, None).unwrap();
    let map = lto8.nominal_map(NominalLayout::Single, 1 << 18).unwrap();
    let options = drive("lto8").plain_options();
    let problem = tapewise_order::Problem::new(tape, options, &[]);
    // 208 wraps of 58.122 GB at 360 MB/s, 207 turns of 1.5 s; the last wrap ends where the tape
    // begins, so that the rewind is the 4.239 s of any positioning.
    let expected = 208.0 * 58_122.0 / 360.0 + 207.0 * 1.5 + 4.2389745;
    let time = read_whole_tape(&problem, &map).as_secs_f64();
    assert!((time - expected).abs() < 0.01, "{time} {expected}");
}

#[test]
fn a_half_empty_last_wrap_is_read_to_the_end_of_data_only() {
    for drive in drives() {
        let problem = drive.problem(drive.plain_options(), &[]);
        let used: u64 = drive
            .map
            .spans()
            .iter()
            .map(|span| u64::from(span.lpos_end.abs_diff(span.lpos_first)))
            .sum();
        let wraps = used as f64 / f64::from(drive.tape.geometry.wrap_lpos());
        let rate = drive.tape.transfer.rate_mb_s * 1e6;
        let reading = wraps * drive.tape.wrap_bytes / rate;
        let time = read_whole_tape(&problem, &drive.map).as_secs_f64();
        let turns_and_rewind = drive.tape.transfer.turnaround.as_secs_f64() * 280.0 + 200.0;
        assert!(
            (reading..reading + turns_and_rewind).contains(&time),
            "{}: {time} against {reading}",
            drive.name
        );
    }
}
