//! The cartridges of the logs: each profile is loaded once, and each map once for each profile.

use crate::error::CliError;
use crate::placement::load_map;
use crate::profiles;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use tapewise::audit::{Mount, Prices, price};
use tapewise::{Cartridge, Effort};
use tapewise_model::Profile;

/// Profiles, maps, and the cartridges that they make; what cannot be loaded is known as such.
pub struct Cartridges {
    profile: Option<String>,
    maps: BTreeMap<String, PathBuf>,
    profiles: BTreeMap<String, Result<Arc<Profile>, String>>,
    /// By profile, and by volume where it has a map.
    cartridges: BTreeMap<(String, Option<String>), Result<Cartridge, String>>,
}

impl Cartridges {
    /// With this profile, or else with those that the logs name.
    ///
    /// # Errors
    /// Bad input: no such profile, or two maps of one volume.
    pub fn new(profile: Option<&str>, maps: &[(String, PathBuf)]) -> Result<Cartridges, CliError> {
        let mut loaded = BTreeMap::new();
        if let Some(name) = profile {
            let profile = profiles::load_drive(name)?;
            loaded.insert(name.to_owned(), Ok(Arc::new(profile)));
        }
        let mut by_volume = BTreeMap::new();
        for (volume, file) in maps {
            if by_volume.insert(volume.clone(), file.clone()).is_some() {
                return Err(CliError::input(format!("--map: two maps of {volume}")));
            }
        }
        Ok(Cartridges {
            profile: profile.map(str::to_owned),
            maps: by_volume,
            profiles: loaded,
            cartridges: BTreeMap::new(),
        })
    }

    /// What the reads of a mount cost in other orders.
    ///
    /// # Errors
    /// In words, why it cannot be priced.
    pub fn price(&mut self, mount: &Mount, effort: &Effort) -> Result<Prices, String> {
        mount.check().map_err(|error| error.to_string())?;
        let profile = self.profile.clone().or(mount.profile.clone());
        let profile = profile.ok_or(
            "the log names no profile; give --profile, for the log of an archive the one in its archive.toml",
        )?;
        let mapped = |volume: &&String| self.maps.contains_key(*volume);
        let key = (profile, mount.volume.as_ref().filter(mapped).cloned());
        if !self.cartridges.contains_key(&key) {
            let cartridge = self.load(&key.0, key.1.as_deref());
            self.cartridges.insert(key.clone(), cartridge);
        }
        let cartridge = self.cartridges[&key].as_ref().map_err(String::clone)?;
        price(mount, cartridge, effort).map_err(|error| error.to_string())
    }

    fn load(&mut self, profile: &str, volume: Option<&str>) -> Result<Cartridge, String> {
        let words = |error: CliError| error.message().to_owned();
        let loaded = self.profiles.entry(profile.to_owned());
        let load = || profiles::load_drive(profile).map(Arc::new).map_err(words);
        let loaded = loaded.or_insert_with(load).clone()?;
        let cartridge = Cartridge::new(loaded).map_err(|error| error.to_string())?;
        let Some(path) = volume.and_then(|volume| self.maps.get(volume)) else {
            return Ok(cartridge);
        };
        let map = load_map(path).map_err(words)?;
        let mapped = cartridge.with_map(&path.display().to_string(), map);
        mapped.map_err(|error| error.to_string())
    }
}
