//! What an order costs under another model, or with another drive.
//!
//! The requests, their places and the order stay; only the times are another's. So a plan can be
//! made under one model and judged under others, which is how one finds out whether an order is
//! good or merely suits the model it was made with.

use crate::order::Order;
use crate::plan::{Plan, Totals};
use crate::problem::Problem;
use crate::tape::Tape;
use tapewise_model::profile::ProfileError;
use tapewise_model::{Geometry, LocateModel, Profile, locate::LtoRegression};

/// Why an order cannot be priced under another tape.
#[derive(Debug, thiserror::Error)]
pub enum Misfit {
    /// The places of one mean nothing on the other.
    #[error(
        "the requests lie on a cartridge with {what} {ours}, the other drive's cartridge has {theirs}"
    )]
    Geometry {
        /// What differs.
        what: &'static str,
        /// On the cartridge of the requests.
        ours: u32,
        /// On the other.
        theirs: u32,
    },
    /// One cartridge is serpentine and the other helical.
    #[error("one cartridge is serpentine, the other helical")]
    Layout,
    /// The profile knows too little.
    #[error(transparent)]
    Profile(#[from] ProfileError),
}

/// Prices an order's steps under another tape of the same geometry.
///
/// # Errors
/// [`Misfit`] where the other cartridge differs in layout, wraps, bands or range of LPOS.
pub fn price_under(problem: &Problem, order: &Order, tape: &Tape) -> Result<Totals, Misfit> {
    Ok(Plan::new(&problem.under(tape)?, order.clone()).totals)
}

/// This cartridge with another drive's locate-time model and rate.
///
/// An LTO regression is fitted to this cartridge's bands and wraps; any other model must be of the
/// same geometry.
///
/// # Errors
/// [`Misfit`] where the geometry does not fit or the profile knows too little.
pub fn tape_with_model_of(tape: &Tape, profile: &Profile) -> Result<Tape, Misfit> {
    let transfer = profile.transfer()?;
    let model = match profile.lto_coefficients() {
        Some(coefficients) if matches!(tape.model, LocateModel::LtoRegression(_)) => {
            LocateModel::LtoRegression(LtoRegression::new(&coefficients, &tape.geometry))
        }
        _ => {
            fits(&tape.geometry, &profile.geometry()?)?;
            profile.locate_model(None)?
        }
    };
    Ok(Tape {
        model,
        transfer,
        ..tape.clone()
    })
}

impl Problem {
    /// The same batch, its visits numbered alike, on another tape of the same geometry.
    ///
    /// # Errors
    /// As [`price_under`].
    pub fn under(&self, tape: &Tape) -> Result<Problem, Misfit> {
        fits(&self.tape().geometry, &tape.geometry)?;
        let (options, visits) = (*self.options(), self.visits().to_vec());
        Ok(Problem::of_visits(
            std::sync::Arc::new(tape.clone()),
            options,
            visits,
            self.requests(),
        ))
    }
}

fn fits(ours: &Geometry, theirs: &Geometry) -> Result<(), Misfit> {
    if ours.layout != theirs.layout {
        return Err(Misfit::Layout);
    }
    let compared = [
        ("wraps", ours.wraps.into(), theirs.wraps.into()),
        ("bands", ours.bands.into(), theirs.bands.into()),
        ("lowest LPOS", ours.lpos_min, theirs.lpos_min),
        ("highest LPOS", ours.lpos_max, theirs.lpos_max),
    ];
    match compared
        .into_iter()
        .find(|(_, ours, theirs)| ours != theirs)
    {
        Some((what, ours, theirs)) => Err(Misfit::Geometry { what, ours, theirs }),
        None => Ok(()),
    }
}
