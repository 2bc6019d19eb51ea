//! The numbers that motion needs: published ones from the profile, and for the rest an assumption
//! with its reason. docs/method/emulator.md has them in a table.

use super::catalogue::Entry;
use super::{Family, Landings, Shape, Spread, Transport, number};
use crate::mechanics::{Helical, Near, Noise, ReadOn, Serpentine};
use tapewise_model::Profile;
use tapewise_model::profile::Locate;

/// Sections of a DLT track as Johnson & Miller 1998 saw it. Not printed: with these a seek to an
/// opposite track costs twice the startup of their Table 4, as their section 5.7 defines it, and
/// seeks overtake reading where that table says. (Hillyer & Silberschatz 1996 found 14.)
const JM98_SECTIONS: u16 = 16;

/// The same of an IBM 3590 track.
const IBM3590_SECTIONS: u16 = 39;

/// A DLT reads at 100 inches a second.
const DLT_READ_M_S: f64 = 2.54;

/// Metres between the landing points of LTO. CERN's regression says that a record behind costs 11.3 s
/// more than one ahead: twice the mean way back to a landing point, and a turn.
const LTO_LANDING_M: f64 = 76.0;

/// Position areas of a 3592 (CERN 2018); assumed of the T10000 too.
const ENTERPRISE_AREAS: u16 = 64;

/// Position areas of LTO (CERN 2018).
const LTO_AREAS: u16 = 2;

/// The shape of a kind's cartridges.
pub(super) fn shape(entry: &Entry, profile: &Profile, rate_mb_s: f64) -> Shape {
    let cartridge = &profile.cartridge;
    let wraps = number(&cartridge.wraps).unwrap_or(entry.wraps).max(1);
    let helical = entry.family == Family::Helical;
    let capacity = number(&cartridge.capacity_gb).unwrap_or(0.0) * 1e9;
    let wrap_bytes = number(&cartridge.wrap_gb).map_or(capacity / f64::from(wraps), |gb| gb * 1e9);
    let wrap_s = wrap_bytes / (rate_mb_s * 1e6);
    let lpos_min = number(&cartridge.lpos_min).unwrap_or(0);
    let usable_m = match entry.family {
        Family::Dlt => DLT_READ_M_S * wrap_s,
        _ => number(&cartridge.usable_m).unwrap_or(entry.usable_m),
    };
    // Where no range is published, LPOS units as long as those of LTO-7 media.
    let lpos_max =
        number(&cartridge.lpos_max).map_or(f64::from(lpos_min) + usable_m / LTO_LPOS_M, f64::from);
    let landings = landings(entry, profile, usable_m);
    Shape {
        wraps,
        bands: bands(entry, profile),
        lpos_min: f64::from(lpos_min),
        lpos_max,
        metres_per_lpos: usable_m / (lpos_max - f64::from(lpos_min)),
        wrap_bytes,
        guard_wraps: number(&cartridge.guard_wraps).unwrap_or(2),
        spread: if helical {
            NO_SPREAD
        } else {
            spread(entry, profile, lpos_max)
        },
        landings,
        load_point: if entry.family == Family::Ibm3570 {
            0.5
        } else {
            0.0
        },
    }
}

/// 922 m over 171097 - 2696 units (LTO-7 media).
const LTO_LPOS_M: f64 = 922.0 / 168_401.0;

fn bands(entry: &Entry, profile: &Profile) -> u16 {
    let enterprise = matches!(entry.family, Family::Ibm3592 | Family::T10000);
    number(&profile.cartridge.bands).unwrap_or(if enterprise { 4 } else { 1 })
}

