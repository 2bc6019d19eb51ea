//! All tests of this crate as one program: what they share is compiled once, and linked once.

mod access;
mod api;
mod audit;
mod dav;
mod desk;
mod failed;
mod files;
mod pages;
mod requests;
mod tls;
mod watched;
