//! Columns of times: the name of a column tells its unit, and only one may give a time.

use crate::csv_table::{Table, TableError};
use std::io::BufRead;
use tapewise_model::Micros;

/// The longest time that anything takes, in seconds: a day.
const MOST_SECONDS: f64 = 86_400.0;

/// What a field of [`TimeColumn::duration`] should have been.
pub(crate) const DURATION: &str = "a time between 0 and a day, in the unit of its column";

/// Names of the columns that may give a time, with seconds for one of each.
pub(crate) type Units = [(&'static str, f64); 3];

/// The columns of the time of a locate.
pub(crate) const LOCATE: Units = [("locate_us", 1e-6), ("locate_ms", 1e-3), ("locate_s", 1.0)];

/// The column that gives a time.
#[derive(Clone, Copy)]
pub(crate) struct TimeColumn {
    /// Its name.
    pub(crate) name: &'static str,
    /// Where it stands.
    pub(crate) at: usize,
    unit_s: f64,
}

impl TimeColumn {
    /// The one of these columns that is there.
    ///
    /// # Errors
    /// [`TableError::TwoTimes`], [`TableError::DuplicateColumn`].
    pub(crate) fn find<R: BufRead>(
        table: &Table<R>,
        units: &Units,
    ) -> Result<Option<TimeColumn>, TableError> {
        let mut found: Option<TimeColumn> = None;
        for &(name, unit_s) in units {
            let Some(at) = table.column(name)? else {
                continue;
            };
            if let Some(first) = found.replace(TimeColumn { name, at, unit_s }) {
                return Err(TableError::TwoTimes {
                    first: first.name,
                    second: name,
                });
            }
        }
        Ok(found)
    }

    /// How long something took: from nothing to a day.
    pub(crate) fn duration(&self, fields: &[&str]) -> Option<Micros> {
        read_seconds(fields[self.at], self.unit_s)
    }

    /// When something began, on any clock: within three hundred years of its zero.
    pub(crate) fn instant(&self, fields: &[&str]) -> Option<Micros> {
        let seconds = fields[self.at].trim().parse::<f64>().ok()? * self.unit_s;
        (seconds.abs() < 9e9).then(|| Micros::from_secs_f64(seconds))
    }
}

/// A time written as a number with or without a decimal point, `unit_s` seconds each.
pub(crate) fn read_seconds(text: &str, unit_s: f64) -> Option<Micros> {
    let seconds = text.trim_ascii().parse::<f64>().ok()? * unit_s;
    (0.0..=MOST_SECONDS)
        .contains(&seconds)
        .then(|| Micros::from_secs_f64(seconds))
}
