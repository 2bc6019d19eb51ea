//! Short seeks against reading on (Figures 10 to 13).

use super::{AMPEX, Bench, DAT_4MM, DLT4000, Drive, IBM3590, SONY, off_pct};
use crate::PaperError;
use tapewise_plot::Table;

/// Distances of the table, in MB.
const DISTANCES_MB: [f64; 9] = [1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 100.0, 150.0, 200.0];

/// Places where the seeks begin, evenly over the first quarter of a track: the paper's "middle of
/// the tape", with room for the longest.
const STARTS: u32 = 20;

/// Steps in which the crossing is looked for, in MB.
const STEP_MB: f64 = 0.05;

/// Share of the reading time below which a seek counts as faster: rates are rounded to less.
const FASTER: f64 = 0.99;

/// Seek and read times by distance, and where seeking begins to pay.
pub fn tables(bench: &Bench) -> Result<[Table; 2], PaperError> {
    Ok([figures(bench), crossings(bench)?])
}

/// Where the short seeks of a drive begin, as shares of the track.
fn starts() -> impl Iterator<Item = f64> {
    (0..STARTS).map(|start| (f64::from(start) + 0.5) / f64::from(STARTS) / 4.0)
}

/// A seek ahead on the same track.
fn seek_s(drive: &Drive, start: f64, distance_mb: f64) -> f64 {
    let to = start + distance_mb / drive.track_mb;
    drive.seek_s(&drive.place(0, start), &drive.place(0, to))
}

fn read_s(drive: &Drive, distance_mb: f64) -> f64 {
    distance_mb / drive.transfer.rate_mb_s
}

/// The shortest distance that a seek passes faster than reading does, mean over the starts;
/// `None` when it is none within the track.
fn crossing_mb(drive: &Drive) -> Option<f64> {
    let crossing = |start: f64| {
        let longest = (1.0 - start) * drive.track_mb;
        let steps = (longest / STEP_MB) as u32;
        (1..=steps)
            .map(|step| f64::from(step) * STEP_MB)
            .find(|&mb| {
                // Places are whole LPOS units: the distance is that of the places.
                let share = |mb: f64| drive.place(0, start + mb / drive.track_mb).lpos;
                let lpos = f64::from(share(mb) - share(0.0));
                let track = f64::from(drive.geometry.wrap_lpos());
                let read_s = read_s(drive, lpos / track * drive.track_mb);
                seek_s(drive, start, mb) < FASTER * read_s
            })
    };
    let found: Option<Vec<f64>> = starts().map(crossing).collect();
    found.map(|found| found.iter().sum::<f64>() / found.len() as f64)
}

fn figures(bench: &Bench) -> Table {
    let drives = [
        ("1996", &bench.key_points),
        ("DLT 4000", bench.drive(DLT4000)),
        ("3590", bench.drive(IBM3590)),
        ("Ampex", bench.drive(AMPEX)),
        ("Sony", bench.drive(SONY)),
        ("4mm", bench.drive(DAT_4MM)),
    ];
    let mut columns = vec!["MB".to_owned()];
    for (name, _) in &drives {
        columns.push(format!("{name} seek"));
        columns.push("read".to_owned());
    }
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut table = Table::new(
        "Figures 10 to 13: seeking ahead past so many MB, and reading them, seconds",
        &columns,
    );
    for mb in DISTANCES_MB {
        let cells = drives.iter().flat_map(|(_, drive)| {
            let seek = starts().map(|start| seek_s(drive, start, mb)).sum::<f64>();
            let times = [seek / f64::from(STARTS), read_s(drive, mb)];
            times.map(|time| format!("{time:.1}"))
        });
        let cells: Vec<String> = cells.collect();
        table.row([mb.to_string()].into_iter().chain(cells));
    }
    table.note("1996: the key-point model of the DLT 4000; DLT 4000: Table 3 (o = +0.04). Mean over starts in the first quarter of a track.");
    table.note("Table 3 puts 21 to 36 s on a short seek, where the paper saw no penalty (Figure 10): it is fitted to long ones.");
    table
}

fn crossings(bench: &Bench) -> Result<Table, PaperError> {
    let mut table = Table::new(
        "Section 5.4.3: seeking is faster than reading from so many MB on",
        &["drive", "read MB/s", "ours MB", "paper MB", "off %"],
    );
    let paper = bench.drive(DLT4000);
    for drive in bench.drives.iter().chain([&bench.key_points]) {
        // The finer model is of the same drive as that of Table 3.
        let same = bench.theirs(drive).or_else(|_| bench.theirs(paper))?;
        let ours = crossing_mb(drive);
        table.row([
            drive.name.to_owned(),
            drive.transfer.rate_mb_s.to_string(),
            ours.map_or("-".to_owned(), |mb| format!("{mb:.1}")),
            same.min_seek_mb.to_string(),
            ours.map_or("-".to_owned(), |mb| {
                format!("{:+.0}", off_pct(mb, same.min_seek_mb))
            }),
        ]);
    }
    table.note("Startups of Tables 3 and 4 are those of long seeks: too much for short ones, of which the 4mm drive alone has a line of its own.");
    table.note("-: not within a track: at 119 s to seek a track and 127 s to read it, a DLT 7000 never makes up for its startup.");
    Ok(table)
}
