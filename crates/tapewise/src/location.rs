//! Where something is on a tape, as people write it: for the head, and for where to leave it.

use std::str::FromStr;
use tapewise_formats::WrapLpos;

/// A place on the tape as it is given, before a map turns it into a
/// [`Position`](tapewise_model::Position).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Location {
    /// The beginning of tape.
    #[default]
    BeginningOfTape,
    /// The beginning of a block.
    Block {
        /// Partition, 0 to 3; it may be left out if the tape has only one.
        partition: Option<u8>,
        /// Block, counted within its partition.
        block: u64,
    },
    /// A wrap and an LPOS, as drives report them.
    Physical(WrapLpos),
}

/// Where to leave the head after the last read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EndLocation {
    /// Wherever the last read ends.
    #[default]
    Anywhere,
    /// At the beginning of tape.
    Rewound,
    /// At the beginning of tape, with the cartridge ready to be taken.
    Unloaded,
    /// At a location.
    At(Location),
}

/// A text that is not a location.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LocationError {
    /// Not a place where a head can be.
    #[error("\"{0}\" is not a place: give bot, BLOCK, PARTITION:BLOCK or wrap=W,lpos=L")]
    NotALocation(String),
    /// Not a place where a head can be left.
    #[error(
        "\"{0}\" is not a place: give bot, BLOCK, PARTITION:BLOCK, wrap=W,lpos=L, anywhere, rewound or unloaded"
    )]
    NotAnEnd(String),
}

impl FromStr for Location {
    type Err = LocationError;

    /// Reads `bot`, `BLOCK`, `PARTITION:BLOCK` or `wrap=W,lpos=L`.
    fn from_str(text: &str) -> Result<Location, LocationError> {
        location(text).ok_or_else(|| LocationError::NotALocation(text.to_owned()))
    }
}

fn location(text: &str) -> Option<Location> {
    if text == "bot" {
        return Some(Location::BeginningOfTape);
    }
    if let Some(rest) = text.strip_prefix("wrap=") {
        let (wrap, lpos) = rest.split_once(",lpos=")?;
        let (wrap, lpos) = (wrap.parse().ok()?, lpos.parse().ok()?);
        return Some(Location::Physical(WrapLpos { wrap, lpos }));
    }
    let (partition, block) = match text.split_once(':') {
        Some((partition, block)) => (Some(partition.parse().ok()?), block),
        None => (None, text),
    };
    let block = block.parse().ok()?;
    Some(Location::Block { partition, block })
}

impl FromStr for EndLocation {
    type Err = LocationError;

    /// Reads `anywhere`, `rewound`, `unloaded`, or a [`Location`].
    fn from_str(text: &str) -> Result<EndLocation, LocationError> {
        match text {
            "anywhere" => Ok(EndLocation::Anywhere),
            "rewound" | "bot" => Ok(EndLocation::Rewound),
            "unloaded" => Ok(EndLocation::Unloaded),
            other => location(other)
                .map(EndLocation::At)
                .ok_or_else(|| LocationError::NotAnEnd(other.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_read_as_people_write_it() {
        assert_eq!("bot".parse(), Ok(Location::BeginningOfTape));
        let block = |partition| Location::Block {
            partition,
            block: 7,
        };
        assert_eq!("7".parse(), Ok(block(None)));
        assert_eq!("1:7".parse(), Ok(block(Some(1))));
        let at = WrapLpos {
            wrap: 3,
            lpos: 4_000,
        };
        assert_eq!("wrap=3,lpos=4000".parse(), Ok(Location::Physical(at)));
        for wrong in ["", "7:", "-1", "wrap=3", "wrap=x,lpos=1", "300:1"] {
            assert!(wrong.parse::<Location>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_end_may_be_anywhere_too() {
        assert_eq!("anywhere".parse(), Ok(EndLocation::Anywhere));
        assert_eq!("bot".parse(), Ok(EndLocation::Rewound));
        assert_eq!("unloaded".parse(), Ok(EndLocation::Unloaded));
        let error = "nowhere".parse::<EndLocation>().unwrap_err();
        assert!(error.to_string().ends_with("anywhere, rewound or unloaded"));
    }
}
