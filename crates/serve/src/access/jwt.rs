//! A bearer token as the WLCG Common JWT Profile has it: who signed it, for whom, until when, and what it allows.
//!
//! What a token says counts only after its signature was verified. The one exception is the name of its issuer, which
//! tells whose keys to use; a wrong name finds wrong keys.

use super::jwk::Key;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The audience that means every service.
pub const ANY_AUDIENCE: &str = "https://wlcg.cern.ch/jwt/v1/any";

/// How far clocks may differ.
const LEEWAY_S: f64 = 60.0;

/// Longest token that is looked at, in bytes.
const LONGEST: usize = 16 << 10;

/// A token whose signature nobody has verified.
pub struct Unverified<'t> {
    header: Header,
    claims: Claims,
    signed: &'t str,
    signature: Vec<u8>,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    /// Extensions that whoever does not know them must refuse.
    crit: Option<serde_json::Value>,
}

/// What a token says. All of it is required but `nbf` and `scope`.
#[derive(Debug, Deserialize)]
pub struct Claims {
    /// Who signed it.
    pub iss: String,
    /// Who has it.
    pub sub: String,
    aud: Audience,
    exp: f64,
    #[serde(rename = "iat")]
    _iat: f64,
    nbf: Option<f64>,
    #[serde(rename = "jti")]
    _jti: String,
    #[serde(rename = "wlcg.ver")]
    version: String,
    /// What it allows.
    #[serde(default)]
    pub scope: String,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Many(Vec<String>),
}

impl Audience {
    fn names(&self, audience: &str) -> bool {
        match self {
            Audience::One(one) => one == audience,
            Audience::Many(many) => many.iter().any(|one| one == audience),
        }
    }
}

/// Whether somebody's secret is a token of this kind at all.
pub fn is_like(token: &str) -> bool {
    token.bytes().filter(|&byte| byte == b'.').count() == 2
}

impl<'t> Unverified<'t> {
    /// Takes a token apart.
    ///
    /// # Errors
    /// Words for the client.
    pub fn of(token: &'t str) -> Result<Unverified<'t>, String> {
        if token.len() > LONGEST {
            return Err(format!("it is longer than {LONGEST} bytes"));
        }
        let parts = token.rsplit_once('.');
        let parts = parts.and_then(|(signed, signature)| {
            let (header, claims) = signed.split_once('.')?;
            Some((signed, header, claims, signature))
        });
        let (signed, header, claims, signature) = parts.ok_or("it has not three parts")?;
        let header: Header = read(header, "header")?;
        if header.crit.is_some() {
            return Err("its header has `crit`, which is not known here".to_owned());
        }
        Ok(Unverified {
            header,
            claims: read(claims, "claims")?,
            signed,
            signature: bytes(signature, "signature")?,
        })
    }

    /// Who signed it, if it is genuine.
    pub fn issuer(&self) -> &str {
        &self.claims.iss
    }

    /// The key that it names.
    pub fn key_id(&self) -> Option<&str> {
        self.header.kid.as_deref()
    }

    /// What it says, if one of these keys signed it, for one of these audiences, and it is valid now.
    ///
    /// # Errors
    /// Words for the client.
    pub fn verified(
        self,
        keys: &[Key],
        audiences: &[String],
        now_s: f64,
    ) -> Result<Claims, String> {
        let mut keys = keys.iter().filter(|key| {
            key.is_named(self.header.kid.as_deref()) && key.algorithm() == self.header.alg
        });
        if !keys.any(|key| key.verifies(self.signed.as_bytes(), &self.signature)) {
            return Err("no key of its issuer signed it".to_owned());
        }
        let claims = self.claims;
        if claims.version != "1.0" {
            return Err(format!(
                "its wlcg.ver is \"{}\", not \"1.0\"",
                claims.version
            ));
        }
        if !audiences.iter().any(|audience| claims.aud.names(audience)) {
            return Err("it is for another audience".to_owned());
        }
        if now_s >= claims.exp + LEEWAY_S {
            return Err("it has expired".to_owned());
        }
        if claims.nbf.is_some_and(|nbf| now_s < nbf - LEEWAY_S) {
            return Err("it is not valid yet".to_owned());
        }
        if claims.sub.is_empty() {
            return Err("its `sub` is empty".to_owned());
        }
        Ok(claims)
    }
}

fn bytes(text: &str, what: &str) -> Result<Vec<u8>, String> {
    let bytes = URL_SAFE_NO_PAD.decode(text);
    bytes.map_err(|_| format!("its {what} is not base64url"))
}

fn read<T: DeserializeOwned>(text: &str, what: &str) -> Result<T, String> {
    serde_json::from_slice(&bytes(text, what)?).map_err(|error| format!("its {what}: {error}"))
}
