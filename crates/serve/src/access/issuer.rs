//! An issuer of tokens, and its keys: from a file, or asked of the issuer and kept for at most six hours.

use super::jwk::{self, Key};
use crate::area::Area;
use crate::settings::is_safe;
use serde::Deserialize;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::Duration;

/// Keys this old are asked for again; if the issuer does not answer, they are used up to the second limit.
const FRESH_NS: i64 = 3600 * 1_000_000_000;
const LONGEST_NS: i64 = 6 * FRESH_NS;

/// An issuer is asked no oftener, whatever unknown keys tokens name.
const PAUSE_NS: i64 = 60 * 1_000_000_000;

/// How long an answer may take, and how long it may be.
const PATIENCE: Duration = Duration::from_secs(10);
const LONGEST_ANSWER: u64 = 256 << 10;

/// Who may sign tokens.
pub struct Issuer {
    /// As tokens name it.
    pub name: String,
    /// Whom its tokens must be for.
    pub audiences: Vec<String>,
    /// Where the paths of its tokens begin.
    pub root: Area,
    keys: Keys,
}

enum Keys {
    Known(Arc<[Key]>),
    Asked {
        ask: Mutex<Ask>,
        state: Mutex<State>,
    },
}

/// Gets the text at an address.
pub type Ask = Box<dyn Fn(&str) -> Result<Vec<u8>, String> + Send + Sync>;

#[derive(Default)]
struct State {
    keys: Option<(Arc<[Key]>, i64)>,
    asked_ns: Option<i64>,
    why: String,
}

impl State {
    /// The keys, if they are no older than this and the one of this name is among them.
    fn keys_within(&self, most_ns: i64, id: Option<&str>, now_ns: i64) -> Option<Arc<[Key]>> {
        let (keys, at_ns) = self.keys.as_ref()?;
        let is_good =
            now_ns.saturating_sub(*at_ns) < most_ns && keys.iter().any(|key| key.is_named(id));
        is_good.then(|| Arc::clone(keys))
    }

    /// Whether the issuer is to be asked now: by whoever hears so.
    fn begins_to_ask(&mut self, id: Option<&str>, now_ns: i64) -> bool {
        let rests = |at_ns: i64| now_ns.saturating_sub(at_ns) < PAUSE_NS;
        if self.keys_within(FRESH_NS, id, now_ns).is_some() || self.asked_ns.is_some_and(rests) {
            return false;
        }
        self.asked_ns = Some(now_ns);
        true
    }
}

impl Issuer {
    /// An issuer whose keys never change.
    pub fn with_keys(name: String, audiences: Vec<String>, root: Area, keys: Vec<Key>) -> Issuer {
        Issuer {
            name,
            audiences,
            root,
            keys: Keys::Known(keys.into()),
        }
    }

    /// An issuer that is asked for its keys when they are needed.
    pub fn asked(name: String, audiences: Vec<String>, root: Area, ask: Ask) -> Issuer {
        let (ask, state) = (Mutex::new(ask), Mutex::default());
        Issuer {
            name,
            audiences,
            root,
            keys: Keys::Asked { ask, state },
        }
    }

    /// Takes over the keys that the same issuer had before, so that they are there if it does not answer now. It is asked
    /// again all the same.
    pub fn keep_keys_of(&self, before: &Issuer, now_ns: i64) {
        if let (Keys::Asked { state, .. }, Keys::Asked { state: before, .. }) =
            (&self.keys, &before.keys)
        {
            let before = before.lock().unwrap_or_else(PoisonError::into_inner);
            let no_longer_fresh = |at_ns: i64| at_ns.min(now_ns.saturating_sub(FRESH_NS));
            let kept = before.keys.as_ref();
            let kept = kept.map(|(keys, at_ns)| (Arc::clone(keys), no_longer_fresh(*at_ns)));
            state.lock().unwrap_or_else(PoisonError::into_inner).keys = kept;
        }
    }

