//! One file for each verb; its doc comment is its help.

pub mod demo;
pub mod order;
pub mod reproduce;
