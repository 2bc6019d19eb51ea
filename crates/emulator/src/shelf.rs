//! Which element holds which cartridge.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A cartridge in an element.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Held {
    pub barcode: String,
    /// The slot or station it came from.
    pub source: Option<u16>,
}

/// Which element holds which cartridge. A cartridge that is nowhere lies outside of the library.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shelf(BTreeMap<u16, Held>);

/// A line of the state file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeldElement {
    element: u16,
    barcode: String,
    source: Option<u16>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Places {
    #[serde(default)]
    place: Vec<HeldElement>,
}

impl Shelf {
    /// What this element holds.
    pub fn at(&self, element: u16) -> Option<&Held> {
        self.0.get(&element)
    }

    /// Where this cartridge is.
    pub fn element_of(&self, barcode: &str) -> Option<u16> {
        let mut places = self.0.iter();
        places.find_map(|(&element, held)| (held.barcode == barcode).then_some(element))
    }

    /// Puts a cartridge into an element.
    pub fn put(&mut self, element: u16, held: Held) {
        self.0.insert(element, held);
    }

    /// Takes what an element holds.
    pub fn take(&mut self, element: u16) -> Option<Held> {
        self.0.remove(&element)
    }

    /// The text of the state file.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        let place = |(&element, held): (&u16, &Held)| HeldElement {
            element,
            barcode: held.barcode.clone(),
            source: held.source,
        };
        toml::to_string(&Places {
            place: self.0.iter().map(place).collect(),
        })
    }

    /// Reads the text of the state file.
    pub fn from_toml(text: &str) -> Result<Shelf, toml::de::Error> {
        let places: Places = toml::from_str(text)?;
        let held = |place: HeldElement| {
            let HeldElement {
                element,
                barcode,
                source,
            } = place;
            (element, Held { barcode, source })
        };
        Ok(Shelf(places.place.into_iter().map(held).collect()))
    }
}
