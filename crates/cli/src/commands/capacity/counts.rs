//! Numbers to try, as a person writes them.

/// Numbers to try, from the least.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts(pub Vec<u32>);

/// More combinations than that of one number are a slip of the finger.
const MOST_COUNTS: u32 = 1000;

impl Counts {
    /// # Errors
    /// In words.
    pub fn parse(text: &str) -> Result<Counts, String> {
        let number = |text: &str| {
            let number = text.trim().parse::<u32>().ok();
            number
                .filter(|&number| number > 0)
                .ok_or_else(|| format!("`{text}` is not a number above 0; give 6, 1..12 or 2,4,8"))
        };
        let mut counts: Vec<u32> = match text.split_once("..") {
            Some((first, last)) => {
                let (first, last) = (number(first)?, number(last)?);
                if last < first || last - first >= MOST_COUNTS {
                    return Err(format!(
                        "{text}: the smaller number comes first, and there are at most {MOST_COUNTS}"
                    ));
                }
                (first..=last).collect()
            }
            None => text.split(',').map(number).collect::<Result<_, _>>()?,
        };
        counts.sort_unstable();
        counts.dedup();
        Ok(Counts(counts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_a_number_a_range_or_a_list() {
        let counts = |text| Counts::parse(text).map(|counts| counts.0);
        assert_eq!(counts("6"), Ok(vec![6]));
        assert_eq!(counts("1..3"), Ok(vec![1, 2, 3]));
        assert_eq!(counts("8,2,8"), Ok(vec![2, 8]));
        for text in ["0", "3..1", "", "x", "1..9999", "-1"] {
            assert!(counts(text).is_err(), "{text}");
        }
    }
}
