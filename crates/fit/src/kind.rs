//! Kinds of move: where a model is good and where it is not.

use crate::sample::Sample;
use tapewise_model::Geometry;

/// A kind of move. The first five share out all moves; the others cut across them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Ahead on the same wrap.
    Ahead,
    /// Back on the same wrap.
    Back,
    /// To another wrap of the band, read in the same direction.
    WrapChange,
    /// To another wrap of the band, read in the other direction.
    Reversal,
    /// To another band.
    BandChange,
    /// Across the middle of the tape.
    MidCross,
    /// Less than a sixteenth of the tape.
    Short,
    /// All others.
    Long,
}

impl Kind {
    /// All kinds, in the order of a report.
    pub const ALL: [Kind; 8] = [
        Kind::Ahead,
        Kind::Back,
        Kind::WrapChange,
        Kind::Reversal,
        Kind::BandChange,
        Kind::MidCross,
        Kind::Short,
        Kind::Long,
    ];

    /// The kind in words.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Ahead => "same wrap, ahead",
            Kind::Back => "same wrap, back",
            Kind::WrapChange => "wrap change",
            Kind::Reversal => "wrap change, reversing",
            Kind::BandChange => "band change",
            Kind::MidCross => "across mid-tape",
            Kind::Short => "under 1/16 of the tape",
            Kind::Long => "1/16 of the tape and more",
        }
    }

    /// Whether a move is of this kind.
    pub fn includes(self, sample: &Sample, geometry: &Geometry) -> bool {
        let (from, to) = (&sample.from, &sample.to);
        let same_wrap = from.wrap == to.wrap;
        let up = i64::from(to.lpos) - i64::from(from.lpos);
        let onward = if to.wrap % 2 == 0 { up } else { -up };
        let same_band = geometry.band(from.wrap) == geometry.band(to.wrap);
        let turns = (from.wrap ^ to.wrap) & 1 == 1;
        let far = |lpos: u32| lpos >= geometry.lpos_middle();
        let short = up.unsigned_abs() * 16 < u64::from(geometry.wrap_lpos());
        match self {
            Kind::Ahead => same_wrap && onward >= 0,
            Kind::Back => same_wrap && onward < 0,
            Kind::WrapChange => !same_wrap && same_band && !turns,
            Kind::Reversal => same_band && turns,
            Kind::BandChange => !same_band,
            Kind::MidCross => far(from.lpos) != far(to.lpos),
            Kind::Short => short,
            Kind::Long => !short,
        }
    }
}