    /// Its keys, among them the one with this name if it has it. This may wait for the issuer.
    ///
    /// # Errors
    /// Why there are none.
    pub fn keys(&self, id: Option<&str>, now_ns: i64) -> Result<Arc<[Key]>, String> {
        let (ask, state) = match &self.keys {
            Keys::Known(keys) => return Ok(Arc::clone(keys)),
            Keys::Asked { ask, state } => (ask, state),
        };
        let state = || state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(keys) = state().keys_within(FRESH_NS, id, now_ns) {
            return Ok(keys);
        }
        // Whoever comes while the issuer is being asked waits for the same answer, unless the old keys will do.
        let old = state().keys_within(LONGEST_NS, id, now_ns);
        let ask = match (ask.try_lock(), old) {
            (Ok(ask), _) => ask,
            (Err(TryLockError::WouldBlock), Some(old)) => return Ok(old),
            (Err(_), _) => ask.lock().unwrap_or_else(PoisonError::into_inner),
        };
        if state().begins_to_ask(id, now_ns) {
            let asked = self.ask_for_keys(&ask);
            let mut state = state();
            match asked {
                Ok(keys) => state.keys = Some((keys.into(), now_ns)),
                Err(why) => state.why = why,
            }
        }
        let state = state();
        match &state.keys {
            Some((keys, at_ns)) if now_ns.saturating_sub(*at_ns) < LONGEST_NS => {
                Ok(Arc::clone(keys))
            }
            _ => Err(format!(
                "the keys of {} cannot be had: {}",
                self.name, state.why
            )),
        }
    }

    /// By the issuer's own description (OpenID Connect Discovery 1.0, section 4).
    fn ask_for_keys(&self, ask: &Ask) -> Result<Vec<Key>, String> {
        #[derive(Deserialize)]
        struct Description {
            issuer: String,
            jwks_uri: String,
        }
        let base = self.name.trim_end_matches('/');
        let address = format!("{base}/.well-known/openid-configuration");
        let found: Description = serde_json::from_slice(&ask(&address)?)
            .map_err(|error| format!("{address}: {error}"))?;
        if found.issuer != self.name {
            return Err(format!(
                "{address} describes another issuer, {}",
                found.issuer
            ));
        }
        let keys = jwk::keys(&ask(&found.jwks_uri)?);
        keys.map_err(|why| format!("{}: {why}", found.jwks_uri))
    }
}

