//! A report beside what the papers measured of their drives and libraries.

use super::{find, number};
use crate::error::CliError;
use tapewise_papers::{Quantity, published};
use tapewise_plot::Table;
use tapewise_run::accept::{AcceptanceReport, Kind};

/// What a paper has, what we call it, and where it stands in a report.
const DRIVE: [(Quantity, &str, &str, &str); 10] = [
    (Quantity::Mount, "mount, s", "mount", "mount"),
    (Quantity::Unmount, "unmount, s", "mount", "unmount, rewound"),
    (
        Quantity::Startup,
        "startup of a locate, s",
        "seek-opposite",
        "startup of a locate",
    ),
    (
        Quantity::Full,
        "locate over the whole tape, s",
        "seek-bot",
        "locate over the whole tape",
    ),
    (
        Quantity::Crossover,
        "locate beats reading on from, MB",
        "short-seek",
        "reading on is slower than a locate from",
    ),
    (
        Quantity::Delay,
        "delay between reads without loss, ms",
        "delay",
        "delay between reads that costs nothing",
    ),
    (
        Quantity::Write,
        "write incompressible data, MB/s",
        "data-path",
        "write, incompressible data",
    ),
    (
        Quantity::Read,
        "read incompressible data, MB/s",
        "data-path",
        "read, incompressible data",
    ),
    (
        Quantity::WriteCompressible,
        "write compressible data, MB/s",
        "data-path",
        "write, compressible data",
    ),
    (
        Quantity::ReadCompressible,
        "read compressible data, MB/s",
        "data-path",
        "read, compressible data",
    ),
];

const LIBRARY: [(Quantity, &str, &str, &str); 6] = [
    (
        Quantity::Inventory,
        "inventory, s",
        "inventory",
        "inventory of the whole library",
    ),
    (
        Quantity::Mount,
        "slot to ready, s",
        "stress-1",
        "mount, robot and drive, stress-1",
    ),
    (
        Quantity::Unmount,
        "ready to slot, s",
        "stress-1",
        "dismount, drive and robot, stress-1",
    ),
    (
        Quantity::Fetch,
        "robot, slot to drive, s",
        "stress-1",
        "robot, slot to drive, stress-1",
    ),
    (
        Quantity::Return,
        "robot, drive to slot, s",
        "stress-1",
        "robot, drive to slot, stress-1",
    ),
    (
        Quantity::MountsPerHour,
        "mounts an hour, two at once",
        "stress-2",
        "mounts an hour, stress-2",
    ),
];

/// The report and the papers, a column each. Other hardware of another time: it shows what to expect of the kind of number.
pub fn beside(report: &AcceptanceReport) -> Result<Table, CliError> {
    let rows: &[_] = match report.kind {
        Kind::Drive => &DRIVE,
        Kind::Library => &LIBRARY,
    };
    let mut papers = published().map_err(CliError::failed)?;
    let has = |values: &Quantity| rows.iter().any(|(quantity, ..)| quantity == values);
    papers.retain(|paper| paper.values.keys().filter(|quantity| has(quantity)).count() > 1);
    // A drive's mount is not a library's, and the other way round.
    if report.kind == Kind::Library {
        papers.retain(|paper| {
            let values = &paper.values;
            values.contains_key(&Quantity::Fetch) || values.contains_key(&Quantity::MountsPerHour)
        });
    }
    let mut columns = vec!["quantity", "here"];
    columns.extend(papers.iter().map(|paper| paper.of.as_str()));
    let mut table = Table::new("Beside the papers", &columns);
    for (quantity, name, part, what) in rows {
        let here = find(report, part, what);
        let here = here.map_or_else(|| "-".to_owned(), |measure| number(measure.mean));
        let theirs = papers.iter().map(|paper| {
            let value = paper.values.get(quantity);
            value.cloned().unwrap_or_else(|| "-".to_owned())
        });
        table.row([(*name).to_owned(), here].into_iter().chain(theirs));
    }
    table.note(
        "1998: Johnson and Miller, Tables 2 and 4. 2001: Cholia and Meyer (NERSC), whose mounts and unmounts include \
         the robot.",
    );
    Ok(table)
}
