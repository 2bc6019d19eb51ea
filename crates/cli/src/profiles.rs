//! stub
use crate::error::CliError;
use tapewise_model::{Profile, profile};
pub fn load(n: &str) -> Result<Profile, CliError> {
    Ok(profile::find(n)?)
}
