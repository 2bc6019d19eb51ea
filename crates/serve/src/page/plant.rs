//! Drives on the page, and the last day of them as a picture and a table.

use super::table::{line, numbers, table, words};
use super::{age, escaped, link};
use crate::drives::{Device, Drives, KINDS, Mounted};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use tapewise_model::Micros;
use tapewise_model::units::bytes;

/// The picture's width and the height of a drive's row, in its own units; it is scaled to the page.
const WIDTH: f64 = 960.0;
const ROW: f64 = 28.0;
const NAMES: f64 = 130.0;

/// Mounts in the table below the picture.
const MOUNTS: usize = 20;

const DAY_NS: f64 = 86_400e9;

/// What drives did last.
pub(super) fn drives(drives: &Drives, now_ns: i64) -> String {
    if drives.devices.is_empty() {
        return String::new();
    }
    let row = |(name, device): (&String, &Device)| {
        let spot = device.spot.and_then(|spot| spot.wrap.zip(spot.lpos));
        let head = spot.map_or(String::new(), |(wrap, lpos)| {
            format!("wrap {wrap}, position {lpos}")
        });
        let cartridge = device.cartridge.as_deref();
        let cartridge = cartridge.map_or(String::new(), |label| link("cartridge", label, label));
        let did = match &device.error {
            Some(why) => format!(
                "<span class=\"bad\">{} failed:</span> {}",
                device.last,
                escaped(why)
            ),
            None => device.last.to_string(),
        };
        vec![
            escaped(name),
            cartridge,
            did,
            age(now_ns, device.at_ns).to_string(),
            head,
        ]
    };
    let columns = [
        words("Drive"),
        words("Cartridge"),
        words("Did last"),
        numbers("Ago"),
        words("Head"),
    ];
    let mut body = "<h2>Drives</h2>\n".to_owned();
    body += &table("Drives", &columns, drives.devices.iter().map(row));
    let failed = drives.devices.values().any(|device| device.error.is_some());
    if failed {
        body += "<p>A cartridge or drive that failed is tried again, other copies are used where there are some, and \
            other requests go on. <code>tapewise drive status</code> and <code>tapewise sense</code> say more; \
            <code>tapewise catalog verify</code> checks a cartridge.</p>\n";
    }
    body
}

/// Which cartridges were in which drives in the last day.
pub(super) fn last_day(drives: &Drives, now_ns: i64) -> String {
    let mut body = "<h2>The last day</h2>\n".to_owned();
    if drives.mounts.is_empty() {
        return body
            + "<p class=\"quiet\">No drive has had a cartridge since the service started.</p>\n";
    }
    body += &picture(drives, now_ns);
    let row = |mount: &Mounted| {
        let span_ns = mount
            .ended_ns
            .unwrap_or(now_ns)
            .saturating_sub(mount.began_ns);
        let took: Vec<String> = KINDS
            .iter()
            .zip(mount.took_us)
            .map(|(kind, us)| format!("{kind} {}", Micros(i64::try_from(us).unwrap_or(i64::MAX))))
            .collect();
        let errors = match mount.errors {
            0 => String::new(),
            errors => format!("<span class=\"bad\">{errors} failed</span>"),
        };
        vec![
            escaped(&mount.drive),
            link("cartridge", &mount.cartridge, &mount.cartridge),
            age(now_ns, mount.began_ns).to_string(),
            Micros(span_ns / 1_000).to_string(),
            took.join(", "),
            mount.locates.to_string(),
            bytes(mount.bytes),
            errors,
        ]
    };
    let columns = [
        words("Drive"),
        words("Cartridge"),
        numbers("Began ago"),
        numbers("Stayed"),
        line("The drive's time"),
        numbers("Locates"),
        numbers("Data"),
        words("Errors"),
    ];
    let latest = drives.mounts.iter().rev().take(MOUNTS);
    body + &table(
        "Mounts of the last day, latest first",
        &columns,
        latest.map(row),
    )
}

/// A row for each drive, a bar for each mount, the last 24 hours from left to right.
fn picture(drives: &Drives, now_ns: i64) -> String {
    let names: BTreeSet<&str> = drives
        .mounts
        .iter()
        .map(|mount| mount.drive.as_str())
        .collect();
    let x = |ns: i64| {
        let ago = now_ns.saturating_sub(ns) as f64 / DAY_NS;
        NAMES + (WIDTH - NAMES) * (1.0 - ago).clamp(0.0, 1.0)
    };
    let height = ROW * (names.len() as f64 + 1.0);
    let mut svg = format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Timeline of the last day\">\
         <svg class=\"day\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-label=\"Cartridges in drives in the last 24 hours; the table below has the same\">\n"
    );
    for (number, name) in names.iter().enumerate() {
        let top = ROW * number as f64;
        // A string takes what is written to it.
        let _ = writeln!(
            svg,
            "<text x=\"0\" y=\"{}\">{}</text>",
            top + 19.0,
            escaped(name)
        );
        for mount in drives.mounts.iter().filter(|mount| mount.drive == *name) {
            let (from, to) = (x(mount.began_ns), x(mount.ended_ns.unwrap_or(now_ns)));
            let class = if mount.errors > 0 { "bad" } else { "bar" };
            let _ = writeln!(
                svg,
                "<rect class=\"{class}\" x=\"{from:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{}\"><title>{}</title></rect>",
                top + 5.0,
                (to - from).max(1.5),
                ROW - 10.0,
                escaped(&mount.cartridge)
            );
        }
    }
    for hours in [24, 18, 12, 6, 0] {
        let at = x(now_ns.saturating_sub(hours * 3_600_000_000_000));
        let (anchor, words) = match hours {
            0 => ("end", "now".to_owned()),
            24 => ("start", "24 h ago".to_owned()),
            hours => ("middle", format!("{hours} h ago")),
        };
        let _ = writeln!(
            svg,
            "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"{anchor}\">{words}</text>",
            height - 8.0
        );
    }
    svg + "</svg></div>\n"
}