fn landings(entry: &Entry, profile: &Profile, usable_m: f64) -> Landings {
    match entry.family {
        Family::Helical => Landings::Anywhere,
        Family::Dlt => {
            let nominal = profile.nominal_sections();
            Landings::Sections {
                count: nominal.map_or(JM98_SECTIONS, |nominal| nominal.sections),
                last: nominal.map_or(LAST_SECTION, |nominal| {
                    f64::from(nominal.last_section_segments) / f64::from(nominal.section_segments)
                }),
            }
        }
        Family::Ibm3590 => Landings::Sections {
            count: IBM3590_SECTIONS,
            last: 1.0,
        },
        Family::Ibm3570 | Family::Ibm3592 | Family::T10000 => Landings::Every {
            metres: usable_m / f64::from(ENTERPRISE_AREAS),
        },
        Family::Lto => Landings::Every {
            metres: LTO_LANDING_M,
        },
    }
}

/// The length of a DLT track's last section in lengths of the others: 568 of 704 segments on the
/// cartridge of Hillyer & Silberschatz 1996.
const LAST_SECTION: f64 = 568.0 / 704.0;

/// One density everywhere and no bad spots: a helical drive's LPOS counts the data itself.
const NO_SPREAD: Spread = Spread {
    density_sd: 0.0,
    bad_spot_chance: 0.0,
    bad_spot_most: 0.0,
    wrap_end_sd_lpos: 0.0,
    landing_sd_lpos: 0.0,
};

/// How cartridges differ.
fn spread(entry: &Entry, profile: &Profile, lpos_max: f64) -> Spread {
    if matches!(entry.family, Family::Dlt | Family::Ibm3590) {
        // By the spread of the key points of DLT4000 cartridges; other units, same metres.
        let nominal = profile.key_point_spread();
        let [track, dip] = nominal.map_or(
            [5.0 / 9720.0 * lpos_max, 3.0 / 9720.0 * lpos_max],
            |spread| [spread.track_sd_segments, spread.dip_sd_segments],
        );
        return Spread {
            wrap_end_sd_lpos: track,
            landing_sd_lpos: dip,
            ..NO_SPREAD
        };
    }
    // Neighbouring wraps of real cartridges differ by 0.1 to 0.3 %; bad spots are assumed. Places
    // of landing points differ by half a metre or so: assumed.
    Spread {
        density_sd: 0.005,
        bad_spot_chance: 0.01,
        bad_spot_most: 0.08,
        wrap_end_sd_lpos: 60.0,
        landing_sd_lpos: 100.0,
    }
}

/// How a kind moves.
pub(super) fn transport(
    entry: &Entry,
    profile: &Profile,
    shape: &Shape,
    rate_mb_s: f64,
) -> Transport {
    let length_m = (shape.lpos_max - shape.lpos_min) * shape.metres_per_lpos;
    let read_m_s = length_m * rate_mb_s * 1e6 / shape.wrap_bytes;
    match entry.family {
        Family::Helical => Transport::Helical(helical(profile, length_m)),
        Family::Dlt | Family::Ibm3590 => {
            Transport::Serpentine(sections(entry, profile, length_m, read_m_s))
        }
        Family::Ibm3570 => Transport::Serpentine(Serpentine {
            approach_m_s: 5.0,
            search_m_s: 5.0,
            rewind_m_s: 4.0,
            command_s: 2.0,
            ..enterprise(read_m_s)
        }),
        Family::Ibm3592 => Transport::Serpentine(enterprise(read_m_s)),
        Family::T10000 => Transport::Serpentine(Serpentine {
            approach_m_s: 12.0,
            search_m_s: 12.0,
            rewind_m_s: 12.0,
            ..enterprise(read_m_s)
        }),
        Family::Lto => Transport::Serpentine(lto(profile, length_m, read_m_s)),
    }
}

/// Ramps of a helical drive's reels last this long; assumed.
const WIND_RAMP_S: f64 = 0.2;

fn helical(profile: &Profile, length_m: f64) -> Helical {
    let startup_s = number(&profile.seek.startup_s).unwrap_or(0.0);
    let full_s = number(&profile.seek.full_s).unwrap_or(1.0);
    let wind_m_s = length_m / full_s;
    let hinted_s = number(&profile.seek.startup_hinted_s).unwrap_or(startup_s);
    Helical {
        thread_s: startup_s - WIND_RAMP_S,
        hint_saves_s: startup_s - hinted_s,
        wind_m_s,
        accel_m_s2: wind_m_s / WIND_RAMP_S,
        near: near(profile, length_m),
        lost_s: number(&profile.handling.first_seek_not_rewound_s).unwrap_or(0.0),
    }
}

