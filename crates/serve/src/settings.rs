//! What `serve.toml` says: the address, the certificate, who may ask, and how much.

use crate::area::Area;
use crate::limits::Limits;
use serde::{Deserialize, Deserializer, de::Error as _};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The settings of a service. All are optional; options of the command line count for more.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServeSettings {
    /// The address to listen at.
    pub listen: Option<String>,
    /// The address under which clients know the service.
    pub url: Option<String>,
    /// The name of the site.
    pub site: Option<String>,
    /// The file with the operator's token.
    pub token_file: Option<PathBuf>,
    /// The file that every request that changes or reads something is written to, and every refusal.
    pub audit_file: Option<PathBuf>,
    /// Encryption; absent: none.
    pub tls: Option<TlsSettings>,
    /// How much may be asked for.
    pub limits: Limits,
    /// Users with tokens of their own.
    #[serde(rename = "user")]
    pub users: Vec<UserSettings>,
    /// Issuers of WLCG tokens.
    #[serde(rename = "issuer")]
    pub issuers: Vec<IssuerSettings>,
}

/// A certificate and its key, as PEM files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsSettings {
    /// The certificate, and those between it and the authority.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// A user with a token.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserSettings {
    /// Who it is, for the queue and the audit trail.
    pub name: String,
    /// The SHA-256 of the token.
    pub sha256: Sha256Hex,
    /// What the user may do.
    #[serde(default)]
    pub may: May,
    /// Below which directories; absent: everywhere.
    #[serde(default = "everywhere")]
    pub paths: Vec<Directory>,
}

/// What a user may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum May {
    /// Stage files, read them, and see the own requests.
    #[default]
    Stage,
    /// See everything that goes on, and no file.
    Watch,
    /// Everything.
    Operate,
}

impl May {
    /// As a settings file writes it.
    fn name(self) -> &'static str {
        match self {
            May::Stage => "stage",
            May::Watch => "watch",
            May::Operate => "operate",
        }
    }
}

/// What stands in the place of a user's directories until somebody writes them. It is none itself.
pub const A_DIRECTORY: &str = "DIRECTORY";

/// The lines of a settings file that make a user with a token of this SHA-256, who may do what one of the name may
/// already; a new one may stage below [`A_DIRECTORY`], which no service takes: somebody has to say where.
pub fn user_lines(name: &str, sha256: &str, known: Option<&UserSettings>) -> String {
    let may = known.map(|user| user.may).unwrap_or_default();
    let paths = known.map_or_else(
        || vec![A_DIRECTORY.to_owned()],
        |user| user.paths.iter().map(|path| path.0.to_string()).collect(),
    );
    let paths = toml::Value::from(paths);
    let name = toml::Value::from(name);
    format!(
        "[[user]]\nname = {name}\nsha256 = \"{sha256}\"\nmay = \"{}\"\npaths = {paths}\n",
        may.name()
    )
}

/// Somebody who signs tokens.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IssuerSettings {
    /// As tokens name it in `iss`.
    pub issuer: String,
    /// Whom its tokens must be for; absent: `url`.
    #[serde(default)]
    pub audiences: Vec<String>,
    /// The directory that paths in its tokens begin at; absent: the root of the archive.
    #[serde(default)]
    pub root: Directory,
    /// A file with its public keys; absent: the issuer is asked.
    pub jwks_file: Option<PathBuf>,
    /// Certificates of the only authorities that are trusted when the issuer is asked; absent: the usual ones.
    pub ca_file: Option<PathBuf>,
}

fn everywhere() -> Vec<Directory> {
    vec![Directory::default()]
}

/// A directory of the archive: `/cms`.
#[derive(Clone, Debug, Default)]
pub struct Directory(pub Area);

impl<'de> Deserialize<'de> for Directory {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Directory, D::Error> {
        let text = String::deserialize(from)?;
        let area = Area::of(&text).ok_or_else(|| {
            let said = format!("\"{text}\" is not a directory such as \"/cms\", without \"..\"");
            D::Error::custom(said)
        })?;
        Ok(Directory(area))
    }
}

/// 32 bytes in hexadecimal.
#[derive(Clone, Copy, Debug)]
pub struct Sha256Hex(pub [u8; 32]);

impl<'de> Deserialize<'de> for Sha256Hex {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Sha256Hex, D::Error> {
        let text = String::deserialize(from)?;
        let bytes = (0..text.len()).step_by(2).map(|at| {
            let two = text.get(at..at + 2)?;
            u8::from_str_radix(two, 16).ok()
        });
        let bytes: Option<Vec<u8>> = bytes.collect();
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        bytes.map(Sha256Hex).ok_or_else(|| {
            D::Error::custom(
                "a SHA-256 has 64 hexadecimal digits; `tapewise serve --new-token NAME` makes one",
            )
        })
    }
}

/// What no service can work with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The text is no TOML, or has keys that are unknown or of another type.
    #[error("{0}")]
    Text(String),
    /// A key has a wrong value.
    #[error("`{key}` is {value}: it must be {must}")]
    Value {
        /// The key.
        key: &'static str,
        /// What it is.
        value: String,
        /// What it must be.
        must: &'static str,
    },
}

impl ServeSettings {
    /// Settings as a file has them.
    ///
    /// # Errors
    /// The first key that is wrong.
    pub fn of(text: &str) -> Result<ServeSettings, SettingsError> {
        let read: Result<ServeSettings, _> = toml::from_str(text);
        let settings = read.map_err(|error| SettingsError::Text(error.to_string()))?;
        settings.check()?;
        Ok(settings)
    }

