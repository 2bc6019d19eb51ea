//! Chains: visits so near each other that an order can hardly do better than read them in a row.

use crate::problem::Problem;
use tapewise_model::Micros;

/// The dearest link of a chain where the model knows no better: what the shortest locates take.
const LINK: Micros = Micros(4_000_000);

/// Chains of visits in logical order: a visit joins the one before it where the way is short, or
/// where the model says that no other way is as short.
///
/// Not where the model lets a move across the middle take no time: there a chain would hide more
/// than it saves.
pub(crate) fn chains(problem: &Problem) -> Vec<Vec<u32>> {
    let model = &problem.tape().model;
    let link = model.neighbours().least_elsewhere().unwrap_or(LINK);
    let free = model.rays().free_stretch().unwrap_or(0..0);
    let mut chains: Vec<Vec<u32>> = Vec::new();
    for visit in 0..problem.len() {
        let near = |before: usize| {
            let there = [problem.ends()[before].lpos, problem.starts()[visit].lpos];
            problem.arc(before, visit) <= link && !there.iter().any(|lpos| free.contains(lpos))
        };
        match chains.last_mut() {
            Some(chain) if near(visit - 1) => chain.push(visit as u32),
            _ => chains.push(vec![visit as u32]),
        }
    }
    chains
}
