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
#[serde(deny_unknown_fields)]
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
    kind: Kind,
    /// How many constants were chosen for a fitted claim.
    #[serde(default)]
    constants: u32,
    /// Where ours falls short of the paper, or what the number does not show.
    #[serde(default)]
    short: String,
}

/// What a claim that holds is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Independent of what went in: it could have failed.
    Evidence,
    /// Constants were chosen for it, so that it holds says little.
    Fitted,
    /// Recomputed from numbers that the paper prints: it checks the reading, not the model.
    Arithmetic,
    /// Shown and not gated.
    Report,
}

impl Kind {
    /// All kinds, the strongest first.
    pub const ALL: [Kind; 4] = [Kind::Evidence, Kind::Fitted, Kind::Arithmetic, Kind::Report];

    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Evidence => "evidence",
            Kind::Fitted => "fitted",
            Kind::Arithmetic => "arithmetic",
            Kind::Report => "report",
        }
    }
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
    /// What it is worth that the claim holds.
    pub kind: Kind,
    /// How many constants were chosen for it; zero unless it is fitted.
    pub constants: u32,
    /// The paper's number.
    pub theirs: f64,
    /// Ours; of several seeds the one that comes off worst.
    pub ours: f64,
    /// The least and the largest of ours over the seeds.
    pub spread: [f64; 2],
    /// Unit of all of them.
    pub unit: String,
    /// Relative tolerance; zero where none applies.
    pub tolerance: f64,
    /// On which side of theirs ours may be.
    pub bound: Bound,
    /// How it came out: it holds if it does on every seed.
    pub verdict: Verdict,
    /// The seeds on which it does not hold.
    pub failing_seeds: Vec<u64>,
    /// How it was computed.
    pub how: String,
    /// Where ours falls short of the paper, or what the number does not show. May be empty.
    pub short: String,
}

/// What a run of `reproduce` shows of one paper.
#[derive(Debug, Serialize)]
pub struct Report {
    /// What `reproduce` calls the paper.
    pub name: &'static str,
    /// Author, title, year.
    pub paper: String,
    /// Seed of all random numbers behind tables and figures.
    pub seed: u64,
    /// All seeds that the claims were computed with; the first is `seed`.
    pub seeds: Vec<u64>,
    /// What was computed, in the order of the paper.
    pub tables: Vec<Table>,
    /// Every claim of the paper.
    pub claims: Vec<Compared>,
    /// The paper's figures from what was computed.
    #[serde(skip)]
    pub figures: Vec<Drawn>,
}

/// What one seed makes of a paper.
pub struct Computed {
    /// What was computed, in the order of the paper.
    pub tables: Vec<Table>,
    /// The paper's figures.
    pub figures: Vec<Drawn>,
    /// Our numbers for the claims.
    pub ours: Ours,
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

    /// The published value of a claim.
    pub fn value(&self, id: &str) -> Result<f64, PaperError> {
        let found = self.claims.iter().find(|claim| claim.id == id);
        let missing = || PaperError::from(format!("claims.toml has no claim {id}"));
        found.map(|claim| claim.value).ok_or_else(missing)
    }

    /// The tolerance of a claim that counts: what each of the counted values must lie within.
    pub fn tolerance(&self, id: &str) -> Result<f64, PaperError> {
        let found = self.claims.iter().find(|claim| claim.id == id);
        let missing = || PaperError::from(format!("claims.toml has no claim {id}"));
        found.map(|claim| claim.tolerance).ok_or_else(missing)
    }

    /// Every claim with ours of each seed beside it. A claim that nobody computed is an error: it would go
    /// unnoticed.
    pub fn compare(&self, mut by_seed: Vec<(u64, Ours)>) -> Result<Vec<Compared>, PaperError> {
        let mut compared = Vec::new();
        for claim in &self.claims {
            let mut stated = Vec::new();
            for (seed, ours) in &mut by_seed {
                match ours.0.remove(claim.id.as_str()) {
                    // What is not gated is of the first seed only: the others need not compute all of it.
                    _ if claim.kind == Kind::Report && !stated.is_empty() => {}
                    Some((value, how)) => stated.push((*seed, value, how)),
                    None => return Err(format!("the claim {} is not computed", claim.id).into()),
                }
            }
            compared.push(claim.compare(stated)?);
        }
        match by_seed.iter().find_map(|(_, ours)| ours.0.keys().next()) {
            Some(id) => Err(PaperError::from(format!("claims.toml has no claim {id}"))),
            None => Ok(compared),
        }
    }
}

