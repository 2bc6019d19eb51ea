//! The papers' numbers, and how ours compare.

use crate::PaperError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tapewise_plot::{Drawn, Table};

/// The papers' numbers as data; `claims.toml` says what each key means.
const CLAIMS: &str = include_str!("../claims.toml");

/// What a paper publishes: its claims, and its tables as they stand.
#[derive(Debug, Deserialize)]
pub struct Paper {
    /// Author, title, year.
    pub paper: String,
    #[serde(rename = "claim")]
    claims: Vec<Claim>,
    /// Tables and constants beside the claims.
    #[serde(flatten)]
    pub facts: toml::Table,
}

#[derive(Clone, Debug, Deserialize)]
struct Claim {
    id: String,
    #[serde(rename = "where")]
    place: String,
    what: String,
    value: f64,
    unit: String,
    tolerance: f64,
    #[serde(default)]
    bound: Bound,
    check: Check,
}

/// On which side of the paper's number ours may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// Near it, on either side.
    #[default]
    Near,
    /// At or below it ("within 1.5 s").
    AtMost,
    /// At or above it ("eight cases of nine").
    AtLeast,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Check {
    Model,
    Report,
}

/// How a claim came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Ours lies within the tolerance.
    Holds,
    /// Ours does not.
    Fails,
    /// Shown without a bound.
    Shown,
}

/// A claim with ours beside theirs.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// Short name.
    pub id: String,
    /// Section, table or figure.
    pub place: String,
    /// What the number is.
    pub what: String,
    /// The paper's number.
    pub theirs: f64,
    /// Ours.
    pub ours: f64,
    /// Unit of both.
    pub unit: String,
    /// Relative tolerance; zero where none applies.
    pub tolerance: f64,
    /// On which side of theirs ours may be.
    pub bound: Bound,
    /// How it came out.
    pub verdict: Verdict,
    /// How it was computed, and whether a constant was fitted to it.
    pub how: String,
}

/// What a run of `reproduce` shows of one paper.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Author, title, year.
    pub paper: String,
    /// Seed of all random numbers.
    pub seed: u64,
    /// What was computed, in the order of the paper.
    pub tables: Vec<Table>,
    /// Every claim of the paper.
    pub claims: Vec<Compared>,
    /// The paper's figures from what was computed.
    #[serde(skip)]
    pub figures: Vec<Drawn>,
}

