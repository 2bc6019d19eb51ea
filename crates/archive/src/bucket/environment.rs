//! Endpoint and credentials, from the variables that all programs for S3 read.

use super::Stores;
use super::listing::OddKeys;
use super::stated::Listening;
use object_store::aws::{AmazonS3Builder, Checksum};
use object_store::{ClientOptions, ObjectStore, RetryConfig};
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderValue};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// One of these says who asks. The role of an EC2 instance counts only where its endpoint is named: elsewhere nobody
/// answers there.
const CREDENTIALS: [&str; 6] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_METADATA_ENDPOINT",
    "AWS_SKIP_SIGNATURE",
];

/// They go into headers and addresses.
const PLAIN: [&str; 5] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
];

/// How often a request is tried, unless `AWS_MAX_ATTEMPTS` says otherwise: for about half a minute.
const ATTEMPTS: usize = 10;

/// How long a request may take, with all its bytes: those of a part or a piece.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// A bucket as the variables describe it. Nothing is asked of it yet.
pub(super) fn connect(
    variables: &BTreeMap<String, String>,
    bucket: &str,
) -> Result<Stores, String> {
    let mut asking = HeaderMap::new();
    asking.insert("x-amz-checksum-mode", HeaderValue::from_static("ENABLED"));
    let endpoint = endpoint(variables).map(|(_, endpoint)| endpoint.to_owned());
    let odd_keys = OddKeys::default();
    Ok(Stores {
        endpoint,
        store: build(variables, bucket, HeaderMap::new(), &odd_keys)?,
        stating: build(variables, bucket, asking, &odd_keys)?,
        odd_keys,
    })
}

/// The bucket, where all requests have these headers.
fn build(
    variables: &BTreeMap<String, String>,
    bucket: &str,
    headers: HeaderMap,
    odd_keys: &OddKeys,
) -> Result<Arc<dyn ObjectStore>, String> {
    let value = |name: &str| variables.get(name).map(String::as_str);
    let known = |name: &str| value(name).is_some_and(|text| !text.is_empty());
    if !CREDENTIALS.iter().any(|name| known(name)) {
        return Err(
            "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; files of ~/.aws are not read"
                .to_owned(),
        );
    }
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
    let spoilt = PLAIN.iter().find(|name| !value(name).is_none_or(is_plain));
    if let Some(name) = spoilt {
        return Err(format!("{name} holds a space or another odd character"));
    }
    let options = ClientOptions::new()
        .with_default_headers(headers)
        .with_timeout(TIME_LIMIT);
    let mut builder = AmazonS3Builder::new()
        .with_client_options(options)
        .with_checksum_algorithm(Checksum::SHA256);
    for (name, text) in variables {
        // Many have nothing to do with buckets.
        if let (Ok(key), false) = (name.to_ascii_lowercase().parse(), text.is_empty()) {
            builder = builder.with_config(key, text);
        }
    }
    if let Some((name, endpoint)) = endpoint(variables) {
        if is_trusted(endpoint)
            .ok_or_else(|| format!("{name} is not the address of a server: give https://HOST"))?
        {
            builder = builder.with_allow_http(true);
        } else if value("AWS_ALLOW_HTTP") != Some("true") {
            return Err(format!(
                "{name} is not encrypted: give https://, or set AWS_ALLOW_HTTP=true if you trust the network"
            ));
        }
    }
    let attempts = match value("AWS_MAX_ATTEMPTS") {
        None => ATTEMPTS,
        Some(text) => match text.parse() {
            Ok(attempts @ 1..) => attempts,
            _ => return Err("AWS_MAX_ATTEMPTS must be a number, at least 1".to_owned()),
        },
    };
    // The HTTP client takes what the process has chosen; that it was chosen before is as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let store = builder
        .with_bucket_name(bucket)
        .with_retry(RetryConfig {
            max_retries: attempts - 1,
            ..RetryConfig::default()
        })
        .with_http_connector(Listening(odd_keys.clone()))
        .build();
    Ok(Arc::new(store.map_err(|error| super::why(&error))?))
}

/// The variable that names another server than Amazon's, and what it says.
fn endpoint(variables: &BTreeMap<String, String>) -> Option<(&'static str, &str)> {
    let names = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"];
    let mut said = names
        .into_iter()
        .filter_map(|name| Some((name, variables.get(name)?.as_str())));
    said.find(|(_, endpoint)| !endpoint.is_empty())
}

/// Whether nobody else can read what is sent to an address: it is encrypted, or stays on this machine. `None` where it
/// is no address of a server.
fn is_trusted(endpoint: &str) -> Option<bool> {
    let url = Url::parse(endpoint).ok()?;
    let host = url.host_str()?;
    let address: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
    let is_here = host == "localhost" || address.is_some_and(|address| address.is_loopback());
    match url.scheme() {
        "https" => Some(true),
        "http" => Some(is_here),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(variables: &[(&str, &str)]) -> Option<String> {
        let variables = variables.iter();
        let variables = variables.map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        connect(&variables.collect(), "films").err()
    }

    const KEYS: [(&str, &str); 2] = [
        ("AWS_ACCESS_KEY_ID", "us"),
        ("AWS_SECRET_ACCESS_KEY", "hush"),
    ];

    #[test]
    fn what_is_missing_or_unsafe_is_named_and_nothing_secret_is_repeated() {
        let cases: [(&str, &[(&str, &str)]); 8] = [
            ("no credentials", &[]),
            (
                "AWS_SECRET_ACCESS_KEY holds",
                &[KEYS[0], ("AWS_SECRET_ACCESS_KEY", "hush\n")],
            ),
            (
                "AWS_REGION holds",
                &[KEYS[0], KEYS[1], ("AWS_REGION", "us east")],
            ),
            (
                "not encrypted",
                &[KEYS[0], KEYS[1], ("AWS_ENDPOINT_URL", "http://nas:9000")],
            ),
            (
                "not encrypted",
                &[
                    KEYS[0],
                    KEYS[1],
                    ("AWS_ENDPOINT_URL", "http://127.0.0.1.example"),
                ],
            ),
            (
                "not the address",
                &[KEYS[0], KEYS[1], ("AWS_ENDPOINT_URL", "nas:9000")],
            ),
            (
                "AWS_MAX_ATTEMPTS",
                &[KEYS[0], KEYS[1], ("AWS_MAX_ATTEMPTS", "0")],
            ),
            ("Secret", &[KEYS[0]]),
        ];
        for (what, variables) in cases {
            let said = refused(variables).expect(what);
            assert!(
                said.contains(what) && !said.contains("hush"),
                "{what}: {said}"
            );
        }
    }

    #[test]
    fn what_is_encrypted_stays_here_or_is_said_to_be_trusted_is_taken() {
        for (endpoint, allowed) in [
            ("https://nas:9000", "false"),
            ("http://127.0.0.1:9000", "false"),
            ("http://[::1]:9000", "false"),
            ("http://localhost", "false"),
            ("http://nas:9000", "true"),
        ] {
            let variables = [
                KEYS[0],
                KEYS[1],
                ("AWS_ENDPOINT_URL", endpoint),
                ("AWS_ALLOW_HTTP", allowed),
            ];
            assert_eq!(refused(&variables), None, "{endpoint}");
        }
    }
}
