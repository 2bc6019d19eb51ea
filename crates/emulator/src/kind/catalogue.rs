//! One line for each kind: who the drive says it is, and the numbers its profile lacks.

use super::{Family, Identity};

/// What the catalogue adds to a profile.
pub(crate) struct Entry {
    pub name: &'static str,
    pub family: Family,
    pub identity: Identity,
    /// Used where the profile has none.
    pub density_code: u8,
    /// Largest block in bytes.
    pub largest_block: u32,
    /// Used where the profile has none, as the next three.
    pub rate_mb_s: f64,
    /// Metres of tape that carry data.
    pub usable_m: f64,
    pub wraps: u16,
    pub buffer_mb: f64,
    /// Used instead of the profile's, which holds more than the drive's own time.
    pub mount_s: Option<f64>,
}

const fn entry(
    name: &'static str,
    family: Family,
    vendor: &'static str,
    product: &'static str,
) -> Entry {
    Entry {
        name,
        family,
        identity: Identity {
            vendor,
            product,
            revision: "TW01",
        },
        density_code: 0,
        largest_block: 0x80_0000,
        rate_mb_s: 0.0,
        usable_m: 0.0,
        wraps: 0,
        buffer_mb: 0.0,
        mount_s: None,
    }
}

/// LTO-5 and later report 800000h as the largest block (IBM LTO SCSI reference, 4.11); assumed
/// of LTO-1 to LTO-4 too.
const fn lto(name: &'static str, product: &'static str, buffer_mb: f64) -> Entry {
    Entry {
        buffer_mb,
        ..entry(name, Family::Lto, "IBM", product)
    }
}

/// No geometry of the 3592 is published. Assumed: a tape about as long as that of an LTO-9, and as
/// many wraps as let the tape run at about 6.5 m/s at the native rate.
const fn ts(name: &'static str, product: &'static str, wraps: u16) -> Entry {
    Entry {
        wraps,
        usable_m: 1000.0,
        buffer_mb: 1000.0,
        ..entry(name, Family::Ibm3592, "IBM", product)
    }
}

/// Every kind. Buffers that no profile has are assumptions of the size usual in their time.
pub(crate) const ENTRIES: &[Entry] = &[
    Entry {
        density_code: 0x25,
        largest_block: 0xff_ffff,
        usable_m: 60.0,
        buffer_mb: 1.0,
        ..entry("dat-4mm", Family::Helical, "ARCHIVE", "Python 28388")
    },
    Entry {
        density_code: 0x80,
        largest_block: 0x20_0000,
        usable_m: 200.0,
        ..entry("ampex-dst310", Family::Helical, "AMPEX", "DST310")
    },
    Entry {
        density_code: 0x80,
        largest_block: 0xff_ffff,
        usable_m: 200.0,
        buffer_mb: 16.0,
        ..entry("sony-dtf", Family::Helical, "SONY", "GY-2120")
    },
    Entry {
        largest_block: 0xff_ffff,
        buffer_mb: 2.0,
        ..entry("dlt4000", Family::Dlt, "Quantum", "DLT4000")
    },
    Entry {
        largest_block: 0xff_ffff,
        buffer_mb: 2.0,
        ..entry("dlt4000-jm98", Family::Dlt, "Quantum", "DLT4000")
    },
    Entry {
        largest_block: 0xff_ffff,
        buffer_mb: 4.0,
        ..entry("dlt7000", Family::Dlt, "Quantum", "DLT7000")
    },
    Entry {
        density_code: 0x29,
        largest_block: 0x4_0000,
        usable_m: 300.0,
        buffer_mb: 8.0,
        ..entry("ibm3590", Family::Ibm3590, "IBM", "03590B1A")
    },
    // 16 wraps of 160 m at 7 MB/s let the tape run at 3.6 m/s. The 7.5 s are the drive's part of the
    // 11 s that Gniewek et al. 1999 measured to the answer (Table 4).
    Entry {
        density_code: 0x2b,
        largest_block: 0x4_0000,
        rate_mb_s: 7.0,
        usable_m: 160.0,
        wraps: 16,
        buffer_mb: 8.0,
        mount_s: Some(7.5),
        ..entry("ibm3570c", Family::Ibm3570, "IBM", "03570C11")
    },
    lto("ibm3580", "ULT3580-TD1", 32.0),
    lto("lto1", "ULT3580-TD1", 32.0),
    lto("lto2", "ULT3580-TD2", 64.0),
    lto("lto3", "ULT3580-TD3", 64.0),
    lto("lto4", "ULT3580-TD4", 128.0),
    lto("lto5", "ULT3580-TD5", 256.0),
    lto("lto5-hh", "ULT3580-HH5", 256.0),
    lto("lto6", "ULT3580-TD6", 512.0),
    lto("lto6-hh", "ULT3580-HH6", 512.0),
    lto("lto7", "ULT3580-TD7", 1000.0),
    lto("lto7-hh", "ULT3580-HH7", 1000.0),
    lto("lto7-m8", "ULT3580-TD8", 1000.0),
    lto("lto8", "ULT3580-TD8", 1000.0),
    lto("lto8-hh", "ULT3580-HH8", 1000.0),
    lto("lto9", "ULT3580-TD9", 1000.0),
    lto("lto9-hh", "ULT3580-HH9", 1000.0),
    lto("lto10", "ULT3580-TDA", 1000.0),
    lto("lto10p", "ULT3580-TDA", 1000.0),
    ts("ts1140", "03592E07", 104),
    ts("ts1150", "03592E08", 180),
    ts("ts1155", "0359255F", 272),
    ts("ts1160", "0359260F", 324),
    ts("ts1170", "0359270F", 812),
    // Assumed for both: the tape of a TS1140, and 252 MB/s for the older one.
    Entry {
        rate_mb_s: 252.0,
        usable_m: 1000.0,
        wraps: 144,
        buffer_mb: 2000.0,
        ..entry("t10000c", Family::T10000, "STK", "T10000C")
    },
    Entry {
        usable_m: 1000.0,
        wraps: 220,
        buffer_mb: 2000.0,
        ..entry("t10000d", Family::T10000, "STK", "T10000D")
    },
];
