//! What a drive knows of its cartridge and of itself, for a person.

use crate::units;
use tapewise_run::{CartridgeFacts, DriveLife, Rated};
use tapewise_scsi::Report;

/// Tells of a cartridge.
pub fn describe_cartridge(cartridge: &CartridgeFacts, report: &mut Report) {
    report.some("cartridge", cartridge.barcode.as_ref());
    report.some("cartridge, serial number", cartridge.serial_number.as_ref());
    report.some("cartridge, made by", cartridge.made_by.as_ref());
    match (
        cartridge.used_bytes,
        cartridge.free_bytes,
        cartridge.native_bytes,
    ) {
        (Some(used), _, Some(all)) => report.line(
            "used",
            format_args!("{} of {} native", units::bytes(used), units::bytes(all)),
        ),
        (_, Some(free), Some(all)) => report.line(
            "free",
            format_args!("{} of {}", units::bytes(free), units::bytes(all)),
        ),
        _ => {}
    }
    report.some("mounts", cartridge.mounts);
    report.some("passes of its middle", cartridge.passes_of_its_middle);
    for rated in &cartridge.rated_life {
        report.line(
            format_args!("rated life, {}", rated.measure),
            rated_words(rated),
        );
    }
    let written = cartridge.written_in_its_life_bytes.map(units::bytes);
    report.some("written in its life", written);
    let read = cartridge.read_in_its_life_bytes.map(units::bytes);
    report.some("read in its life", read);
    let left = cartridge
        .life_left_percent
        .map(|percent| format!("{percent} %"));
    report.some("life left", left);
    let density = cartridge.density_code.map(|code| format!("{code:02x}h"));
    report.some("density code", density);
    let block = cartridge.block_bytes.map(|bytes| match bytes {
        0 => "variable".to_owned(),
        bytes => format!("{bytes} bytes"),
    });
    report.some("block size", block);
    let protected = cartridge.is_write_protected;
    report.some(
        "write protected",
        protected.map(|it| if it { "yes" } else { "no" }),
    );
    let once = cartridge.is_worm.filter(|is_worm| *is_worm);
    report.some("WORM", once.map(|_| "yes: it can be written only once"));
    let compression = cartridge.is_compression_on;
    report.some(
        "compression",
        compression.map(|it| if it { "on" } else { "off" }),
    );
}

fn rated_words(rated: &Rated) -> String {
    match &rated.warning {
        Some(warning) => format!("WARNING: {warning}"),
        None => format!(
            "{} % of {:.0} used",
            units::percent(rated.used_percent),
            rated.life
        ),
    }
}

/// Tells of a drive's life.
pub fn describe_life(life: &DriveLife, report: &mut Report) {
    report.some("drive, loads", life.loads);
    report.some("drive, power-on hours", life.power_on_h);
    let tape = life.tape_moved_m;
    report.some(
        "drive, tape moved",
        tape.map(|metres| units::metres(metres as f64)),
    );
}
