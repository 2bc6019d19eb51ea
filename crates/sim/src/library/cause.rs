//! Why a response was long.

use super::parts::{Part, Parts};
use super::record::{Answer, Run};
use serde::{Deserialize, Serialize};
use std::fmt;
use tapewise_model::Micros;

/// What made a response long.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// It came at the end of many in a short time.
    Burst {
        /// How many, itself included.
        requests: u64,
        /// At which rate, in whole requests an hour.
        per_hour: u64,
    },
    /// All drives were busy, with no more requests than usual.
    DrivesBusy,
    /// All drives were busy, and one of them was being cleaned.
    Cleaning,
    /// Its drive, or another while it waited, had failed.
    Failure,
    /// No part was out of the ordinary but this.
    Part(Part),
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Burst { requests, per_hour } => {
                write!(f, "a burst of {requests} requests at {per_hour} an hour")
            }
            Cause::DrivesBusy => f.write_str("all drives busy"),
            Cause::Cleaning => f.write_str("a cleaning cycle while it waited for a drive"),
            Cause::Failure => f.write_str("a drive that failed"),
            Cause::Part(part) => f.write_str(part.name()),
        }
    }
}

/// One of the slowest responses, with its cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slow {
    /// The replication it comes from.
    pub replication: u64,
    /// Its number there, in order of arrival.
    pub number: u64,
    /// When it arrived.
    pub arrived: Micros,
    /// From arrival to answer.
    pub response: Micros,
    /// Library, by its place in the scenario.
    pub library: u16,
    /// Its parts.
    pub parts: Parts,
    /// What made it long.
    pub cause: Cause,
}

/// The shortest run of requests that may be a burst. The paper found runs of 14 to 18.
const SHORTEST_BURST: usize = 5;

/// A burst has at least this many times the mean rate ...
const BURST_RATE: f64 = 1.5;

/// ... and so many standard deviations more requests than a Poisson stream of that rate.
const BURST_DEVIATIONS: f64 = 2.5;

/// A drive that was away for at least this share of the wait is what was waited for.
const AWAY_SHARE: f64 = 0.25;

impl Run {
    /// The `count` slowest responses from the request numbered `first` on, slowest first.
    pub fn slowest(&self, first: usize, count: usize) -> Vec<Slow> {
        let mut numbers: Vec<usize> = (first.min(self.answers.len())..self.answers.len()).collect();
        let slow_first = |&a: &usize, &b: &usize| {
            let response = |i: usize| self.answers[i].response;
            response(b).cmp(&response(a)).then(a.cmp(&b))
        };
        if count < numbers.len() {
            numbers.select_nth_unstable_by(count, slow_first);
            numbers.truncate(count);
        }
        numbers.sort_by(slow_first);
        let slow = |&number: &usize| {
            let answer = &self.answers[number];
            Slow {
                replication: self.replication,
                number: answer.number,
                arrived: answer.arrived,
                response: answer.response,
                library: answer.library,
                parts: answer.parts,
                cause: self.cause(number),
            }
        };
        numbers.iter().map(slow).collect()
    }

    /// What made a response as long as it was.
    ///
    /// Its longest part, if that is work. If it is waiting for a drive or a robot: a failure or a
    /// cleaning cycle that took a drive away meanwhile; else a burst of arrivals that ends with it.
    pub fn cause(&self, number: usize) -> Cause {
        let answer = &self.answers[number];
        let waited = answer.parts[Part::DriveWait] + answer.parts[Part::RobotWait];
        match answer.parts.longest() {
            Part::Failure => return Cause::Failure,
            Part::Cleaning => return Cause::Cleaning,
            Part::DriveWait | Part::RobotWait => {}
            part if waited > answer.parts[part] => {}
            part => return Cause::Part(part),
        }
        let away = |time: Micros| time.as_secs_f64() > AWAY_SHARE * waited.as_secs_f64();
        if away(answer.failures_meanwhile) {
            return Cause::Failure;
        }
        if away(answer.cleaning_meanwhile) {
            return Cause::Cleaning;
        }
        match self.burst(answer) {
            Some((requests, per_hour)) => Cause::Burst { requests, per_hour },
            None if answer.parts[Part::RobotWait] > answer.parts[Part::DriveWait] => {
                Cause::Part(Part::RobotWait)
            }
            None => Cause::DrivesBusy,
        }
    }

    /// The run of arrivals ending with a request that is least likely in a Poisson stream.
    fn burst(&self, answer: &Answer) -> Option<(u64, u64)> {
        let last = self.answers.last()?.arrived.as_secs_f64();
        let per_s = self.answers.len() as f64 / last;
        let number = answer.number as usize;
        let mut best: Option<(f64, u64, u64)> = None;
        // Every length while they are short, then one of every eight per cent.
        let longer = |length: &usize| Some(length + 1 + length / 12);
        let lengths = std::iter::successors(Some(SHORTEST_BURST), longer);
        for length in lengths.take_while(|length| *length <= number + 1) {
            let first = self.answers[number + 1 - length].arrived;
            let took = (answer.arrived - first).as_secs_f64();
            let (found, expected) = ((length - 1) as f64, per_s * took);
            let deviations = (found - expected) / expected.sqrt();
            let is_burst = deviations >= BURST_DEVIATIONS && found >= BURST_RATE * expected;
            // Several at one moment have no rate.
            if took > 0.0 && is_burst && best.is_none_or(|(most, ..)| deviations > most) {
                best = Some((deviations, length as u64, (found / took * 3600.0) as u64));
            }
        }
        best.map(|(_, requests, per_hour)| (requests, per_hour))
    }
}