    fn check(&self) -> Result<(), SettingsError> {
        let (mut names, mut tokens) = (BTreeSet::new(), BTreeSet::new());
        for user in &self.users {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-@".contains(&byte);
            if user.name.is_empty() || !user.name.bytes().all(is_plain) {
                let must = "one or more letters, digits and . _ - @";
                return wrong("user.name", &format!("{:?}", user.name), must);
            }
            if user.name == "http" || !names.insert(&user.name) {
                let must = "another one for every user, and not that of the token file, http";
                return wrong("user.name", &user.name, must);
            }
            if !tokens.insert(user.sha256.0) {
                return wrong("user.sha256", "that of another user", "one for every user");
            }
        }
        let mut issuers = BTreeSet::new();
        for issuer in &self.issuers {
            if !is_safe(&issuer.issuer) {
                return wrong("issuer.issuer", &issuer.issuer, "an address with https://");
            }
            if !issuers.insert(&issuer.issuer) {
                return wrong("issuer.issuer", &issuer.issuer, "named once");
            }
            if issuer.audiences.is_empty() && self.url.is_none() {
                return wrong("issuer.audiences", "absent", "there, or `url`");
            }
        }
        let Limits {
            body_bytes,
            files,
            open_files,
            user_open_files,
            requests_per_minute,
        } = self.limits;
        let limits = [
            ("limits.body_bytes", body_bytes as u64),
            ("limits.files", files as u64),
            ("limits.open_files", open_files),
            ("limits.user_open_files", user_open_files),
            ("limits.requests_per_minute", requests_per_minute.into()),
        ];
        match limits.into_iter().find(|(_, limit)| *limit == 0) {
            Some((key, _)) => wrong(key, "0", "more than 0"),
            None => Ok(()),
        }
    }
}

/// Whether keys may come from an address: encrypted, or from this machine.
pub(crate) fn is_safe(address: &str) -> bool {
    let Ok(address) = address.parse::<axum::http::Uri>() else {
        return false;
    };
    match (address.scheme_str(), address.host()) {
        (Some("https"), Some(_)) => true,
        (Some("http"), Some(host)) => ["127.0.0.1", "[::1]", "localhost"].contains(&host),
        _ => false,
    }
}

fn wrong(key: &'static str, value: &str, must: &'static str) -> Result<(), SettingsError> {
    Err(SettingsError::Value {
        key,
        value: value.to_owned(),
        must,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_named() {
        let hash = "0".repeat(64);
        let user = |name: &str| format!("[[user]]\nname = \"{name}\"\nsha256 = \"{hash}\"\n");
        let issuer = "[[issuer]]\nissuer = \"https://x\"\naudiences = [\"y\"]\n";
        for (text, words) in [
            ("lisen = \"x\"".to_owned(), "lisen"),
            ("[tls]\nkey = \"k\"".to_owned(), "certificate"),
            (
                "[[user]]\nname = \"a\"\nsha256 = \"12\"".to_owned(),
                "--new-token",
            ),
            (user("a b"), "letters"),
            (user("http"), "token file"),
            (user("a") + &user("a"), "every user"),
            (user("a") + &user("b"), "user.sha256"),
            (user("a") + "paths = [\"/x/../y\"]", "without \"..\""),
            (user("a") + "may = \"reign\"", "reign"),
            (issuer.replace("https", "http"), "https://"),
            (
                issuer.replace("audiences", "root = \"/x\" #"),
                "issuer.audiences",
            ),
            (issuer.repeat(2), "named once"),
            ("[limits]\nfiles = 0".to_owned(), "limits.files"),
        ] {
            let said = ServeSettings::of(&text).expect_err(&text).to_string();
            assert!(said.contains(words), "{words}: {said}");
        }
    }

    #[test]
    fn a_new_token_changes_nothing_that_its_user_may() {
        let (old, new) = ("0".repeat(64), "1".repeat(64));
        let named = format!("[[user]]\nname = \"ann\"\nsha256 = \"{old}\"\n");
        let may = "may = \"operate\"\npaths = [\"/a b/\\\"c\\\"\", \"/d/\"]\n";
        let settings = ServeSettings::of(&(named + may)).expect("settings");
        let lines = user_lines("ann", &new, settings.users.first());
        let expected = "may = \"operate\"\npaths = ";
        assert!(lines.contains(expected), "{lines}");
        let again = ServeSettings::of(&lines).expect("settings").users;
        assert_eq!(
            (again[0].sha256.0, again[0].may),
            ([0x11; 32], May::Operate)
        );
        let areas = |users: &[UserSettings]| -> Vec<Area> {
            users[0].paths.iter().map(|path| path.0.clone()).collect()
        };
        assert_eq!(areas(&again), areas(&settings.users));
        for name in ["", "a\"b", "a b"] {
            let said =
                ServeSettings::of(&user_lines(name, &new, settings.users.first())).expect_err(name);
            let words = format!("`user.name` is {name:?}: it must be one or more letters, ");
            assert!(said.to_string().starts_with(&words), "{said}");
        }
        let lines = user_lines("bob", &new, None);
        assert!(
            lines.ends_with("may = \"stage\"\npaths = [\"DIRECTORY\"]\n"),
            "{lines}"
        );
        let said = ServeSettings::of(&lines).expect_err("nobody has said where");
        assert!(
            said.to_string()
                .contains("\"DIRECTORY\" is not a directory")
        );
    }

    #[test]
    fn keys_come_encrypted_or_from_this_machine() {
        for good in ["https://x/", "http://127.0.0.1:80/x", "http://localhost/x"] {
            assert!(is_safe(good), "{good}");
        }
        for wrong in [
            "http://x/",
            "http://localhost:80@x/",
            "http://127.0.0.1.x/",
            "file:///x",
            "",
        ] {
            assert!(!is_safe(wrong), "{wrong}");
        }
    }
}
