//! What combinations cost in a year, by prices that a person gives.

use tapewise_sim::capacity::Combination;

/// Any currency has a unit in which a drive costs less.
const MOST: f64 = 1e12;

/// Hours of a year of 365.25 days.
const HOURS_A_YEAR: f64 = 8766.0;

/// Prices in any one currency.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Price {
    /// Of a drive, for a year.
    drive: f64,
    /// Of a robot, for a year.
    robot: f64,
    /// Of an hour in which a drive is held.
    hour: f64,
}

impl Price {
    /// `drive=9000,robot=4000,hour=0.5`; what is not given costs nothing.
    ///
    /// # Errors
    /// In words.
    pub fn parse(text: &str) -> Result<Price, String> {
        let mut price = Price::default();
        let mut given = Vec::new();
        for part in text.split(',') {
            let wrong = || {
                format!(
                    "`{part}` is not drive=, robot= or hour= with a price, at most {MOST}; give drive=9000,robot=4000"
                )
            };
            let (name, value) = part.split_once('=').ok_or_else(wrong)?;
            let value = value.trim().parse::<f64>().ok();
            let value = value
                .filter(|value| (0.0..=MOST).contains(value))
                .ok_or_else(wrong)?;
            let name = name.trim();
            match name {
                "drive" => price.drive = value,
                "robot" => price.robot = value,
                "hour" => price.hour = value,
                _ => return Err(wrong()),
            }
            if given.contains(&name) {
                return Err(format!("{name}= is given twice"));
            }
            given.push(name);
        }
        Ok(price)
    }

    /// What a combination costs in a year. Drives are held as long as the simulation says, else as the formula says;
    /// none if an hour has a price and nobody knows how long they are.
    pub fn of_a_year(&self, one: &Combination) -> Option<f64> {
        let simulated = one
            .steady()
            .map(|made| made.results.libraries[0].drives.estimate);
        let held = simulated.or_else(|| one.expected().map(|expected| expected.drives_held));
        let (drives, robots) = (f64::from(one.drives), f64::from(one.robots));
        let hours = if self.hour > 0.0 {
            held? * drives * HOURS_A_YEAR
        } else {
            0.0
        };
        Some(self.drive * drives + self.robot * robots + self.hour * hours)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_given_by_name_each_once() {
        let price = Price::parse("drive=9000, robot=4e3,hour=0.5");
        let expected = Price {
            drive: 9000.0,
            robot: 4000.0,
            hour: 0.5,
        };
        assert_eq!(price, Ok(expected));
        for wrong in [
            "",
            "9000",
            "drive",
            "tape=5",
            "drive=-1",
            "drive=x",
            "drive=inf",
            "drive=1,drive=2",
        ] {
            assert!(Price::parse(wrong).is_err(), "{wrong}");
        }
    }
}
