//! One guess of all that locate times depend on: where tracks and sections begin, and the seven constants.

use super::belief::KeyPointBelief;
use crate::locate::locate_case;
use crate::random::Random;

/// A guess of a cartridge, in segments, and of the drive, in seconds.
#[derive(Clone, Debug)]
pub(super) struct Hypothesis {
    /// The first segment of each track, and one past the last of the tape.
    pub starts: Vec<f64>,
    /// For each track and section in reading order: where it begins, from the track's beginning.
    pub into: Vec<f64>,
    /// Sections of a track.
    pub sections: usize,
    /// Where reverse tracks begin, from where forward tracks do.
    pub turn: f64,
    /// Seconds of each case beside the motion.
    pub case_s: [f64; 7],
    read_s: f64,
    scan_s: f64,
}

/// A segment's place by a hypothesis.
#[derive(Clone, Copy, Debug)]
struct Place {
    track: usize,
    /// The section in reading order.
    section: usize,
    /// From the track's beginning.
    into: f64,
}

impl Hypothesis {
    /// A cartridge drawn from what is believed; `end` is where its tape is known to end.
    pub fn drawn(belief: &KeyPointBelief, end: Option<u64>, random: &mut Random) -> Hypothesis {
        let (tracks, sections) = (belief.tracks(), belief.sections());
        let per_section = f64::from(belief.coefficients.section_segments);
        let turn = belief.track_length(end);
        let sd = belief.spread.track_sd_segments;
        let steps: Vec<f64> = (0..tracks).map(|_| sd * random.normal()).collect();
        // A walk that comes back to the end of the tape.
        let back = end.map_or(0.0, |_| steps.iter().sum::<f64>() / tracks as f64);
        let mut starts = vec![0.0];
        for step in steps {
            starts.push(starts[starts.len() - 1] + turn + step - back);
        }
        let mut into = Vec::with_capacity(tracks * sections);
        for track in 0..tracks {
            into.push(0.0);
            for nominal in belief.nominal(track).skip(1) {
                let place = nominal + belief.spread.dip_sd_segments * random.normal();
                into.push(place.max(into[into.len() - 1] + 2.0));
            }
        }
        Hypothesis {
            starts,
            into,
            sections,
            turn,
            case_s: belief.coefficients.case_s,
            read_s: belief.coefficients.read_s_per_section / per_section,
            scan_s: belief.coefficients.scan_s_per_section / per_section,
        }
    }

    /// Tracks of the cartridge.
    pub fn tracks(&self) -> usize {
        self.starts.len() - 1
    }

    fn place(&self, segment: f64) -> Place {
        let track = self.starts[1..self.tracks()].partition_point(|&start| start <= segment);
        let into = segment - self.starts[track];
        let sections = &self.into[track * self.sections + 1..][..self.sections - 1];
        Place {
            track,
            section: sections.partition_point(|&begin| begin <= into),
            into,
        }
    }

    /// The case of a locate, counted from 0, and what the motion takes without the case's constant.
    pub fn motion(&self, from: f64, to: f64) -> (usize, f64) {
        let (from, to) = (self.place(from), self.place(to));
        let opposite = (from.track ^ to.track) & 1;
        let seen = |section: usize| match opposite {
            0 => section as i32,
            _ => (self.sections - 1 - section) as i32,
        };
        let ahead = to.section as i32 - seen(from.section);
        if from.track == to.track && ahead <= 2 && to.into >= from.into {
            return (0, self.read_s * (to.into - from.into));
        }
        let landing = self.into[to.track * self.sections + to.section.saturating_sub(1)];
        // How far the source is from where the destination's track begins.
        let here = match opposite {
            0 => from.into,
            _ => self.turn - from.into,
        };
        let scanned = self.scan_s * (landing - here).abs();
        let case = locate_case(ahead, to.section as i32, opposite as u16);
        (case, scanned + self.read_s * (to.into - landing))
    }

    /// What a locate takes.
    pub fn time_s(&self, from: f64, to: f64) -> f64 {
        let (case, motion_s) = self.motion(from, to);
        self.case_s[case] + motion_s
    }

    /// Whether the tracks before and after a beginning of a track are longer than their sections but the last.
    pub fn is_in_order(&self, track: usize) -> bool {
        let is_long = |track: usize| {
            let last = self.into[track * self.sections + self.sections - 1];
            self.starts[track + 1] - self.starts[track] > last + 1.0
        };
        (track == 0 || is_long(track - 1)) && (track == self.tracks() || is_long(track))
    }
}
