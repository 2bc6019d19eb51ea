//! Measured locates beside what a profile predicts.

use super::error::CheckError;
use super::report::{Errors, Judged};
use super::sample::Move;
use tapewise_formats::event::{Action, Event, Outcome, Spot};
use tapewise_model::{BlockMap, EndOfWrap, Position, PositionSource, Profile};

/// A profile, and how it was found.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The profile.
    pub profile: Profile,
    /// `given`, `product and density`, `product` or `density`.
    pub found_by: &'static str,
}

/// More than this and a prediction is off (Hillyer & Silberschatz 1996, section 3).
const OFF_S: f64 = 2.0;

/// Judges the profile by the locates of the sample, all in the partition of which `ends` are the wrap ends; none where
/// it has no model or the places are not known.
///
/// One wrap says nothing of how far along it a block lies: then only places that the drive reported count.
///
/// # Errors
/// A table of wrap ends that contradicts the profile.
pub fn judge(
    chosen: &Chosen,
    events: &[Event],
    ends: &[EndOfWrap],
) -> Result<Option<Judged>, CheckError> {
    let profile = &chosen.profile;
    let Ok(model) = profile.locate_model(None) else {
        return Ok(None);
    };
    let map = match ends {
        [] | [_] => None,
        _ => {
            let geometry = profile.geometry()?;
            Some(BlockMap::from_end_of_wrap(&geometry, ends, None)?)
        }
    };
    let errors: Vec<(&str, f64)> = events
        .iter()
        .filter(|event| event.action == Action::Locate && event.outcome == Outcome::Done)
        .filter_map(|event| {
            let from = place(event.from.as_ref()?, map.as_ref())?;
            let to = place(event.to.as_ref()?, map.as_ref())?;
            let error_s = (event.took_us - model.locate(&from, &to)).as_secs_f64();
            Some((event.purpose.as_deref()?, error_s))
        })
        .collect();
    if errors.is_empty() {
        return Ok(None);
    }
    let of = |kind: &str| {
        let all = kind == ALL;
        let errors = errors.iter().filter(|(name, _)| all || *name == kind);
        summary(kind, errors.map(|(_, error_s)| *error_s).collect())
    };
    let kinds = Move::ALL.map(Move::name);
    Ok(Some(Judged {
        profile: profile.name.clone(),
        found_by: chosen.found_by.to_owned(),
        model: model.name().to_owned(),
        errors: std::iter::once(ALL).chain(kinds).filter_map(of).collect(),
    }))
}

const ALL: &str = "all";

fn summary(kind: &str, errors_s: Vec<f64>) -> Option<Errors> {
    if errors_s.is_empty() {
        return None;
    }
    let count = errors_s.len() as f64;
    let squares: f64 = errors_s.iter().map(|error| error * error).sum();
    let off = errors_s.iter().filter(|error| error.abs() > OFF_S).count();
    Some(Errors {
        kind: kind.to_owned(),
        locates: errors_s.len(),
        mean_s: errors_s.iter().sum::<f64>() / count,
        rms_s: (squares / count).sqrt(),
        off_share: off as f64 / count,
    })
}

/// The place as the drive told it; a wrap that it cannot say is taken from its table of wrap ends.
pub(crate) fn place(spot: &Spot, map: Option<&BlockMap>) -> Option<Position> {
    let mapped = || map?.position(spot.partition, spot.block?).ok();
    let Some(lpos) = spot.lpos else {
        return mapped();
    };
    let wrap = spot.wrap.or_else(|| Some(mapped()?.wrap))?;
    Some(Position {
        partition: spot.partition,
        wrap,
        lpos,
        source: PositionSource::Recorded,
        error_lpos: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_summed_up_as_computed_by_hand() {
        let errors = summary("all", vec![3.0, -1.0, -5.0, 1.0]).expect("a summary");
        assert_eq!(errors.locates, 4);
        assert_eq!(errors.mean_s, -0.5);
        assert_eq!(errors.rms_s, 3.0);
        assert_eq!(errors.off_share, 0.5);
        assert!(summary("far", Vec::new()).is_none());
    }
}
