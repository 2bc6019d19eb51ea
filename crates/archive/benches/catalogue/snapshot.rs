//! Claims while a report's snapshot is open: PostgreSQL keeps every row that was changed or given up since.

use crate::list;
use crate::movers::Work;
use postgres::{Client, NoTls};
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use tapewise_archive::catalogue::{Place, RequestId};

const FILES: u64 = 1_000_000;

/// Minutes that make a line of the table. In each of them every number of movers works once at both places.
const LINE: u32 = 10;

const MOVERS: [usize; 3] = [1, 4, 16];

/// Loads files into a database, and enters recalls: by one statement, because that is not what is measured here.
fn fill(place: &Place, client: &mut Client, requests: i64) -> Vec<RequestId> {
    let catalogue = place.open().expect("a catalogue");
    let files = catalogue.add_list(&mut list::list(FILES), 1);
    assert_eq!(files.expect("added"), FILES);
    let sql = "INSERT INTO request (kind, file, user_name, priority, state, created_ns) \
        SELECT 'recall', 1 + number % $1::bigint, '', 0, 'queued', 1 FROM generate_series(1, $2::bigint) AS number";
    client
        .execute(sql, &[&(FILES as i64), &requests])
        .expect("entered");
    client.batch_execute("VACUUM ANALYZE").expect("vacuumed");
    (1..=requests).map(RequestId).collect()
}

/// Compares claims in a database where a snapshot is open with those in one where none is, in turns for some minutes.
pub fn compare(minutes: u32, requests: i64, urls: [&str; 2], copies: &Path) {
    let places = urls.map(|url| Place::Database {
        url: url.parse().expect("a URL"),
        copies: copies.to_owned(),
    });
    let mut clients = urls.map(|url| Client::connect(url, NoTls).expect("a connection"));
    let ids = [0, 1].map(|side| fill(&places[side], &mut clients[side], requests));
    let [reported, other] = &mut clients;
    let sql = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM volume";
    reported.batch_execute(sql).expect("a snapshot");
    let work = [0, 1].map(|side| Work {
        place: &places[side],
        requests: &ids[side],
        begun: 10,
        answered: 2,
        lasts: Duration::from_secs(10),
        claimed: AtomicU64::new(0),
    });
    println!("{requests} recalls in the queue of each; claims a second by 1, 4 and 16 movers");
    println!("| minutes | with a snapshot | without | leases, MB | requests, MB |");
    println!("|---|---|---|---|---|");
    for line in 0..minutes.div_ceil(LINE) {
        let mut sums = [[0.0; MOVERS.len()]; 2];
        let times = LINE.min(minutes - line * LINE);
        for _ in 0..times {
            for (at, movers) in MOVERS.into_iter().enumerate() {
                for side in [0, 1] {
                    sums[side][at] += work[side].claims_a_second(movers);
                }
            }
        }
        let [with, without] = sums.map(|sums| {
            sums.map(|sum| format!("{:.0}", sum / f64::from(times)))
                .join(", ")
        });
        let mut sizes = |table: &str| {
            [&mut *reported, &mut *other]
                .map(|client| megabytes(client, table))
                .join(", ")
        };
        let (leases, asked) = (sizes("lease"), sizes("request"));
        let until = line * LINE + times;
        println!(
            "| {}-{until} | {with} | {without} | {leases} | {asked} |",
            line * LINE
        );
    }
}

/// The size of a table with its indexes.
fn megabytes(client: &mut Client, table: &str) -> String {
    let sql = "SELECT pg_total_relation_size(to_regclass($1)) / 1000000";
    let row = client.query_one(sql, &[&table]).expect("a size");
    row.get::<_, i64>(0).to_string()
}
