//! Quantiles of Student's t for counted replications.

use super::{StatisticsError, inside, positive};

/// The quantile at `p` of Student's t with `degrees` of freedom.
///
/// # Errors
/// [`StatisticsError::Parameter`] where `p` is not between 0 and 1, or `degrees` is 0.
pub fn student_t_quantile(p: f64, degrees: u64) -> Result<f64, StatisticsError> {
    inside("the probability of a t quantile", p)?;
    positive("the degrees of freedom", degrees as f64)?;
    Ok(tapewise_model::student_t_quantile(p, degrees as f64))
}
