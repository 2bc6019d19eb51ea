//! One file for each verb; its doc comment is its help.

pub mod convert;
pub mod demo;
pub mod fit;
pub mod manual;
pub mod order;
pub mod profile;
pub mod reproduce;
