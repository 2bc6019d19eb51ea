//! Held & Karp's bound: the assignment problem with subtour cuts, and its certificate.

pub(crate) mod certificate;
pub(crate) mod separation;