impl Claim {
    /// How far ours is on the wrong side of theirs, or off it where both sides count.
    fn off(&self, ours: f64) -> f64 {
        let off = ours - self.value;
        match self.bound {
            Bound::Near => off.abs(),
            Bound::AtMost => off,
            Bound::AtLeast => -off,
        }
    }

    fn holds(&self, ours: f64) -> bool {
        self.off(ours) <= self.tolerance * self.value.abs()
    }

    /// Seed, our number and how it was computed, for at least one seed.
    fn compare(&self, stated: Vec<(u64, f64, String)>) -> Result<Compared, PaperError> {
        let values = || stated.iter().map(|(_, value, _)| *value);
        // NaN fails, so it is worse than every number.
        let worse = |a: f64, b: f64| {
            if a.is_nan() || (!b.is_nan() && self.off(a) >= self.off(b)) {
                a
            } else {
                b
            }
        };
        let nothing = || PaperError::from(format!("the claim {} has no seed", self.id));
        let ours = values().reduce(worse).ok_or_else(nothing)?;
        let failing = stated.iter().filter(|(_, value, _)| !self.holds(*value));
        let failing_seeds: Vec<u64> = match self.kind {
            Kind::Report => Vec::new(),
            _ => failing.map(|(seed, ..)| *seed).collect(),
        };
        let verdict = match self.kind {
            Kind::Report => Verdict::Shown,
            _ if failing_seeds.is_empty() => Verdict::Holds,
            _ => Verdict::Fails,
        };
        let least = values().fold(f64::INFINITY, f64::min);
        let most = values().fold(f64::NEG_INFINITY, f64::max);
        Ok(Compared {
            id: self.id.clone(),
            place: self.place.clone(),
            what: self.what.clone(),
            kind: self.kind,
            constants: self.constants,
            theirs: self.value,
            ours,
            spread: [least, most],
            unit: self.unit.clone(),
            tolerance: self.tolerance,
            bound: self.bound,
            verdict,
            failing_seeds,
            how: stated
                .into_iter()
                .next()
                .map_or_else(String::new, |(.., how)| how),
            short: self.short.clone(),
        })
    }
}

impl Compared {
    /// The kind, with the number of constants of what was fitted.
    pub fn kind_words(&self) -> String {
        match self.kind {
            Kind::Fitted => format!("{} ({})", self.kind.name(), self.constants),
            _ => self.kind.name().to_owned(),
        }
    }

    /// How far ours is off theirs, in per cent.
    pub fn off_words(&self) -> String {
        let off = (self.ours / self.theirs - 1.0) * 100.0;
        if off.is_finite() {
            format!("{off:+.1} %")
        } else {
            "-".to_owned()
        }
    }

    /// How far it may be off.
    pub fn allowed_words(&self) -> String {
        let percent = self.tolerance * 100.0;
        let side = match self.bound {
            Bound::Near => "",
            Bound::AtMost => "at most",
            Bound::AtLeast => "at least",
        };
        match (self.verdict, percent > 0.0) {
            (Verdict::Shown, _) => "-".to_owned(),
            (_, false) if !side.is_empty() => side.to_owned(),
            (_, _) => format!("{side} {percent:.0} %").trim_start().to_owned(),
        }
    }

    /// The least and the largest of ours over the seeds.
    pub fn spread_words(&self) -> String {
        let [least, most] = self.spread.map(number);
        if least == most {
            "same".to_owned()
        } else {
            format!("{least} to {most}")
        }
    }

