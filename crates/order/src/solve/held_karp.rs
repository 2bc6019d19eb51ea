//! Held & Karp's bound: the assignment problem with subtour cuts, and branch and bound on it.

pub(crate) mod branch;
pub(crate) mod certificate;
pub(crate) mod contract;
pub(crate) mod facets;
pub(crate) mod prove;
pub(crate) mod relaxation;
pub(crate) mod separation;
pub(crate) mod start;

#[cfg(test)]
mod tests;
