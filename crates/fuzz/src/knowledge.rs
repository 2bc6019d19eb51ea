//! Profiles, scenarios, and logs as `fit` reads them.

use tapewise_fit::log::Records;
use tapewise_model::{NominalLayout, Profile};
use tapewise_sim::Scenario;

pub(crate) fn fit_log(bytes: &[u8]) {
    let mut records = Records::default();
    let _ = records.read("log", bytes, None);
    let _ = records.check();
    records.volumes();
}

/// A profile that is read can be used: it prices moves between the corners of the tape, and is written as it was read.
pub(crate) fn profile(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(profile) = Profile::from_toml("fuzz.toml", text) else {
        return;
    };
    let written = profile.to_toml(text).expect("TOML, for it was read");
    assert_eq!(
        Profile::from_toml("again.toml", &written).expect("what was written"),
        profile
    );
    let anew = profile.to_toml("").expect("written from nothing");
    assert_eq!(
        Profile::from_toml("anew.toml", &anew).expect("what was written"),
        profile
    );
    let _ = profile.transfer();
    if let (Ok(model), Ok(map)) = (
        profile.locate_model(None),
        profile.nominal_map(NominalLayout::Single, 1 << 20),
    ) {
        let last = map.end_block(0).saturating_sub(1);
        let places: Vec<_> = [0, last / 2, last]
            .iter()
            .filter_map(|&at| map.position(0, at).ok())
            .collect();
        for from in &places {
            for to in &places {
                model.locate(from, to);
            }
        }
    }
}

pub(crate) fn scenario(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = Scenario::from_toml(text);
    }
}
