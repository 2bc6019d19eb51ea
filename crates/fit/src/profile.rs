//! The fitted profile: the base profile with its locate-time model and what is said of it replaced.

use crate::fitted::Coefficients;
use crate::held_out::Folding;
use crate::outcome::{Outcome, Places};
use tapewise_model::Profile;
use tapewise_model::locate::{CurvesCoefficients, CurvesValues, LandingCoefficients};
use tapewise_model::profile::{
    FourRegionValues, HelicalValues, Known, LandingValues, Locate, LtoValues, Sourced, Status,
};
use tapewise_model::units::count;

/// The key of the log in the profile's `[sources]`.
const LOG: &str = "LOG";

/// What the error says, where a profile gives it.
const HELD_OUT: &str = "on held-out records";

/// The profile of the drive that was logged, `base` with the model that was found. It is written with
/// [`Profile::to_toml`], over the text of the base.
pub fn fitted_profile(base: &Profile, found: &Outcome, name: &str) -> Profile {
    let choice = found.comparison.choice();
    let files = found.records.files.join(", ");
    let mut profile = base.clone();
    profile.name = name.to_owned();
    profile.status = if found.records.emulated {
        Status::Emulated
    } else {
        Status::Estimate
    };
    profile.summary = summary(found);
    profile
        .sources
        .insert(LOG.to_owned(), format!("locates measured: {files}"));
    let held_out_s = choice.overall.bulk_s;
    profile.locate = locate(base, &choice.fitted.coefficients, held_out_s);
    profile
}

fn summary(found: &Outcome) -> String {
    let choice = found.comparison.choice();
    let held_out = match found.comparison.folding {
        Folding::Cartridges => "cartridges held out",
        Folding::Blocks => "records held out",
    };
    let origin = if found.records.emulated {
        "emulated drives"
    } else {
        "the log"
    };
    let placed = match found.places {
        Places::Recorded => "",
        Places::Nominal => " placed by nominal geometry",
        Places::NominalKeyPoints => " placed by nominal key points",
        Places::Map => " placed by a map of the cartridge",
        Places::Found => " placed by their times",
    };
    format!(
        "{}, fitted to {} of {origin}{placed}: {:.2} s standard error on {held_out}, without {}.",
        capital(choice.candidate.name()),
        count(found.records.samples.len(), "locate"),
        choice.overall.bulk_s,
        count(found.comparison.outliers, "outlier"),
    )
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

fn measured<T>(value: T) -> Sourced<T> {
    Sourced {
        value,
        source: LOG.to_owned(),
        note: None,
    }
}

fn held_out(residual_s: f64) -> Sourced<f64> {
    Sourced {
        note: Some(HELD_OUT.to_owned()),
        ..measured(residual_s)
    }
}

/// The `[locate]` section: the coefficients, with what the fit leaves as the base profile has it.
fn locate(base: &Profile, coefficients: &Coefficients, held_out_s: f64) -> Option<Locate> {
    Some(match coefficients {
        Coefficients::HelicalLinear {
            startup_s, full_s, ..
        } => {
            let (startup_hinted_s, short_startup_s, short_s_per_gb) = helical_rest(base);
            Locate::HelicalLinear(HelicalValues {
                startup_s: measured(*startup_s),
                full_s: measured(*full_s),
                startup_hinted_s,
                short_startup_s,
                short_s_per_gb,
            })
        }
        Coefficients::FourRegion {
            ahead_s,
            behind_s,
            offset_tracks,
        } => Locate::FourRegion(FourRegionValues {
            ahead_s: measured(ahead_s[0]),
            ahead_s_per_track: measured(ahead_s[1]),
            behind_s: measured(behind_s[0]),
            behind_s_per_track: measured(behind_s[1]),
            offset_tracks: measured(*offset_tracks),
        }),
        Coefficients::LtoRegression(c) => Locate::LtoRegression(LtoValues {
            intercept_s: measured(c.intercept_s),
            wrap_change_s: measured(c.wrap_change_s),
            band_change_s: measured(c.band_change_s),
            mid_cross_s: measured(c.mid_cross_s),
            direction_change_s: measured(c.direction_change_s),
            step_back_s: measured(c.step_back_s),
            per_lpos_s: measured(c.per_lpos_s),
            residual_s: held_out(held_out_s),
        }),
        Coefficients::LandingPoint(c) => Locate::LandingPoint(landing(c, held_out_s)),
        Coefficients::Curves(c) => Locate::Curves(curves(c, held_out_s)),
        Coefficients::KeyPoint { coefficients, .. } => {
            let mut locate = base.locate.clone();
            if let Some(Locate::KeyPoint(values)) = &mut locate {
                values.read_s_per_section = measured(coefficients.read_s_per_section);
                values.scan_s_per_section = measured(coefficients.scan_s_per_section);
                values.case_s = measured(coefficients.case_s);
                values.residual_s = Some(held_out(held_out_s));
            }
            return locate;
        }
    })
}

/// What a helical fit leaves as it is: startup with hints, and the line for short seeks.
fn helical_rest(base: &Profile) -> (Known<f64>, Known<f64>, Known<f64>) {
    match &base.locate {
        Some(Locate::HelicalLinear(values)) => (
            values.startup_hinted_s.clone(),
            values.short_startup_s.clone(),
            values.short_s_per_gb.clone(),
        ),
        _ => (None, None, None),
    }
}

fn landing(c: &LandingCoefficients, held_out_s: f64) -> LandingValues {
    LandingValues {
        same_wrap_s: measured(c.same_wrap_s),
        other_wrap_s: measured(c.other_wrap_s),
        band_change_s: measured(c.band_change_s.clone()),
        mid_cross_s: measured(c.mid_cross_s),
        outside_saves_per_lpos_s: measured(c.outside_saves_per_lpos_s),
        travel_s: measured(c.travel_s.clone()),
        travel_per_lpos_s: measured(c.travel_per_lpos_s.clone()),
        read_on_s: measured(c.read_on_s),
        read_per_lpos_s: measured(c.read_per_lpos_s),
        wrap_start_s: measured(c.wrap_start_s),
        forward_lpos: measured(c.forward_lpos.clone()),
        reverse_lpos: measured(c.reverse_lpos.clone()),
        landing_spread_lpos: Some(measured(c.landing_spread_lpos)),
        residual_s: Some(held_out(held_out_s)),
    }
}

fn curves(c: &CurvesCoefficients, held_out_s: f64) -> CurvesValues {
    CurvesValues {
        same_wrap_s: measured(c.same_wrap_s),
        other_wrap_s: measured(c.other_wrap_s),
        band_change_s: measured(c.band_change_s.clone()),
        pace: measured(c.pace.clone()),
        away_s: measured(c.away_s.clone()),
        away_per_way_s: measured(c.away_per_way_s.clone()),
        towards_s: measured(c.towards_s.clone()),
        towards_per_way_s: measured(c.towards_per_way_s.clone()),
        step_wraps: measured(c.step_wraps.clone()),
        step_s: measured(c.step_s.clone()),
        steps_beside: measured(c.steps_beside),
        station_lpos: c.station_lpos.map(measured),
        far_wraps: c.station_lpos.map(|_| measured(c.far_wraps.clone())),
        read_on_s: measured(c.read_on_s),
        read_per_lpos_s: measured(c.read_per_lpos_s),
        read_on_lpos: c.read_on_lpos.map(measured),
        residual_s: Some(held_out(held_out_s)),
    }
}
