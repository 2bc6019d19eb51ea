//! One file for each verb; its doc comment is its help.

pub mod audit;
pub mod capacity;
pub mod catalog;
pub mod config;
pub mod convert;
pub mod demo;
pub mod doctor;
pub mod drive;
pub mod emulate;
pub mod fit;
pub mod help;
pub mod library;
pub mod manual;
pub mod measure;
pub mod order;
pub mod page;
pub mod profile;
pub mod recall;
pub mod reproduce;
pub mod sense;
pub mod serve;
pub mod simulate;
pub mod store;
