//! Delays between reads (Figures 14 and 15) and compression (Figures 16 and 17).

use super::{AMPEX, Bench, DLT4000, Drive, SONY, off_pct};
use crate::PaperError;
use crate::claims::Ours;
use tapewise_model::Micros;
use tapewise_plot::Table;

/// Delays between two reads, in ms.
const DELAYS_MS: [f64; 11] = [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 50.0, 100.0];

/// Sizes read at a stretch, in MB, around the 64 MB buffer of the Ampex.
const STRETCHES_MB: [f64; 5] = [32.0, 60.0, 70.0, 100.0, 200.0];

/// Ratios of gzip that the figures span.
const GZIP_RATIOS: [f64; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];

/// Both, and the claim on the largest compressed rates.
pub fn tables(bench: &Bench, ours: &mut Ours) -> Result<Vec<Table>, PaperError> {
    Ok(vec![
        delays(bench)?,
        restarts(bench),
        compression(bench)?,
        limits(bench, ours)?,
    ])
}

fn delays(bench: &Bench) -> Result<Table, PaperError> {
    let drives = [DLT4000, AMPEX, SONY].map(|name| bench.drive(name));
    let mut table = Table::new(
        "Figures 14 and 15: read rate against the delay before the next read, MB/s",
        &["delay ms", "DLT 4000", "Ampex", "Sony"],
    );
    let mut blocks = Vec::new();
    for drive in drives {
        let kb = drive.need(&drive.profile.transfer.transfer_kb, "the transfer size")?;
        blocks.push((drive, (kb * 1e3) as u64));
    }
    for ms in DELAYS_MS {
        let delay = Micros::from_secs_f64(ms / 1e3);
        let rates = blocks
            .iter()
            .map(|(drive, bytes)| format!("{:.2}", drive.transfer.rate_with_delay(*bytes, delay)));
        table.row([ms.to_string()].into_iter().chain(rates));
    }
    let sizes: Vec<String> = blocks
        .iter()
        .map(|(drive, bytes)| format!("{} {} KB", drive.name, bytes / 1_000))
        .collect();
    table.note(format!("Blocks: {}.", sizes.join(", ")));
    table.note("Nothing is lost up to the tolerance of Table 4 (10, 6, 6 ms); that what exceeds it is lost in full is our reading.");
    Ok(table)
}

/// Reading a stretch, then working on it for long.
fn restarts(bench: &Bench) -> Table {
    let mut table = Table::new(
        "Section 5.5: reading so much, then a pause of half a minute or more",
        &[
            "MB",
            "Ampex read s",
            "restart s",
            "MB/s while reading",
            "DLT 4000 read s",
            "restart s",
        ],
    );
    let (ampex, dlt) = (bench.drive(AMPEX), bench.drive(DLT4000));
    for mb in STRETCHES_MB {
        let bytes = (mb * 1e6) as u64;
        let times = |drive: &Drive| {
            let read = drive.transfer.time(bytes).as_secs_f64();
            (read, drive.transfer.restart_penalty(bytes).as_secs_f64())
        };
        let ((read, restart), (dlt_read, dlt_restart)) = (times(ampex), times(dlt));
        table.row([
            mb.to_string(),
            format!("{read:.1}"),
            format!("{restart:.1}"),
            format!("{:.1}", mb / (read + restart)),
            format!("{dlt_read:.1}"),
            format!("{dlt_restart:.1}"),
        ]);
    }
    table.note("The paper saw about 7 s from 70 MB and 32 s on, the Ampex having 64 MB of cache, and none on the DLT 4000 up to 100 MB and 100 s.");
    table
}

/// Rates by the regressions of section 5.6.
fn compression(bench: &Bench) -> Result<Table, PaperError> {
    let mut table = Table::new(
        "Figures 16 and 17: the drive's own compression, and uncompressed MB/s, against the ratio of gzip",
        &[
            "gzip ratio",
            "DLT 4000 ratio",
            "read",
            "write",
            "read gzipped",
            "Sony ratio",
            "read",
            "write",
            "read gzipped",
        ],
    );
    for gzip in GZIP_RATIOS {
        let mut cells = vec![gzip.to_string()];
        for name in [DLT4000, SONY] {
            let drive = bench.drive(name);
            let transfer = &drive.transfer;
            let curves = transfer
                .compression
                .zip(transfer.compressed_read)
                .zip(transfer.compressed_write);
            let ((ratio, read), write) = curves
                .ok_or_else(|| PaperError::from(format!("{name}: compression is missing")))?;
            cells.push(format!("{:.2}", ratio.ratio(gzip)));
            cells.push(format!("{:.2}", read.mb_per_s(gzip)));
            cells.push(format!("{:.2}", write.mb_per_s(gzip)));
            cells.push(format!("{:.2}", gzip * read.mb_per_s(1.0)));
        }
        table.row(cells);
    }
    table.note("read gzipped: the same data compressed before it was written, which the drive cannot compress again: from a ratio of 1 on the faster.");
    table.note(format!(
        "At a ratio of 1 the regressions stand beside the {} and {} MB/s of Table 4.",
        bench.drive(DLT4000).transfer.rate_mb_s,
        bench.drive(SONY).transfer.rate_mb_s
    ));
    Ok(table)
}

/// 1 / a of each regression beside Table 4.
fn limits(bench: &Bench, ours: &mut Ours) -> Result<Table, PaperError> {
    let allowed = bench.paper.tolerance("max-compressed-rates")?;
    let mut table = Table::new(
        "Table 4: largest compressed rates, MB/s",
        &["drive", "", "paper", "ours, 1/a", "off %"],
    );
    let mut within = 0;
    for drive in &bench.drives {
        let theirs = bench.theirs(drive)?;
        for (what, curve, printed) in [
            ("read", drive.transfer.compressed_read, theirs.max_read_mb_s),
            (
                "write",
                drive.transfer.compressed_write,
                theirs.max_write_mb_s,
            ),
        ] {
            let Some((curve, printed)) = curve.zip(printed) else {
                continue;
            };
            let off = off_pct(curve.limit_mb_per_s(), printed);
            within += u32::from(off.abs() <= allowed * 100.0);
            table.row([
                drive.name.to_owned(),
                what.to_owned(),
                printed.to_string(),
                format!("{:.2}", curve.limit_mb_per_s()),
                format!("{off:+.1}"),
            ]);
        }
    }
    ours.set(
        "max-compressed-rates",
        f64::from(within),
        format!(
            "1/a of the profiles' regressions within {:.0} %",
            allowed * 100.0
        ),
    );
    Ok(table)
}