/// Ours by claim id, each with how it was computed.
#[derive(Default)]
pub struct Ours(BTreeMap<&'static str, (f64, String)>);

impl Ours {
    /// States our number for a claim.
    pub fn set(&mut self, id: &'static str, ours: f64, how: impl Into<String>) {
        self.0.insert(id, (ours, how.into()));
    }
}

impl Paper {
    /// The facts of a paper by its key in `claims.toml`.
    pub fn load(key: &str) -> Result<Paper, PaperError> {
        let mut papers: BTreeMap<String, Paper> =
            toml::from_str(CLAIMS).map_err(|e| PaperError::from(format!("claims.toml: {e}")))?;
        papers
            .remove(key)
            .ok_or_else(|| PaperError::from(format!("claims.toml has no paper {key}")))
    }

    /// The facts beside the claims, in a form of the caller's.
    pub fn facts_as<T: serde::de::DeserializeOwned>(&self) -> Result<T, PaperError> {
        let facts = self.facts.clone().try_into();
        facts.map_err(|e| PaperError::from(format!("claims.toml, {}: {e}", self.paper)))
    }

    /// The tolerance of a claim that counts: what each of the counted values must lie within.
    pub fn tolerance(&self, id: &str) -> Result<f64, PaperError> {
        let found = self.claims.iter().find(|claim| claim.id == id);
        let missing = || PaperError::from(format!("claims.toml has no claim {id}"));
        found.map(|claim| claim.tolerance).ok_or_else(missing)
    }

    /// Every claim with ours beside it. A claim that nobody computed is an error: it would go
    /// unnoticed.
    pub fn compare(&self, mut ours: Ours) -> Result<Vec<Compared>, PaperError> {
        let mut compared = Vec::new();
        for claim in &self.claims {
            let (value, how) = ours.0.remove(claim.id.as_str()).ok_or_else(|| {
                PaperError::from(format!("the claim {} is not computed", claim.id))
            })?;
            compared.push(claim.compare(value, how));
        }
        match ours.0.keys().next() {
            Some(id) => Err(PaperError::from(format!("claims.toml has no claim {id}"))),
            None => Ok(compared),
        }
    }
}

impl Claim {
    fn compare(&self, ours: f64, how: String) -> Compared {
        let off = ours - self.value;
        let allowed = self.tolerance * self.value.abs();
        let holds = match self.bound {
            Bound::Near => off.abs() <= allowed,
            Bound::AtMost => off <= allowed,
            Bound::AtLeast => off >= -allowed,
        };
        let verdict = match self.check {
            Check::Report => Verdict::Shown,
            Check::Model if holds => Verdict::Holds,
            Check::Model => Verdict::Fails,
        };
        Compared {
            id: self.id.clone(),
            place: self.place.clone(),
            what: self.what.clone(),
            theirs: self.value,
            ours,
            unit: self.unit.clone(),
            tolerance: self.tolerance,
            bound: self.bound,
            verdict,
            how,
        }
    }
}

impl Report {
    /// Whether a claim that is to hold does not.
    pub fn failed(&self) -> bool {
        self.claims
            .iter()
            .any(|claim| claim.verdict == Verdict::Fails)
    }

    /// The claims as a table.
    pub fn claim_table(&self) -> Table {
        let mut table = Table::new(
            "Claims of the paper, ours beside theirs",
            &[
                "claim", "where", "theirs", "ours", "unit", "off", "allowed", "verdict", "how",
            ],
        );
        for claim in &self.claims {
            let off = (claim.ours / claim.theirs - 1.0) * 100.0;
            table.row([
                claim.id.clone(),
                claim.place.clone(),
                number(claim.theirs),
                number(claim.ours),
                claim.unit.clone(),
                match off.is_finite() {
                    true => format!("{off:+.1} %"),
                    false => "-".to_owned(),
                },
                match (claim.verdict, claim.bound) {
                    (Verdict::Shown, _) => "-".to_owned(),
                    (_, Bound::Near) => format!("{:.0} %", claim.tolerance * 100.0),
                    (_, Bound::AtMost) => "at most".to_owned(),
                    (_, Bound::AtLeast) => "at least".to_owned(),
                },
                match claim.verdict {
                    Verdict::Holds => "holds",
                    Verdict::Fails => "FAILS",
                    Verdict::Shown => "shown",
                }
                .to_owned(),
                claim.how.clone(),
            ]);
        }
        table
    }
}

/// A number with about four digits.
pub fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 100.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paper() -> Paper {
        let text = r#"
            paper = "Nobody 1900"
            [[claim]]
            id = "length"
            where = "sec. 1"
            what = "length of the tape"
            value = 100.0
            unit = "m"
            tolerance = 0.05
            check = "model"
        "#;
        toml::from_str(text).expect("a paper")
    }

    fn report(ours: f64) -> Report {
        let mut stated = Ours::default();
        stated.set("length", ours, "measured");
        let claims = paper().compare(stated).expect("one claim, one number");
        Report {
            paper: "Nobody 1900".to_owned(),
            seed: 1,
            tables: Vec::new(),
            claims,
            figures: Vec::new(),
        }
    }

    #[test]
    fn a_claim_holds_within_its_tolerance_and_fails_outside() {
        assert!(!report(104.9).failed());
        assert!(report(105.1).failed());
        assert!(report(94.9).failed());
        assert!(report(f64::NAN).failed());
    }

    #[test]
    fn a_claim_of_one_side_holds_however_far_ours_is_on_that_side() {
        let verdict = |bound: Bound, ours: f64| {
            let mut claim = paper().claims.remove(0);
            claim.bound = bound;
            claim.compare(ours, "measured".to_owned()).verdict
        };
        assert_eq!(verdict(Bound::AtMost, 3.0), Verdict::Holds);
        assert_eq!(verdict(Bound::AtMost, 105.1), Verdict::Fails);
        assert_eq!(verdict(Bound::AtLeast, 300.0), Verdict::Holds);
        assert_eq!(verdict(Bound::AtLeast, 94.9), Verdict::Fails);
        for bound in [Bound::Near, Bound::AtMost, Bound::AtLeast] {
            assert_eq!(verdict(bound, f64::NAN), Verdict::Fails);
        }
    }

    #[test]
    fn a_claim_that_nobody_computed_and_a_number_without_claim_are_errors() {
        assert!(paper().compare(Ours::default()).is_err());
        let mut stated = Ours::default();
        stated.set("length", 100.0, "measured");
        stated.set("width", 1.0, "measured");
        assert!(paper().compare(stated).is_err());
    }
}
