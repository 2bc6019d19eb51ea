//! Orders that hold when the map or the model is wrong.
//!
//! [`choose`] takes the shortest order only where it is safe, [`price_under`] says what an order
//! costs on another drive or under another model, [`Sensitivity`] what each second of model error
//! and each tenth of a per cent of map error costs for a batch.

pub(crate) mod alternatives;
mod choose;
pub(crate) mod hedge;
mod price;
mod sensitivity;

pub use alternatives::Alternatives;
pub use choose::{Choice, SORT_MARGIN, Why, choose};
pub use price::{Misfit, price_under, tape_with_model_of};
pub use sensitivity::{Change, Sensitivity};