    /// The verdict, with the seeds that fail if not all do.
    pub fn verdict_words(&self, seeds: usize) -> String {
        match self.verdict {
            Verdict::Holds => "holds".to_owned(),
            Verdict::Shown => "shown".to_owned(),
            Verdict::Fails if self.failing_seeds.len() == seeds => "FAILS".to_owned(),
            Verdict::Fails => {
                let failing: Vec<String> = self.failing_seeds.iter().map(u64::to_string).collect();
                format!("FAILS on seed {}", failing.join(", "))
            }
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

    /// How many claims there are of each kind, and how many of them hold.
    pub fn counts(&self) -> String {
        let count = |kind: Kind| {
            let of = || self.claims.iter().filter(move |claim| claim.kind == kind);
            let holding = of().filter(|claim| claim.verdict == Verdict::Holds).count();
            match (kind, of().count()) {
                (Kind::Report, all) => format!("{all} report"),
                (_, all) => format!("{all} {} ({holding} hold)", kind.name()),
            }
        };
        let kinds: Vec<String> = Kind::ALL.into_iter().map(count).collect();
        format!("{} claims: {}", self.claims.len(), kinds.join(", "))
    }

    /// The seeds in words.
    pub fn seeds_words(&self) -> String {
        match self.seeds.as_slice() {
            [first, .., last] => format!("seeds {first} to {last}"),
            _ => format!("seed {}", self.seed),
        }
    }

    /// The claims as a table.
    pub fn claim_table(&self) -> Table {
        let several = self.seeds.len() > 1;
        let ours = if several { "ours, worst" } else { "ours" };
        let mut columns = vec!["claim", "where", "kind", "theirs", ours];
        columns.extend(several.then_some("over the seeds"));
        columns.extend(["unit", "off", "allowed", "verdict", "how"]);
        let mut table = Table::new("Claims of the paper, ours beside theirs", &columns);
        for claim in &self.claims {
            let mut cells = vec![
                claim.id.clone(),
                claim.place.clone(),
                claim.kind_words(),
                number(claim.theirs),
                number(claim.ours),
            ];
            cells.extend(several.then(|| claim.spread_words()));
            cells.extend([
                claim.unit.clone(),
                claim.off_words(),
                claim.allowed_words(),
                claim.verdict_words(self.seeds.len()),
                claim.how.clone(),
            ]);
            table.row(cells);
        }
        for claim in self.claims.iter().filter(|claim| !claim.short.is_empty()) {
            table.note(format!("{}: {}", claim.id, claim.short));
        }
        table.note(format!("{}, {}", self.counts(), self.seeds_words()));
        table.note(
            "evidence: independent of what went in, could have failed; fitted (n): n constants were chosen for it; \
             arithmetic: recomputed from printed numbers; report: shown, not gated",
        );
        table
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}\n{}\n", self.paper, self.seeds_words())?;
        for table in self.tables.iter().chain([&self.claim_table()]) {
            writeln!(f, "{table}")?;
        }
        Ok(())
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
            kind = "evidence"
        "#;
        toml::from_str(text).expect("a paper")
    }

    fn report(ours: &[f64]) -> Report {
        let by_seed = ours.iter().zip(1..).map(|(&ours, seed)| {
            let mut stated = Ours::default();
            stated.set("length", ours, "measured");
            (seed, stated)
        });
        let claims = paper()
            .compare(by_seed.collect())
            .expect("one claim, one number");
        Report {
            name: "nobody",
            paper: "Nobody 1900".to_owned(),
            seed: 1,
            seeds: (1..=ours.len() as u64).collect(),
            tables: Vec::new(),
            claims,
            figures: Vec::new(),
        }
    }

    #[test]
    fn a_claim_holds_within_its_tolerance_and_fails_outside() {
        assert!(!report(&[104.9]).failed());
        assert!(report(&[105.1]).failed());
        assert!(report(&[94.9]).failed());
        assert!(report(&[f64::NAN]).failed());
    }

    #[test]
    fn a_claim_of_one_side_holds_however_far_ours_is_on_that_side() {
        let verdict = |bound: Bound, ours: f64| {
            let mut claim = paper().claims.remove(0);
            claim.bound = bound;
            let stated = vec![(1, ours, "measured".to_owned())];
            claim.compare(stated).expect("one seed").verdict
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
        assert!(paper().compare(vec![(1, Ours::default())]).is_err());
        let mut stated = Ours::default();
        stated.set("length", 100.0, "measured");
        stated.set("width", 1.0, "measured");
        assert!(paper().compare(vec![(1, stated)]).is_err());
    }

    #[test]
    fn a_claim_holds_only_on_every_seed_and_shows_the_worst() {
        let all = report(&[99.0, 103.0, 101.0]);
        assert!(!all.failed());
        assert_eq!(
            (all.claims[0].ours, all.claims[0].spread),
            (103.0, [99.0, 103.0])
        );
        let one = report(&[99.0, 106.0, f64::NAN]);
        assert!(one.failed() && one.claims[0].ours.is_nan());
        assert_eq!(one.claims[0].failing_seeds, [2, 3]);
        let text = one.claim_table().to_string();
        assert!(text.contains("FAILS on seed 2, 3"), "{text}");
        assert!(
            text.contains("1 evidence (0 hold), 0 fitted (0 hold)"),
            "{text}"
        );
    }

    #[test]
    fn the_papers_data_says_of_every_claim_what_it_is_worth() {
        let papers: BTreeMap<String, Paper> = toml::from_str(CLAIMS).expect("claims.toml");
        for claim in papers.values().flat_map(|paper| &paper.claims) {
            assert_eq!(
                claim.kind == Kind::Fitted,
                claim.constants > 0,
                "{}",
                claim.id
            );
            // A tolerance that accepts half or twice the number accepts anything.
            assert!(
                claim.kind == Kind::Report || claim.tolerance <= 0.3,
                "{}",
                claim.id
            );
        }
    }
}
