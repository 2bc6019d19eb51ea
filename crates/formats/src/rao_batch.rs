//! A batch of requests as user data segments for the drive to order, and its answer as an order of the requests.
//!
//! Each extent is one segment; its name is its number in the batch, ten digits. A list takes [`MAX_SEGMENTS`], so a
//! larger batch goes in windows, one after the other.
//!
//! The drive takes single logical objects at certain places of a list for *binding points* (GA32-0928, 4.6.3.4): the
//! first one in the list for where the head starts, the last one for where it is to end. So a list begins with the
//! starting point; without it a request of one block would be taken for that. The names of binding points are words.

use std::collections::HashMap;

use crate::rao::{ListedSegment, MAX_SEGMENTS, NAME_BYTES, RaoError, RaoList, UserDataSegment};
use crate::request::Request;

const START_NAME: [u8; NAME_BYTES] = *b"start     ";
const UNLOAD_NAME: [u8; NAME_BYTES] = *b"unload    ";

/// Why an answer is none to what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// A name that was not asked for.
    #[error(
        "list {list}, byte {offset}: segment \"{name}\" was not asked for; is this the answer to another list?"
    )]
    Unknown {
        /// Which list, from 1.
        list: usize,
        /// Where its descriptor begins.
        offset: usize,
        /// The name.
        name: String,
    },
    /// A name that was asked for with other blocks.
    #[error(
        "list {list}, byte {offset}: segment \"{name}\" is {found}, asked for was {asked}; is this the answer to another list?"
    )]
    OtherBlocks {
        /// Which list, from 1.
        list: usize,
        /// Where its descriptor begins.
        offset: usize,
        /// The name.
        name: String,
        /// The blocks in the answer.
        found: String,
        /// The blocks asked for.
        asked: String,
    },
    /// A name that stands there twice.
    #[error("list {list}, byte {offset}: segment \"{name}\" is there a second time")]
    Twice {
        /// Which list, from 1.
        list: usize,
        /// Where its second descriptor begins.
        offset: usize,
        /// The name.
        name: String,
    },
    /// Segments that were asked for and are not there.
    #[error(
        "{count} of {asked} segments are missing, the first is \"{name}\" of request {id}; is an answer missing (one for each {MAX_SEGMENTS})?"
    )]
    Missing {
        /// How many.
        count: usize,
        /// How many were asked for.
        asked: usize,
        /// The name of the first.
        name: String,
        /// The id of its request.
        id: String,
    },
}

/// Where the head is, or is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockPlace {
    /// The partition.
    pub partition: u8,
    /// The logical object.
    pub block: u64,
}

/// The segments of a batch, as they are asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct RaoBatch<'a> {
    requests: &'a [Request],
    segments: Vec<UserDataSegment>,
    /// The request of each segment.
    owners: Vec<usize>,
}

