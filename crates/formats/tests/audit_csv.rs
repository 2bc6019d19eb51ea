//! The CSV that other systems' logs can be turned into.

use tapewise_formats::audit_csv::AuditCsv;
use tapewise_formats::event::{Action, Event, Outcome};
use tapewise_model::Micros;

fn read(text: &str) -> Result<Vec<Event>, String> {
    let mut csv = AuditCsv::open(text.as_bytes()).map_err(|error| error.to_string())?;
    let mut events = Vec::new();
    while let Some(event) = csv.next_event().map_err(|error| error.to_string())? {
        events.push(event);
    }
    Ok(events)
}

#[test]
fn a_row_says_what_an_event_says() {
    let text = "time,drive,volume,user,action,from_block,to_block,bytes,duration_s,rack\n\
                2026-11-21T04:00:00Z,D1,A00001,ann,locate,0,9000,,41.25,7\n\
                \n\
                2026-11-21T04:01:00.5Z,D1,A00001,,Read,9000,9010,2621440,1,7\n";
    let events = read(text).expect("events");
    assert_eq!(events.len(), 2);
    assert_eq!(events[0].action, Action::Locate);
    assert_eq!(events[0].took_us, Micros(41_250_000));
    assert_eq!(events[0].user.as_deref(), Some("ann"));
    assert_eq!(events[0].to.and_then(|spot| spot.block), Some(9000));
    assert_eq!(events[1].at_us - events[0].at_us, Micros(60_500_000));
    assert_eq!(events[1].user, None);
    assert_eq!(events[1].bytes, 2_621_440);
    let csv = AuditCsv::open(text.as_bytes()).expect("a header");
    assert_eq!(csv.unknown(), ["rack"]);
    assert!(csv.tells_time());
}

#[test]
fn places_and_outcomes_are_read_and_time_may_be_missing() {
    let text =
        "action;duration_ms;partition;to_wrap;to_lpos;outcome\nlocate;1500;1;7;4000;failed\n";
    let event = read(text).expect("an event").remove(0);
    let to = event.to.expect("a place");
    assert_eq!((to.partition, to.wrap, to.lpos), (1, Some(7), Some(4000)));
    assert_eq!(event.outcome, Outcome::Failed);
    assert_eq!(event.took_us, Micros(1_500_000));
    let csv = AuditCsv::open(text.as_bytes()).expect("a header");
    assert!(!csv.tells_time());
}

#[test]
fn what_is_wrong_is_named_with_line_and_column() {
    let wrong = |text: &str, said: &str| {
        let error = read(text).expect_err(text);
        assert!(error.contains(said), "{error}");
    };
    wrong("", "the file is empty");
    wrong("action\nread\n", "no column duration_us");
    wrong("duration_s\n1\n", "no column action");
    wrong(
        "action,duration_s,duration_us\n",
        "duration_us and duration_s",
    );
    wrong("action,duration_s,time,time_s\n", "time and time_s");
    wrong(
        "action,duration_s\nread,1\nfly,1\n",
        "line 3, column action: \"fly\"",
    );
    wrong("action,duration_s\n,1\n", "line 2, column action");
    wrong("action,duration_s\nread,-1\n", "line 2, column duration_s");
    wrong("action,duration_s\nread,NaN\n", "line 2, column duration_s");
    wrong(
        "action,duration_s,time\nread,1,noon\n",
        "line 2, column time: \"noon\"",
    );
    wrong(
        "action,duration_s,bytes\nread,1,-5\n",
        "line 2, column bytes",
    );
    wrong(
        "action,duration_s,partition\nread,1,999\n",
        "line 2, column partition",
    );
    wrong(
        "action,duration_s,from_block,to_block\nlocate,1,9,7\nread,1,9,7\n",
        "line 3: the read ends at block 7 (to_block), before it begins at block 9 (from_block)",
    );
    wrong(
        "action,duration_s,outcome\nread,1,maybe\n",
        "line 2, column outcome",
    );
}
