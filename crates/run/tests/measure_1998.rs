//! The suite on the six drives of 1998.

mod common;

use common::{NEVER, drive};
use tapewise_formats::event::Event;
use tapewise_model::profile;
use tapewise_run::Recorder;
use tapewise_run::measure::{Subject, Suite, fill, summary::Summary};

fn measured(kind: &str, block_kb: usize, scale: usize) -> Summary {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive(kind, 11, scale as u64, directory.path());
    let profile = profile::find(kind).expect("a profile");
    let mut events: Vec<Event> = Vec::new();
    let mut log: Vec<Event> = Vec::new();
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    let started = std::time::Instant::now();
    let block = block_kb * 1024 / scale;
    let most = Subject::most_blocks(&profile, (block * scale) as u64);
    let filled = fill(&mut recorder, block, most, 1, &mut |_| ()).expect("filled");
    eprintln!("{kind}: {filled:?} {:?}", started.elapsed());
    let subject = Subject::explore(&mut recorder, &profile, scale as u64).expect("data");
    let mut suite = Suite::plan(&subject, None, false, None, 5);
    suite
        .steps
        .retain(|p| p.step != tapewise_run::measure::Step::KeyPoints);
    suite
        .run(&mut recorder, &subject, None, &[], &mut |_| ())
        .expect("measured");
    eprintln!("{:?} drive {}", started.elapsed(), recorder.clock());
    drop(recorder);
    events.append(&mut log);
    Summary::of(&events, &subject)
}

#[test]
fn look() {
    for (kind, kb, scale) in [
        ("dat-4mm", 16, 1024),
        ("ampex-dst310", 1024, 1024),
        ("sony-dtf", 512, 1024),
        ("dlt4000-jm98", 32, 1024),
        ("dlt4000", 32, 1024),
        ("dlt7000", 32, 1024),
        ("ibm3590", 512, 1024),
    ] {
        let s = measured(kind, kb, scale);
        println!(
            "== {kind}\n mount {:?}\n unmount {:?}\n mid {:?}\n first {:?} {:?}\n bot {:?} {:?}\n rev {:?}\n long {:?}\n midt {:?}\n rate {:?}\n cross {:?} {:?}\n delay {:?}\n restart {:?}",
            s.mount_s,
            s.unmount_s,
            s.unmount_midtape_s,
            s.first_seek_s,
            s.first_seek_line,
            s.seek_bot_s,
            s.seek_bot_line,
            s.seek_opposite_s,
            s.long_seek,
            s.seek_mid_s,
            s.rate_mb_s,
            s.crossover.as_ref().map(|c| c.mb),
            s.crossover.as_ref().map(|c| c.compared.len()),
            s.delay.map(|d| d.ms),
            s.restart
        );
    }
}