impl<'a> RaoBatch<'a> {
    /// One segment for each extent, numbered in the order given; where no partition is said it is 0.
    pub fn new(requests: &'a [Request]) -> RaoBatch<'a> {
        let mut batch = RaoBatch {
            requests,
            segments: Vec::new(),
            owners: Vec::new(),
        };
        for (index, request) in requests.iter().enumerate() {
            for extent in &request.extents {
                batch.segments.push(UserDataSegment {
                    name: number_name(batch.segments.len()),
                    partition: extent.partition.unwrap_or(0),
                    first_block: extent.start_block,
                    last_block: extent.end_block(),
                });
                batch.owners.push(index);
            }
        }
        batch
    }

    /// All segments, in the order of the requests.
    pub fn segments(&self) -> &[UserDataSegment] {
        &self.segments
    }

    /// The segments in windows that leave room for the two binding points of [`bound`].
    pub fn windows(&self) -> impl Iterator<Item = &[UserDataSegment]> {
        self.segments.chunks(MAX_SEGMENTS - 2)
    }

    /// The requests in the order of the drive's answers, each where its first segment stands.
    ///
    /// Requests without extents are not among them: the drive was not asked for them.
    ///
    /// # Errors
    /// When the answers do not have every segment that was asked for once, and nothing else but binding points.
    pub fn order(&self, answers: &[RaoList]) -> Result<Vec<usize>, AnswerError> {
        let numbers: HashMap<_, _> = self.segments.iter().map(|s| s.name).zip(0..).collect();
        let mut seen = vec![false; self.segments.len()];
        let mut taken = vec![false; self.requests.len()];
        let mut order = Vec::new();
        for (list, answer) in (1..).zip(answers) {
            for listed in answer.segments.iter().filter(|listed| !is_binding(listed)) {
                let number = self.number(&numbers, list, listed)?;
                if std::mem::replace(&mut seen[number], true) {
                    return Err(AnswerError::Twice {
                        list,
                        offset: listed.offset,
                        name: listed.segment.name_text(),
                    });
                }
                let owner = self.owners[number];
                if !std::mem::replace(&mut taken[owner], true) {
                    order.push(owner);
                }
            }
        }
        match seen.iter().position(|&seen| !seen) {
            None => Ok(order),
            Some(first) => Err(AnswerError::Missing {
                count: seen.iter().filter(|&&seen| !seen).count(),
                asked: seen.len(),
                name: self.segments[first].name_text(),
                id: self.requests[self.owners[first]].id.clone(),
            }),
        }
    }

    fn number(
        &self,
        numbers: &HashMap<[u8; NAME_BYTES], usize>,
        list: usize,
        listed: &ListedSegment,
    ) -> Result<usize, AnswerError> {
        let (offset, name) = (listed.offset, listed.segment.name_text());
        let Some(&number) = numbers.get(&listed.segment.name) else {
            return Err(AnswerError::Unknown { list, offset, name });
        };
        let asked = &self.segments[number];
        if *asked != listed.segment {
            return Err(AnswerError::OtherBlocks {
                list,
                offset,
                name,
                found: blocks(&listed.segment),
                asked: blocks(asked),
            });
        }
        Ok(number)
    }
}

/// A window with its binding points: the head's place in front, and behind, if wanted, the unload.
///
/// A segment of one block that is last would be taken for where the head is to end, so one of several blocks is put
/// last where there is one.
///
/// # Errors
/// When that makes more than [`MAX_SEGMENTS`].
pub fn bound(
    window: &[UserDataSegment],
    head: BlockPlace,
    unload: bool,
) -> Result<Vec<UserDataSegment>, RaoError> {
    let mut list = vec![UserDataSegment {
        name: START_NAME,
        partition: head.partition,
        first_block: head.block,
        last_block: head.block,
    }];
    list.extend(window);
    let several = |segment: &UserDataSegment| segment.first_block < segment.last_block;
    if let Some(at) = list.iter().rposition(several) {
        let last = list.remove(at);
        list.push(last);
    }
    if unload {
        list.push(UserDataSegment {
            name: UNLOAD_NAME,
            partition: 0,
            first_block: 0,
            last_block: 0,
        });
    }
    if list.len() > MAX_SEGMENTS {
        return Err(RaoError::TooMany { count: list.len() });
    }
    Ok(list)
}

fn is_binding(listed: &ListedSegment) -> bool {
    let segment = &listed.segment;
    [START_NAME, UNLOAD_NAME].contains(&segment.name) && segment.first_block == segment.last_block
}

/// The name of the segment of this number: its ten digits.
pub fn number_name(number: usize) -> [u8; NAME_BYTES] {
    let mut name = [b'0'; NAME_BYTES];
    let mut rest = number;
    for digit in name.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    name
}

fn blocks(segment: &UserDataSegment) -> String {
    let UserDataSegment {
        partition,
        first_block,
        last_block,
        ..
    } = segment;
    format!("partition {partition}, blocks {first_block} to {last_block}")
}