/// Asks over HTTPS, trusting the usual authorities, or only those of a file.
///
/// # Errors
/// What is wrong with the file.
pub fn over_https(authorities: Option<&Path>) -> Result<Ask, String> {
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject as _;
    let mut tls = ureq::tls::TlsConfig::builder();
    if let Some(path) = authorities {
        let found = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
        let found: Vec<CertificateDer<'static>> = found.map_err(|error| error.to_string())?;
        let own = |der: &CertificateDer<'static>| ureq::tls::Certificate::from_der(der).to_owned();
        let found: Vec<_> = found.iter().map(own).collect();
        tls = tls.root_certs(ureq::tls::RootCerts::new_with_certs(&found));
    }
    let agent = ureq::Agent::config_builder()
        .timeout_global(Some(PATIENCE))
        .max_redirects(0)
        .tls_config(tls.build())
        .build();
    let agent = ureq::Agent::new_with_config(agent);
    Ok(Box::new(move |address| {
        if !is_safe(address) {
            return Err(format!("{address} is not encrypted"));
        }
        let answer = agent.get(address).call();
        let read = answer.and_then(|mut answer| {
            let body = answer.body_mut().with_config();
            body.limit(LONGEST_ANSWER).read_to_vec()
        });
        read.map_err(|error| format!("{address}: {error}"))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    const NAME: &str = "https://issuer.example.org/";
    const HOUR_NS: i64 = FRESH_NS;
    const EC: &str = r#"{"keys": [{"kty":"EC","crv":"P-256","kid":"one","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}"#;

    /// An issuer that answers until `fails` is set, and how often its keys were asked for.
    fn issuer() -> (Issuer, Arc<AtomicU32>, Arc<AtomicU32>) {
        let (asked, fails) = (Arc::<AtomicU32>::default(), Arc::<AtomicU32>::default());
        let (counted, failing) = (Arc::clone(&asked), Arc::clone(&fails));
        let ask = move |address: &str| match address {
            _ if failing.load(Ordering::Relaxed) > 0 => Err("no route".to_owned()),
            "https://issuer.example.org/.well-known/openid-configuration" => {
                Ok(format!(r#"{{"issuer": "{NAME}", "jwks_uri": "https://keys/1"}}"#).into_bytes())
            }
            "https://keys/1" => {
                counted.fetch_add(1, Ordering::Relaxed);
                Ok(EC.as_bytes().to_vec())
            }
            other => Err(format!("asked {other}")),
        };
        let ask: Ask = Box::new(ask);
        let issuer = Issuer::asked(NAME.to_owned(), Vec::new(), Area::default(), ask);
        (issuer, asked, fails)
    }

    #[test]
    fn keys_are_asked_for_again_after_an_hour_and_used_for_at_most_six() {
        let (issuer, asked, fails) = issuer();
        let count = || asked.load(Ordering::Relaxed);
        issuer.keys(Some("one"), 0).expect("keys");
        issuer.keys(Some("one"), HOUR_NS - 1).expect("keys");
        assert_eq!(count(), 1);
        issuer.keys(Some("one"), HOUR_NS).expect("keys");
        assert_eq!(count(), 2);
        fails.store(1, Ordering::Relaxed);
        issuer.keys(Some("one"), 7 * HOUR_NS - 1).expect("old keys");
        let said = issuer.keys(Some("one"), 7 * HOUR_NS).expect_err("too old");
        assert!(said.contains("no route"), "{said}");
        fails.store(0, Ordering::Relaxed);
        issuer.keys(Some("one"), 8 * HOUR_NS).expect("keys");
    }

    #[test]
    fn keys_survive_settings_that_are_read_again_while_the_issuer_does_not_answer() {
        let (before, ..) = issuer();
        before.keys(Some("one"), 0).expect("keys");
        let (after, asked, fails) = issuer();
        fails.store(1, Ordering::Relaxed);
        after.keep_keys_of(&before, 1);
        after.keys(Some("one"), 1).expect("the keys from before");
        let said = after.keys(Some("one"), 5 * HOUR_NS + 1);
        said.expect_err("too old");
        fails.store(0, Ordering::Relaxed);
        after
            .keys(Some("one"), 5 * HOUR_NS + 1 + PAUSE_NS)
            .expect("keys");
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        // One that answers is asked at once.
        let (after, asked, _) = issuer();
        after.keep_keys_of(&before, 1);
        after.keys(Some("one"), 1).expect("keys");
        assert_eq!(asked.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn an_issuer_that_hangs_keeps_nobody_waiting_whose_key_is_known() {
        use std::sync::mpsc::channel;
        let (is_asked, asked) = channel::<()>();
        let (answers, answer) = channel::<()>();
        let is_first = AtomicU32::new(1);
        let ask: Ask = Box::new({
            let answer = Mutex::new(answer);
            move |address: &str| match address {
                "https://keys/1" => Ok(EC.as_bytes().to_vec()),
                _ if is_first.swap(0, Ordering::Relaxed) == 1 => Ok(format!(
                    r#"{{"issuer": "{NAME}", "jwks_uri": "https://keys/1"}}"#
                )
                .into_bytes()),
                _ => {
                    is_asked.send(()).expect("heard");
                    let answer = answer.lock().expect("one asks");
                    answer.recv().expect("an answer");
                    Err("time-out".to_owned())
                }
            }
        });
        let issuer = Issuer::asked(NAME.to_owned(), Vec::new(), Area::default(), ask);
        issuer.keys(Some("one"), 0).expect("keys");
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| issuer.keys(Some("one"), HOUR_NS));
            asked.recv().expect("it is asked");
            issuer.keys(Some("one"), HOUR_NS).expect("the old keys");
            answers.send(()).expect("heard");
            let asking = asking.join().expect("no panic");
            asking.expect("the old keys");
        });
    }

    #[test]
    fn an_unknown_key_makes_us_ask_once_a_minute_at_most() {
        let (issuer, asked, _) = issuer();
        for at_ns in [0, 1, 2, PAUSE_NS - 1] {
            let keys = issuer.keys(Some("two"), at_ns).expect("keys");
            assert!(!keys[0].is_named(Some("two")));
        }
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        issuer.keys(Some("two"), PAUSE_NS).expect("keys");
        assert_eq!(asked.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn an_issuer_that_describes_another_one_gives_no_keys() {
        let describe =
            |_: &str| Ok(br#"{"issuer": "https://other/", "jwks_uri": "https://keys/1"}"#.to_vec());
        let describe: Ask = Box::new(describe);
        let issuer = Issuer::asked(NAME.to_owned(), Vec::new(), Area::default(), describe);
        let said = issuer.keys(None, 0).expect_err("another one");
        assert!(said.contains("another issuer"), "{said}");
    }
}
