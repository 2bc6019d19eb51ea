//! Table 3: seeks from the middle of the tape on a DLT 4000, with the offset the print lost.
//!
//! "p_004" can be read as p0 + 0.04 or p0 - 0.04; the offset `o` stays a parameter.

use super::{Bench, DLT4000, Drive};
use crate::PaperError;
use crate::claims::Ours;
use serde::Deserialize;
use tapewise_model::locate::FourRegion;
use tapewise_model::profile::Locate;
use tapewise_model::{LocateModel, Position, Random};
use tapewise_plot::Table;

/// A line of Table 3.
#[derive(Deserialize)]
pub struct Branch {
    when: String,
    intercept_s: f64,
    slope_s_per_track: f64,
}

/// The two readings of the print, and no offset at all.
const OFFSETS: [f64; 3] = [-0.04, 0.0, 0.04];

/// Random moves that means are taken over: their standard error is below 0.1 s.
const MOVES: u64 = 200_000;

/// Offsets tried for the one that suits best, in hundredths of a track.
const TRIED: std::ops::RangeInclusive<i32> = -25..=25;

/// Figure 8, the exact and the simulated mean, and the distance from the model of 1996.
pub fn tables(bench: &Bench, ours: &mut Ours) -> Result<[Table; 3], PaperError> {
    let moves = moves(bench);
    Ok([
        figure_8(bench)?,
        means(bench, &moves, ours)?,
        against_key_points(bench, &moves)?,
    ])
}

/// The lines of Table 3 for destinations on tracks of one direction.
#[derive(Clone, Copy)]
struct Lines {
    ahead: [f64; 2],
    behind: [f64; 2],
}

impl Lines {
    /// The lines for even or for odd T' + T0.
    fn of(table: &[Branch], parity: &str) -> Result<Lines, PaperError> {
        let find = |side: &str| {
            let here =
                |branch: &&Branch| branch.when.contains(parity) && branch.when.contains(side);
            let branch = table.iter().find(here);
            branch
                .map(|branch| [branch.intercept_s, branch.slope_s_per_track])
                .ok_or_else(|| {
                    PaperError::from(format!("claims.toml, table_3: no {parity}, {side}"))
                })
        };
        Ok(Lines {
            ahead: find("p' >")?,
            behind: find("p' <=")?,
        })
    }

    /// The exact mean over independent, even p0 and p' where the least seek is at `p0 + o`.
    ///
    /// With X = p' - p0, triangular on -1 to 1, and s = |o|: P(X beyond o, away from 0) is
    /// (1 - s)^2 / 2 and the mean distance beyond it (1 - s)^3 / 6; as X has mean 0, the mean
    /// distance on the other side is larger by s.
    fn mean_s(&self, offset: f64) -> f64 {
        let size = offset.abs();
        let beyond = (1.0 - size).powi(2) / 2.0;
        let distance = (1.0 - size).powi(3) / 6.0;
        let (far, near) = if offset >= 0.0 {
            (self.ahead, self.behind)
        } else {
            (self.behind, self.ahead)
        };
        far[0] * beyond + far[1] * distance + near[0] * (1.0 - beyond) + near[1] * (distance + size)
    }
}

/// The exact mean over all moves: half of them to tracks of each direction.
fn exact_mean_s(table: &[Branch], offset: f64) -> Result<f64, PaperError> {
    let same = Lines::of(table, "even")?;
    let other = Lines::of(table, "odd")?;
    // On a track of the other direction the least seek is at 1 - (p0 + o); 1 - p0 is as even as
    // p0, so the offset counts the other way.
    Ok((same.mean_s(offset) + other.mean_s(-offset)) / 2.0)
}

/// The model of the profile with another offset, on tape measured as `drive` does.
fn four_region(bench: &Bench, offset: f64, drive: &Drive) -> Result<LocateModel, PaperError> {
    let Some(Locate::FourRegion(values)) = &bench.drive(DLT4000).profile.locate else {
        return Err(PaperError::from(
            "profile dlt4000-jm98 has no four-region model",
        ));
    };
    Ok(LocateModel::FourRegion(FourRegion::new(
        [values.ahead_s.value, values.ahead_s_per_track.value],
        [values.behind_s.value, values.behind_s_per_track.value],
        offset,
        drive.geometry.lpos_min,
        drive.geometry.lpos_max,
    )))
}

/// Moves between even places on the tracks of the DLT 4000 of 1996.
fn moves(bench: &Bench) -> Vec<(Position, Position)> {
    let drive = &bench.key_points;
    let mut random = Random::new(bench.seed, 0);
    let mut place = || {
        let track = random.below(u64::from(drive.geometry.wraps)) as u16;
        drive.place(track, random.unit())
    };
    (0..MOVES).map(|_| (place(), place())).collect()
}

fn label(offset: f64) -> String {
    format!("{offset:+.2}")
}

