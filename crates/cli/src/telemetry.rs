//! Where traces go, by the variables that OpenTelemetry has for that.

use crate::error::CliError;
use crate::log::{self, About};
use std::sync::Arc;
use tapewise_archive::catalogue::Catalogue;
use tapewise_formats::event::Event;
use tapewise_serve::{Collector, Tracer};

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const TRACES_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
const PROTOCOL: &str = "OTEL_EXPORTER_OTLP_PROTOCOL";
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
const RESOURCE: &str = "OTEL_RESOURCE_ATTRIBUTES";
const SERVICE: &str = "OTEL_SERVICE_NAME";
const DISABLED: &str = "OTEL_SDK_DISABLED";

/// The tracer of a service, if the environment names a collector.
pub fn tracer(service: &str, host: &str) -> Result<Option<Arc<Tracer>>, CliError> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let Some(collector) = collector(&variable, service, host)? else {
        return Ok(None);
    };
    let lost = |why: &str| log::warn(About::default(), format_args!("traces are lost: {why}"));
    let tracer = Tracer::new(collector, Box::new(lost));
    Ok(Some(Arc::new(tracer.map_err(CliError::failed)?)))
}

/// Tells a tracer what a drive did.
pub fn trace(tracer: &Tracer, catalogue: &dyn Catalogue, event: &Event, now_ns: i64) {
    if let Err(error) = tracer.saw(catalogue, event, now_ns) {
        log::warn(About::default(), format_args!("a trace is lost: {error}"));
    }
}

fn collector(
    variable: &dyn Fn(&str) -> Option<String>,
    service: &str,
    host: &str,
) -> Result<Option<Collector>, CliError> {
    let of_all = || {
        Some(format!(
            "{}/v1/traces",
            variable(ENDPOINT)?.trim_end_matches('/')
        ))
    };
    let Some(url) = variable(TRACES_ENDPOINT).or_else(of_all) else {
        return Ok(None);
    };
    if variable(DISABLED).is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return Ok(None);
    }
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(
            CliError::input(format!("{ENDPOINT}: {url} is no address of a collector"))
                .hint("write http://HOST:4318, or https://"),
        );
    }
    if let Some(protocol) = variable(PROTOCOL).filter(|protocol| !protocol.starts_with("http/")) {
        return Err(
            CliError::input(format!("{PROTOCOL}: tapewise does not speak {protocol}"))
                .hint("tapewise sends JSON over HTTP; collectors take it at port 4318"),
        );
    }
    let mut resource = pairs(RESOURCE, variable)?;
    let is_known =
        |resource: &[(String, String)], name: &str| resource.iter().any(|(known, _)| known == name);
    let service = match variable(SERVICE) {
        Some(name) => {
            resource.retain(|(known, _)| known != "service.name");
            name
        }
        None => service.to_owned(),
    };
    for (name, value) in [
        ("service.name", service.as_str()),
        ("service.version", env!("CARGO_PKG_VERSION")),
        ("host.name", host),
    ] {
        if !is_known(&resource, name) {
            resource.push((name.to_owned(), value.to_owned()));
        }
    }
    Ok(Some(Collector {
        url,
        headers: pairs(HEADERS, variable)?,
        resource,
    }))
}

/// `NAME=VALUE,NAME=VALUE`; what is escaped as in a URL stands for itself.
fn pairs(
    name: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<(String, String)>, CliError> {
    let text = variable(name).unwrap_or_default();
    let pairs = text
        .split(',')
        .map(str::trim)
        .filter(|pair| !pair.is_empty());
    let pair = |pair: &str| {
        let (key, value) = pair.split_once('=').ok_or_else(|| {
            CliError::input(format!("{name}: {pair:?} is not NAME=VALUE"))
                .hint("separate pairs by commas")
        })?;
        Ok((key.trim().to_owned(), unescaped(value.trim())))
    };
    pairs.map(pair).collect()
}

fn unescaped(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                plain.push(byte);
                at += 3;
            }
            None => {
                plain.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Result<Option<Collector>, CliError> {
        let variable = |name: &str| {
            let mut all = variables.iter();
            all.find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).to_owned())
        };
        collector(&variable, "tapewise-mover", "ada")
    }

    #[test]
    fn the_variables_of_opentelemetry_say_where_traces_go() {
        assert_eq!(of(&[]).expect("nothing"), None);
        let address = (ENDPOINT, "http://127.0.0.1:4318/");
        let found = of(&[
            address,
            (HEADERS, "Authorization=Bearer%20s3, x = y"),
            (RESOURCE, "host.name=lovelace"),
            (SERVICE, "tape"),
        ]);
        let text = |pairs: &[(&str, &str)]| {
            let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            pairs.iter().map(own).collect::<Vec<_>>()
        };
        let expected = Collector {
            url: "http://127.0.0.1:4318/v1/traces".to_owned(),
            headers: text(&[("Authorization", "Bearer s3"), ("x", "y")]),
            resource: text(&[
                ("host.name", "lovelace"),
                ("service.name", "tape"),
                ("service.version", env!("CARGO_PKG_VERSION")),
            ]),
        };
        assert_eq!(found.expect("right"), Some(expected));
        let exact = of(&[address, (TRACES_ENDPOINT, "https://c/t")]);
        assert_eq!(
            exact.expect("right").map(|found| found.url).as_deref(),
            Some("https://c/t")
        );
        assert_eq!(of(&[address, (DISABLED, "true")]).expect("right"), None);
        for wrong in [
            (ENDPOINT, "127.0.0.1:4318"),
            (PROTOCOL, "grpc"),
            (HEADERS, "secret"),
        ] {
            assert!(of(&[wrong, address]).is_err(), "{wrong:?}");
        }
    }
}
