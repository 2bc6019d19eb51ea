//! Public keys of an issuer, as a JSON Web Key Set (RFC 7517) has them, and the signatures that they verify.
//!
//! A key knows its one algorithm, so no header of a token can choose another: neither `none`, nor a secret that is
//! the public key's text. Keys of other kinds than the profile's two are passed over.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::Deserialize;

/// A public key.
#[derive(Clone, Debug)]
pub struct Key {
    id: Option<String>,
    numbers: Numbers,
}

#[derive(Clone, Debug)]
enum Numbers {
    /// Modulus and exponent; `ring` refuses less than 2,048 bits.
    Rs256 { n: Vec<u8>, e: Vec<u8> },
    /// A point of P-256, uncompressed.
    Es256(Vec<u8>),
}

#[derive(Deserialize)]
struct Set {
    keys: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct Written {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    alg: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

/// The keys of a set that can be used here.
///
/// # Errors
/// What is wrong with the text, or that there is no such key in it.
pub fn keys(text: &[u8]) -> Result<Vec<Key>, String> {
    let set: Set = serde_json::from_slice(text)
        .map_err(|error| format!("this is not a JSON Web Key Set: {error}"))?;
    let keys = set.keys.into_iter();
    let keys: Vec<Key> = keys.filter_map(key).collect();
    if keys.is_empty() {
        return Err("there is no RS256 or ES256 key in it".to_owned());
    }
    Ok(keys)
}

fn key(value: serde_json::Value) -> Option<Key> {
    let written: Written = serde_json::from_value(value).ok()?;
    if written.purpose.is_some_and(|purpose| purpose != "sig") {
        return None;
    }
    let bytes = |text: Option<String>| URL_SAFE_NO_PAD.decode(text?).ok();
    let numbers = match (written.kty.as_str(), written.crv.as_deref()) {
        ("RSA", _) => Numbers::Rs256 {
            n: bytes(written.n)?,
            e: bytes(written.e)?,
        },
        ("EC", Some("P-256")) => {
            Numbers::Es256([vec![4], bytes(written.x)?, bytes(written.y)?].concat())
        }
        _ => return None,
    };
    let key = Key {
        id: written.kid,
        numbers,
    };
    let is_ours = written.alg.is_none_or(|alg| alg == key.algorithm());
    is_ours.then_some(key)
}

impl Key {
    /// As the header of a token names it.
    pub fn algorithm(&self) -> &'static str {
        match self.numbers {
            Numbers::Rs256 { .. } => "RS256",
            Numbers::Es256(_) => "ES256",
        }
    }

    /// Whether a token that names a key may mean this one. One that names none may mean any.
    pub fn is_named(&self, id: Option<&str>) -> bool {
        match (id, &self.id) {
            (Some(id), Some(mine)) => id == mine,
            _ => true,
        }
    }

    /// Whether the owner of this key signed a message.
    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let verified = match &self.numbers {
            Numbers::Rs256 { n, e } => RsaPublicKeyComponents { n, e }.verify(
                &RSA_PKCS1_2048_8192_SHA256,
                message,
                signature,
            ),
            Numbers::Es256(point) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
        };
        verified.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7515, appendix A.2: key, signed text and signature with RS256.
    const RSA: &str = r#"{"kty":"RSA","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ","e":"AQAB"}"#;
    const RSA_SIGNED: &str = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    const RSA_SIGNATURE: &str = "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";

    /// RFC 7515, appendix A.3: the same with ES256.
    const EC: &str = r#"{"kty":"EC","crv":"P-256","kid":"a3","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#;
    const EC_SIGNED: &str = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    const EC_SIGNATURE: &str =
        "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";

    fn set(keys_: &[&str]) -> Vec<Key> {
        let text = format!("{{\"keys\": [{}]}}", keys_.join(","));
        keys(text.as_bytes()).expect("keys")
    }

    #[test]
    fn the_signatures_of_the_standard_are_verified_and_spoiled_ones_are_not() {
        let cases = [
            (RSA, "RS256", RSA_SIGNED, RSA_SIGNATURE),
            (EC, "ES256", EC_SIGNED, EC_SIGNATURE),
        ];
        for (key, algorithm, signed, signature) in cases {
            let key = &set(&[key])[0];
            assert_eq!(key.algorithm(), algorithm);
            let mut signature = URL_SAFE_NO_PAD.decode(signature).expect("base64");
            assert!(key.verifies(signed.as_bytes(), &signature));
            assert!(!key.verifies(&signed.as_bytes()[1..], &signature));
            assert!(!key.verifies(signed.as_bytes(), &[]));
            assert!(!key.verifies(signed.as_bytes(), &vec![0; signature.len()]));
            signature[7] ^= 1;
            assert!(!key.verifies(signed.as_bytes(), &signature));
        }
    }

    #[test]
    fn keys_of_other_kinds_are_passed_over() {
        let secret =
            r#"{"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75"}"#;
        let encrypts = RSA.replace("\"kty\"", "\"use\":\"enc\",\"kty\"");
        let hmac = RSA.replace("\"kty\"", "\"alg\":\"HS256\",\"kty\"");
        let found = set(&[secret, &encrypts, &hmac, "{}", "3", EC]);
        assert_eq!(found.len(), 1);
        assert!(found[0].is_named(Some("a3")) && found[0].is_named(None));
        assert!(!found[0].is_named(Some("a4")));
        for wrong in ["", "[]", "{\"keys\": 3}", "{\"keys\": []}"] {
            keys(wrong.as_bytes()).expect_err(wrong);
        }
    }
}