/// Seeks from the middle of a reverse track, by each offset and by the model of 1996.
fn figure_8(bench: &Bench) -> Result<Table, PaperError> {
    const FROM: u16 = 31;
    const TENTHS: u32 = 10;
    let drive = &bench.key_points;
    let mut models = Vec::new();
    let mut columns = vec!["place".to_owned()];
    for direction in ["same", "other"] {
        columns.extend(OFFSETS.map(|offset| format!("{direction}, o = {offset:+.2}")));
        columns.push(format!("{direction}, 1996"));
    }
    for offset in OFFSETS {
        models.push(four_region(bench, offset, drive)?);
    }
    models.push(drive.model.clone());
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut table = Table::new(
        "Figure 8: seek from the middle of reverse track 31 to reverse track 33 (same) and forward track 32 (other), seconds",
        &columns,
    );
    let from = drive.place(FROM, 0.5);
    for tenth in 0..=TENTHS {
        let share = f64::from(tenth) / f64::from(TENTHS);
        let times = [FROM + 2, FROM + 1].into_iter().flat_map(|track| {
            let to = drive.place(track, share);
            let time = move |model: &LocateModel| model.locate(&from, &to).as_secs_f64();
            models.iter().map(time).collect::<Vec<_>>()
        });
        let cells: Vec<String> = times.map(|time| format!("{time:.1}")).collect();
        table.row([format!("{share:.1}")].into_iter().chain(cells));
    }
    table.note("place: share of the tape from its beginning. A reverse track is read from 1 down: there, ahead is below 0.5.");
    Ok(table)
}

/// The mean of a random seek.
fn means(
    bench: &Bench,
    moves: &[(Position, Position)],
    ours: &mut Ours,
) -> Result<Table, PaperError> {
    let mut table = Table::new(
        "Table 3: mean seek between random places, seconds",
        &["o", "exact, from Table 3", "by the profile", "difference"],
    );
    for offset in OFFSETS {
        let exact = exact_mean_s(&bench.facts.table_3, offset)?;
        let model = four_region(bench, offset, &bench.key_points)?;
        let sum: f64 = moves
            .iter()
            .map(|(from, to)| model.locate(from, to).as_secs_f64())
            .sum();
        let simulated = sum / moves.len() as f64;
        table.row([
            label(offset),
            format!("{exact:.2}"),
            format!("{simulated:.2}"),
            format!("{:+.2}", simulated - exact),
        ]);
        if offset == OFFSETS[2] {
            let without = exact_mean_s(&bench.facts.table_3, 0.0)?;
            ours.set(
                "mean-random-seek-table-3",
                simulated,
                format!("profile, {MOVES} moves; exact {exact:.2} at o = +0.04 and -0.04, {without:.2} at 0"),
            );
        }
    }
    let key_points = &bench.key_points.model;
    let times = moves
        .iter()
        .map(|(from, to)| key_points.locate(from, to).as_secs_f64());
    table.note(format!(
        "The key-point model has {:.1} s over the same moves; 72.4 s were measured in 1996.",
        times.sum::<f64>() / moves.len() as f64
    ));
    table.note(format!(
        "{MOVES} moves between places spread evenly over 64 tracks. Over both directions the sign of o makes no difference."
    ));
    Ok(table)
}

/// How far one model is from another, over moves of one kind.
struct Off {
    absolute_s: f64,
    signed_s: f64,
}

fn off(
    model: &LocateModel,
    key_points: &LocateModel,
    moves: &[(Position, Position)],
    same_direction: bool,
) -> Off {
    let mut sums = Off {
        absolute_s: 0.0,
        signed_s: 0.0,
    };
    let mut count = 0.0;
    for (from, to) in moves {
        if ((from.wrap ^ to.wrap) & 1 == 0) == same_direction {
            let by = model.locate(from, to) - key_points.locate(from, to);
            sums.absolute_s += by.as_secs_f64().abs();
            sums.signed_s += by.as_secs_f64();
            count += 1.0;
        }
    }
    Off {
        absolute_s: sums.absolute_s / count,
        signed_s: sums.signed_s / count,
    }
}

/// Table 3 against the key-point model of the same drive.
fn against_key_points(bench: &Bench, moves: &[(Position, Position)]) -> Result<Table, PaperError> {
    let drive = &bench.key_points;
    let mut table = Table::new(
        "Table 3 against the key-point model of 1996: mean absolute difference, and mean difference, seconds",
        &[
            "o",
            "same direction",
            "mean",
            "other direction",
            "mean",
            "all",
        ],
    );
    for offset in OFFSETS {
        let model = four_region(bench, offset, drive)?;
        let [same, other] = [true, false].map(|same| off(&model, &drive.model, moves, same));
        table.row([
            label(offset),
            format!("{:.2}", same.absolute_s),
            format!("{:+.2}", same.signed_s),
            format!("{:.2}", other.absolute_s),
            format!("{:+.2}", other.signed_s),
            format!("{:.2}", (same.absolute_s + other.absolute_s) / 2.0),
        ]);
    }
    table.note(closest(bench, moves)?);
    table.note("The constants of the key-point model were fitted by us to facts of 1996, none of them to Table 3.");
    Ok(table)
}

/// The offset of each direction that is closest to the key-point model.
fn closest(bench: &Bench, moves: &[(Position, Position)]) -> Result<String, PaperError> {
    let drive = &bench.key_points;
    let sample = &moves[..moves.len() / 10];
    let mut best = Vec::new();
    for (same, name) in [(true, "the same"), (false, "the other")] {
        let mut least = (f64::INFINITY, 0.0);
        for hundredths in TRIED {
            let offset = f64::from(hundredths) / 100.0;
            let model = four_region(bench, offset, drive)?;
            let absolute_s = off(&model, &drive.model, sample, same).absolute_s;
            if absolute_s < least.0 {
                least = (absolute_s, offset);
            }
        }
        best.push(format!("{:+.2} in {name} direction", least.1));
    }
    Ok(format!(
        "Closest of all offsets from -0.25 to +0.25: {}. No one offset suits both.",
        best.join(", ")
    ))
}