/// The search with the tape on the scanner.
fn near(profile: &Profile, length_m: f64) -> Option<Near> {
    let gb = number(&profile.cartridge.capacity_gb)?;
    let metres = |part_gb: f64| length_m * part_gb / gb;
    match profile.name.as_str() {
        // Printed: 436 s/GB and 4.61 s, and that reading is faster up to 1.6 MB; the two lines
        // would meet at 1.75 MB. Within 5 % of each. The reach is where the long seek's line begins.
        "dat-4mm" => Some(Near {
            start_s: 4.42,
            m_s: metres(1.0) / 425.0,
            reach_m: metres(0.0240),
        }),
        // A seek overtakes reading at 100 MB, though the startup of 10 s would make it 125 MB, and
        // "the drive will attempt a read for sufficiently short seeks" (section 5.4.3).
        "sony-dtf" => Some(Near {
            start_s: 8.0,
            m_s: metres(1.0) / 5.5,
            reach_m: metres(1.0),
        }),
        _ => None,
    }
}

/// Drives whose tracks have sections: the landing point two before the record.
fn sections(entry: &Entry, profile: &Profile, length_m: f64, read_m_s: f64) -> Serpentine {
    let full_s = number(&profile.seek.full_s).unwrap_or(0.0);
    let (scan_m_s, command_s) = match (&profile.locate, profile.name.as_str()) {
        // Printed: 15.5 s and 10 s a section (Hillyer & Silberschatz 1996).
        (
            Some(Locate::KeyPoint {
                scan_s_per_section: scan,
                read_s_per_section: read,
                ..
            }),
            _,
        ) => (read_m_s * read.value / scan.value, 0.4),
        // Of the others a seek to the end of a track from its beginning takes `full_s`, its start
        // included; with these starts it overtakes reading where Table 4 says.
        (_, "dlt7000") => (length_m / (full_s - 2.0), 1.0),
        (_, "ibm3590") => (length_m / (full_s - 6.0), 2.8),
        _ => (length_m / (full_s - 11.0), 3.4),
    };
    let by_key_points = matches!(profile.locate, Some(Locate::KeyPoint { .. }));
    Serpentine {
        command_s,
        // Leaving the beginning of tape is slower than leaving any other place; only so do both of
        // the paper's means come out, 96.5 s from there and 72.4 s between random segments.
        leave_bot_s: if by_key_points { LEAVE_BOT_S } else { 0.0 },
        read_on_command_s: 0.3,
        read_m_s,
        approach_m_s: scan_m_s,
        search_m_s: scan_m_s,
        rewind_m_s: scan_m_s,
        accel_m_s2: 12.0,
        step_s: 0.3,
        direction_s: 0.0,
        band_s: 0.0,
        band_rank_s: 0.0,
        turn_s: 0.2,
        // The end of tape is felt for: the paper's last case is its dearest.
        end_s: if entry.family == Family::Dlt {
            END_S
        } else {
            1.0
        },
        areas: 1,
        landings_before: 2,
        read_on: if by_key_points {
            ReadOn::Sections(2)
        } else {
            ReadOn::Metres(length_m * reach(profile))
        },
        slow_reverse_start_s: 0.0,
    }
}

/// See `leave_bot_s` in [`sections`].
const LEAVE_BOT_S: f64 = 4.0;

/// See `end_s` in [`sections`].
const END_S: f64 = 8.0;

/// The part of a track up to which reading on is no slower than seeking (Johnson & Miller 1998,
/// Table 4, "min. seek").
fn reach(profile: &Profile) -> f64 {
    let mb = number(&profile.seek.min_seek_mb).unwrap_or(0.0);
    let track_mb = number(&profile.cartridge.wrap_gb).unwrap_or(1.0) * 1e3;
    mb / track_mb
}

