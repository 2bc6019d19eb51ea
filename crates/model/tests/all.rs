//! All tests of this crate as one program: what they share is compiled once, and linked once.

mod curves;
mod distributions;
mod helical;
mod key_point;
mod key_points;
mod landing;
mod learned_map;
mod lto;
mod map;
mod profiles;
mod random;
mod rays;
mod serpentine;
