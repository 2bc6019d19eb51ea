//! Bursts at 150 requests an hour with four drives: how many a run has, and what came of them.

use super::Bursts;
use super::bench::{Band, Bench};
use crate::PaperError;
use tapewise_plot::Table;
use tapewise_sim::library::{Answer, Part, Run};

/// The case in which the paper looked for them.
const CASE: &str = "150-4";

/// Responses that count as long: the longest twentieth of a run.
const LONG_SHARE: usize = 20;

/// Slowest responses that are listed.
const SLOWEST: usize = 10;

/// A sequence of requests that came close together.
#[derive(Clone, Copy)]
struct Sequence {
    /// Its first request.
    first: usize,
    requests: usize,
    per_hour: f64,
    /// Until all of them are answered others wait behind them: the last request that came before.
    last_behind: usize,
}

impl Sequence {
    /// Whether a request is one of it or came right behind.
    fn holds(&self, number: usize) -> bool {
        (self.first..=self.last_behind).contains(&number)
    }
}

pub fn tables(bench: &Bench) -> Result<Vec<Table>, PaperError> {
    Ok(vec![one_run(bench)?, slowest(bench)?, all_runs(bench)?])
}

/// The sequences of one run.
fn one_run(bench: &Bench) -> Result<Table, PaperError> {
    let theirs = &bench.facts.bursts;
    let run = bench.case(CASE)?.runs.run(0)?;
    let per_hour = bench.case(CASE)?.runs.per_hour;
    let [least, most] = theirs.requests;
    let mut table = Table::new(
        format!(
            "Case {CASE}, one run: sequences of {least} to {most} requests at {:.0} an hour or more",
            theirs.per_hour[0]
        ),
        &[
            "from request",
            "requests",
            "an hour",
            "mean response s",
            "longest s",
        ],
    );
    for sequence in sequences(&run, theirs, per_hour) {
        let answers = &run.answers[sequence.first..sequence.first + sequence.requests];
        let seconds = || answers.iter().map(|answer| answer.response.as_secs_f64());
        table.row([
            (sequence.first + 1).to_string(),
            sequence.requests.to_string(),
            format!("{:.0}", sequence.per_hour),
            format!("{:.1}", seconds().sum::<f64>() / answers.len() as f64),
            format!("{:.0}", seconds().fold(0.0, f64::max)),
        ]);
    }
    let [low, high] = theirs.per_hour;
    table.note(format!(
        "theirs: {} sequences of {least} to {most} requests at {low:.0} to {high:.0} an hour",
        theirs.sequences
    ));
    Ok(table)
}

/// The slowest responses of the same run, each with its cause and with the sequence that it was in.
fn slowest(bench: &Bench) -> Result<Table, PaperError> {
    let runs = &bench.case(CASE)?.runs;
    let run = runs.run(0)?;
    let sequences = sequences(&run, &bench.facts.bursts, runs.per_hour);
    let mut table = Table::new(
        format!("Case {CASE}, the same run: the slowest responses and what made them slow"),
        &[
            "request",
            "response s",
            "for a drive s",
            "for the robot s",
            "sequence from request",
            "cause",
        ],
    );
    for slow in run.slowest(0, SLOWEST) {
        let part = |part| format!("{:.0}", slow.parts[part].as_secs_f64());
        let mut within = sequences.iter();
        let within = within.find(|sequence| sequence.holds(slow.number as usize));
        table.row([
            (slow.number + 1).to_string(),
            format!("{:.0}", slow.response.as_secs_f64()),
            part(Part::DriveWait),
            part(Part::RobotWait),
            within.map_or("-".to_owned(), |sequence| (sequence.first + 1).to_string()),
            slow.cause.to_string(),
        ]);
    }
    table.note(
        "cause: the least likely run of arrivals that ends with the request, of 5 requests or more",
    );
    Ok(table)
}

/// What sequences do to whole runs: of the paper's case, and of those whose measured mean is outside.
fn all_runs(bench: &Bench) -> Result<Table, PaperError> {
    let mut table = Table::new(
        "Sequences in all runs, and what they make of a run",
        &[
            "case",
            "sequences",
            "long within %",
            "all within %",
            "correlation",
            "mean at few",
            "mean at many",
            "EM",
        ],
    );
    let outside = bench
        .cases
        .iter()
        .filter(|case| !case.is_inside() && case.runs.name != CASE);
    for case in [bench.case(CASE)?].into_iter().chain(outside) {
        let per_hour = case.runs.per_hour;
        // The same excess over the mean rate, and as unlikely.
        let bursts = bench
            .facts
            .bursts
            .at(per_hour / bench.case(CASE)?.runs.per_hour);
        let found = case.runs.each(|run| {
            let sequences = sequences(run, &bursts, per_hour);
            let [long, all] = within(run, &sequences);
            [sequences.len() as f64, long, all]
        })?;
        let column = |at: usize| found.iter().map(|run| run[at]).collect::<Vec<f64>>();
        let means = case.runs.means();
        let mut by_bursts: Vec<(f64, f64)> =
            column(0).into_iter().zip(means.iter().copied()).collect();
        by_bursts.sort_by(|a, b| a.0.total_cmp(&b.0));
        let tenth = by_bursts.len().div_ceil(10);
        let mean_of =
            |runs: &[(f64, f64)]| Band::of(&runs.iter().map(|run| run.1).collect::<Vec<_>>());
        table.row([
            case.runs.name.clone(),
            Band::of(&column(0)).to_string(),
            percent(&column(1)),
            percent(&column(2)),
            format!("{:.2}", super::sequence::correlation(&column(0), &means)),
            mean_of(&by_bursts[..tenth]).to_string(),
            mean_of(&by_bursts[by_bursts.len() - tenth..]).to_string(),
            case.theirs.measured.to_string(),
        ]);
    }
    table.note(
        "sequences: as above, in other cases as much faster as their rate is; long within: of the longest twentieth \
         of the responses, those in a sequence or behind it before it was answered; correlation: of a run's number of \
         sequences with its mean; few, many: the tenth of the runs with the fewest and with the most",
    );
    table.note(
        "below the first row: cases whose EM is outside. Where it lies within \"mean at many\", a run as rich in \
         sequences comes to it",
    );
    Ok(table)
}