/// LTO: chosen so that CERN's regression, fitted to moves on type M8 media, finds coefficients like
/// CERN's (tests/mechanics_lto.rs says how near).
fn lto(profile: &Profile, length_m: f64, read_m_s: f64) -> Serpentine {
    let approach_m_s = approach_m_s(profile, length_m).max(read_m_s);
    let slow = approach_m_s <= read_m_s;
    Serpentine {
        command_s: 0.4,
        leave_bot_s: 0.0,
        read_on_command_s: 0.3,
        read_m_s,
        approach_m_s,
        search_m_s: approach_m_s * if slow { 1.0 } else { SEARCH_OVER_APPROACH },
        rewind_m_s: approach_m_s * REWIND_OVER_APPROACH,
        accel_m_s2: 10.0,
        step_s: 4.5,
        direction_s: 0.5,
        band_s: 1.7,
        band_rank_s: 0.9,
        turn_s: 1.5,
        end_s: 0.0,
        areas: LTO_AREAS,
        landings_before: 1,
        read_on: ReadOn::Metres(LTO_LANDING_M / 2.0),
        slow_reverse_start_s: 0.0,
    }
}

/// Highest search speed over that within a position area: with it crossing the middle comes out of
/// CERN's regression as faster, and end to end takes the 100 s that are quoted for LTO-8.
const SEARCH_OVER_APPROACH: f64 = 1.8;

/// The mean rewind of an LTO-8 takes 59 s.
const REWIND_OVER_APPROACH: f64 = 1.1;

/// The search speed that makes the mean time from load point to record the published one.
///
/// Over uniformly spread records a quarter of the tape is passed at this speed and another at the
/// highest; `FIXED_S` stands for the rest of a mean locate.
fn approach_m_s(profile: &Profile, length_m: f64) -> f64 {
    const FIXED_S: f64 = 12.5;
    match number(&profile.handling.search_mean_s) {
        Some(mean_s) => length_m / 4.0 * (1.0 + 1.0 / SEARCH_OVER_APPROACH) / (mean_s - FIXED_S),
        // No search is published for LTO-2 to LTO-4; 7.0 m/s is the fastest of an LTO-3 (HP).
        None => 7.0,
    }
}

/// IBM 3592: a directory of 64 position areas, so the search is fast all the way; speed such that
/// the mean from file to file is near the 29.4 s that CERN measured on a TS1155.
fn enterprise(read_m_s: f64) -> Serpentine {
    Serpentine {
        command_s: 0.6,
        leave_bot_s: 0.0,
        read_on_command_s: 0.2,
        read_m_s,
        approach_m_s: 13.5,
        search_m_s: 13.5,
        rewind_m_s: 13.5,
        accel_m_s2: 10.0,
        step_s: 1.0,
        direction_s: 0.5,
        band_s: 1.0,
        band_rank_s: 0.3,
        turn_s: 1.0,
        end_s: 0.0,
        areas: ENTERPRISE_AREAS,
        landings_before: 1,
        read_on: ReadOn::Metres(16.0),
        slow_reverse_start_s: 0.0,
    }
}

/// The irregularity of a kind's motions.
pub(super) fn noise(entry: &Entry) -> Noise {
    match entry.family {
        // Nearly deterministic (Johnson & Miller 1998, section 5.3).
        Family::Helical => Noise {
            share: 0.003,
            seconds: 0.1,
            retry_chance: 0.0,
            retry_s: 0.0,
        },
        // 7 of 3000 locates were off by more than 2 s (Hillyer & Silberschatz 1996, section 3).
        Family::Dlt | Family::Ibm3590 | Family::Ibm3570 => Noise {
            share: 0.002,
            seconds: 0.2,
            retry_chance: 0.0015,
            retry_s: 8.0,
        },
        // Assumed.
        Family::Lto | Family::Ibm3592 | Family::T10000 => Noise {
            share: 0.005,
            seconds: 0.15,
            retry_chance: 0.002,
            retry_s: 8.0,
        },
    }
}
