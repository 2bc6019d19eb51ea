//! placeholder
use super::claims::Report;
use crate::error::CliError;
pub fn report(_seed: u64) -> Result<Report, CliError> {
    unimplemented!()
}