impl Bursts {
    /// The same at another rate.
    fn at(&self, faster: f64) -> Bursts {
        Bursts {
            per_hour: self.per_hour.map(|rate| rate * faster),
            ..*self
        }
    }
}

/// Sequences of the paper's lengths at its lowest rate or faster, none overlapping another: the
/// least likely first, by how many standard deviations there are more than the mean rate has.
fn sequences(run: &Run, bursts: &Bursts, per_hour: f64) -> Vec<Sequence> {
    let answers = &run.answers;
    let mut candidates = Vec::new();
    let [least, most] = bursts.requests;
    for requests in least..=most {
        for (first, window) in answers.windows(requests).enumerate() {
            let took_s = (window[requests - 1].arrived - window[0].arrived).as_secs_f64();
            let rate = (requests - 1) as f64 / took_s * 3600.0;
            if rate >= bursts.per_hour[0] {
                let expected = per_hour * took_s / 3600.0;
                let deviations = ((requests - 1) as f64 - expected) / expected.sqrt();
                candidates.push((deviations, first, requests, rate));
            }
        }
    }
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut found: Vec<Sequence> = Vec::new();
    for (_, first, requests, per_hour) in candidates {
        let apart = |other: &Sequence| {
            first >= other.first + other.requests || first + requests <= other.first
        };
        if found.iter().all(apart) {
            let last_behind = last_behind(answers, first, requests);
            found.push(Sequence {
                first,
                requests,
                per_hour,
                last_behind,
            });
        }
    }
    found.sort_by_key(|sequence| sequence.first);
    found
}

fn last_behind(answers: &[Answer], first: usize, requests: usize) -> usize {
    let sequence = &answers[first..first + requests];
    let answered = sequence
        .iter()
        .map(|answer| answer.arrived + answer.response)
        .max();
    let behind = answers.partition_point(|answer| Some(answer.arrived) <= answered);
    behind.max(first + requests) - 1
}

/// Shares of the long responses, and of all, that belong to sequences or came right behind.
fn within(run: &Run, sequences: &[Sequence]) -> [f64; 2] {
    let is_within = |number: usize| sequences.iter().any(|sequence| sequence.holds(number));
    let count = run.answers.len();
    let mut by_length: Vec<usize> = (0..count).collect();
    by_length.sort_by_key(|&number| std::cmp::Reverse(run.answers[number].response));
    let long = &by_length[..count / LONG_SHARE];
    let share = |numbers: &[usize]| {
        numbers.iter().filter(|&&number| is_within(number)).count() as f64 / numbers.len() as f64
    };
    [share(long), share(&by_length)]
}

fn percent(shares: &[f64]) -> String {
    let all: Vec<f64> = shares.iter().map(|share| 100.0 * share).collect();
    Band::of(&all).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tapewise_model::Micros;
    use tapewise_sim::library::Parts;

    /// Answers to requests at these seconds, each after half a minute.
    fn run(arrivals_s: &[f64]) -> Run {
        let answer = |(number, &at_s): (usize, &f64)| Answer {
            number: number as u64,
            arrived: Micros::from_secs_f64(at_s),
            response: Micros::from_secs_f64(30.0),
            parts: Parts::default(),
            library: 0,
            cartridge: 0,
            place: 0.5,
            size_mb: 0.0,
            drive: None,
            priority: 0,
            owner: 0,
            cleaning_meanwhile: Micros::ZERO,
            failures_meanwhile: Micros::ZERO,
        };
        Run {
            replication: 0,
            answers: arrivals_s.iter().enumerate().map(answer).collect(),
            usage: Vec::new(),
            duration: Micros::ZERO,
        }
    }

    const PAPER: Bursts = Bursts {
        sequences: 5,
        requests: [14, 18],
        per_hour: [280.0, 475.0],
    };

    #[test]
    fn sixteen_requests_close_together_are_one_sequence_with_what_came_before_its_last_answer() {
        let mut arrivals_s: Vec<f64> = (0..20).map(|at| f64::from(at) * 24.0).collect();
        let begin_s = 20.0 * 24.0;
        arrivals_s.extend((0..16).map(|at| begin_s + f64::from(at) * 9.0));
        let end_s = begin_s + 15.0 * 9.0;
        arrivals_s.extend((1..20).map(|at| end_s + f64::from(at) * 24.0));
        let run = run(&arrivals_s);
        let found = sequences(&run, &PAPER, 150.0);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].first, found[0].requests), (20, 16));
        assert!((found[0].per_hour - 400.0).abs() < 1.0);
        // One more came within the half minute that the last of them took.
        assert_eq!(found[0].last_behind, 36);
        assert_eq!(within(&run, &found)[1], 17.0 / 55.0);
    }

    #[test]
    fn requests_at_an_even_rate_have_no_sequence() {
        let arrivals_s: Vec<f64> = (0..200).map(|at| f64::from(at) * 24.0).collect();
        assert!(sequences(&run(&arrivals_s), &PAPER, 150.0).is_empty());
    }
}
