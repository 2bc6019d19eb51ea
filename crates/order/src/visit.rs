//! Visits: what is read together.

use crate::request::{PlacedExtent, Request};
use tapewise_model::Micros;

/// Requests that are read together: one request, or several that share blocks.
#[derive(Clone, Debug)]
pub struct Visit {
    /// Indices of the requests it serves, in the order in which they are delivered.
    pub requests: Vec<u32>,
    /// What is read, in this order.
    pub extents: Vec<PlacedExtent>,
    /// Time to read, without any locate.
    pub read: Micros,
    /// Time to locate between its own extents.
    pub inner_locate: Micros,
}

/// Requests to visits, in logical order: what shares blocks is read together.
pub(crate) fn visits(requests: &[Request]) -> Vec<Visit> {
    let mut sorted: Vec<u32> = (0..requests.len() as u32)
        .filter(|&i| !requests[i as usize].extents.is_empty())
        .collect();
    sorted.sort_by(|&a, &b| {
        logical(&requests[a as usize])
            .cmp(logical(&requests[b as usize]))
            .then(a.cmp(&b))
    });
    let mut visits: Vec<Visit> = Vec::new();
    // The last visit of one extent, and the last of several: a request can share blocks with an
    // earlier one of its kind even where one of the other kind begins in between.
    let mut last: [Option<usize>; 2] = [None; 2];
    for index in sorted {
        let extents = &requests[index as usize].extents;
        let kind = usize::from(extents.len() > 1);
        if let Some(before) = last[kind].map(|at| &mut visits[at])
            && joins(before, extents)
        {
            before.requests.push(index);
            continue;
        }
        last[kind] = Some(visits.len());
        visits.push(Visit {
            requests: vec![index],
            extents: extents.clone(),
            read: Micros::ZERO,
            inner_locate: Micros::ZERO,
        });
    }
    visits
}

/// The runs of blocks of a request, for sorting.
fn logical(request: &Request) -> impl Iterator<Item = (u8, u64, u64)> {
    request
        .extents
        .iter()
        .map(|s| (s.partition(), s.first_block, s.last_block))
}

/// Whether a request can be read with the visit before it; a single extent is then extended.
fn joins(visit: &mut Visit, extents: &[PlacedExtent]) -> bool {
    if visit.extents == extents {
        return true;
    }
    let ([whole], [part]) = (visit.extents.as_mut_slice(), extents) else {
        return false;
    };
    if whole.partition() != part.partition() || part.first_block > whole.last_block {
        return false;
    }
    if part.last_block > whole.last_block {
        let added = part.last_block - whole.last_block;
        let blocks = u128::from(part.last_block - part.first_block) + 1;
        let share = u128::from(part.bytes) * u128::from(added) / blocks;
        whole.bytes = whole.bytes.saturating_add(share as u64);
        whole.last_block = part.last_block;
        whole.end = part.end;
    }
    true
}
