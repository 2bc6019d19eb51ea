//! The files of mechanics: every one can be read, and says of published figures what the profile of the drive says.

use crate::common;

use tapewise_emulator::DriveKind;
use tapewise_model::profile;

#[test]
fn every_kind_can_be_read_and_has_a_profile_that_agrees_with_its_geometry() {
    for name in DriveKind::names() {
        let kind = common::kind(name);
        let profile = profile::find(name).expect(name);
        let cartridge = &profile.cartridge;
        if let Some(wraps) = &cartridge.wraps {
            assert_eq!(kind.shape.wraps, wraps.value, "{name}: wraps");
        }
        if let Some(capacity) = &cartridge.capacity_gb {
            let gb = kind.capacity_bytes() as f64 / 1e9;
            assert!(
                (gb / capacity.value - 1.0).abs() < 0.06,
                "{name}: {gb} GB, not {}",
                capacity.value
            );
        }
        if let Some(rate) = &profile.transfer.rate_mb_s {
            assert_eq!(
                kind.mechanism.streaming.rate_mb_s, rate.value,
                "{name}: rate"
            );
        }
        assert_eq!(kind.title, profile.title);
    }
}

#[test]
fn a_value_without_a_source_is_refused_by_its_key() {
    let wrong = |text: &str| DriveKind::parse("mine", text).unwrap_err().to_string();
    let head = "title = \"Mine\"\nlike = \"family-lto\"\n[tape]\n";
    assert_eq!(
        wrong(&format!("{head}wraps = 4\n")),
        "mechanics of mine: tape.wraps: a value needs a source: { value = …, source = \"…\" }"
    );
    assert_eq!(
        wrong(&format!("{head}wraps = {{ value = 4 }}\n")),
        "mechanics of mine: tape.wraps: no source"
    );
    let lto8 = include_str!("../mechanics/lto8.toml").replace("[tape]\nwraps", "[tape]\nwarps");
    assert!(
        wrong(&lto8).contains("unknown field `warps`"),
        "{}",
        wrong(&lto8)
    );
    let family = wrong("title = \"Mine\"\nlike = \"family-lto-99\"\n");
    assert!(family.ends_with("there is no such file"), "{family}");
}
