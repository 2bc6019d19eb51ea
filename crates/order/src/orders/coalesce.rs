//! Coalescing: requests close together are read as one (Hillyer & Silberschatz 1996, section 4).

use crate::order::Order;
use crate::problem::Problem;

/// Chains of visits, in logical order: a visit joins the chain before it when it begins less than
/// `threshold_blocks` behind the begin of the visit before it.
pub fn coalesce(problem: &Problem, threshold_blocks: u64) -> Vec<Vec<u32>> {
    let first = |visit: u32| {
        let extent = problem.visits()[visit as usize].extents[0];
        (extent.partition(), extent.first_block)
    };
    let mut chains: Vec<Vec<u32>> = Vec::new();
    for visit in 0..problem.len() as u32 {
        if let Some(chain) = chains.last_mut() {
            let (partition, block) = first(visit);
            let (before_partition, before_block) = first(chain[chain.len() - 1]);
            if partition == before_partition && block - before_block < threshold_blocks {
                chain.push(visit);
                continue;
            }
        }
        chains.push(vec![visit]);
    }
    chains
}

/// The order of visits that an order of chains stands for.
pub fn expand(order: &Order, chains: &[Vec<u32>]) -> Order {
    Order::of(
        order
            .visits()
            .iter()
            .flat_map(|&c| &chains[c as usize])
            .copied()
            .collect(),
    )
}

/// Orders the chains of a coalesced batch with `algorithm`.
pub fn coalesced(
    problem: &Problem,
    threshold_blocks: u64,
    algorithm: impl Fn(&Problem) -> Order,
) -> Order {
    let chains = coalesce(problem, threshold_blocks);
    expand(&algorithm(&problem.contracted(&chains)), &chains)
}
