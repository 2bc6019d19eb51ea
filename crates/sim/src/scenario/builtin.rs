//! The scenarios that come with tapewise: a new one is one file and one line here.

/// The library of Gniewek et al. 1999, with its nine cases.
pub const GNIEWEK_1999: &str = include_str!("../../scenarios/gniewek-1999.toml");

/// NERSC's library, files and mount stress.
pub const NERSC_2001: &str = include_str!("../../scenarios/nersc-2001.toml");

/// Name and text of every scenario in `scenarios/`.
pub const BUILTIN: &[(&str, &str)] = &[
    ("bank-1999", include_str!("../../scenarios/bank-1999.toml")),
    (
        "data-carousel",
        include_str!("../../scenarios/data-carousel.toml"),
    ),
    ("gniewek-1999", GNIEWEK_1999),
    ("lto9-site", include_str!("../../scenarios/lto9-site.toml")),
    (
        "mixed-site",
        include_str!("../../scenarios/mixed-site.toml"),
    ),
    ("nersc-2001", NERSC_2001),
];
