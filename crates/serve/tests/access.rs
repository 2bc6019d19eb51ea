//! Who is let in with what, and what each may do: users of `serve.toml`, and bearers of good and of hostile tokens.

use crate::desk::{Answered, Desk, NOW_S, archive, files, paths};
use axum::body::Body;
use axum::http::Request;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::StreamExt as _;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tapewise_serve::{Access, Limits, ServeSettings, Token, new_secret};
use tower::ServiceExt as _;

const ISSUER: &str = "https://issuer.example.org/";
const AUDIENCE: &str = "https://tape.example.org:8080";

/// Somebody who signs tokens.
struct Signer {
    key: EcdsaKeyPair,
}

impl Signer {
    fn new() -> Signer {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let key = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
        let key = EcdsaKeyPair::from_pkcs8(algorithm, key.as_ref(), &random);
        Signer {
            key: key.expect("a key"),
        }
    }

    /// The public key, as an issuer publishes it.
    fn jwks(&self) -> String {
        let point = &self.key.public_key().as_ref()[1..];
        let [x, y] = [&point[..32], &point[32..]].map(|half| URL_SAFE_NO_PAD.encode(half));
        let key = json!({"kty": "EC", "crv": "P-256", "kid": "1", "x": x, "y": y});
        json!({ "keys": [key] }).to_string()
    }

    fn sign(&self, header: &Value, claims: &Value) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(header), part(claims));
        let signature = self.key.sign(&SystemRandom::new(), signed.as_bytes());
        let signature = URL_SAFE_NO_PAD.encode(signature.expect("signed"));
        format!("{signed}.{signature}")
    }

    /// A good token with these scopes.
    fn token(&self, scope: &str) -> String {
        self.sign(&header(), &claims(scope))
    }

    /// A token that differs from a good one in one claim.
    fn with(&self, claim: &str, value: Value) -> String {
        let mut claims = claims("storage.stage:/d");
        claims[claim] = value;
        self.sign(&header(), &claims)
    }
}

fn header() -> Value {
    json!({"alg": "ES256", "kid": "1", "typ": "at+jwt"})
}

fn claims(scope: &str) -> Value {
    json!({"iss": ISSUER, "sub": "dave", "aud": AUDIENCE, "exp": NOW_S + 600, "iat": NOW_S, "nbf": NOW_S,
        "jti": "1", "wlcg.ver": "1.0", "scope": scope})
}

/// A service that trusts a signer, whose paths begin at a directory of the archive.
fn desk_of(signer: &Signer, root: &str) -> Desk {
    let directory = archive();
    std::fs::write(directory.path().join("keys"), signer.jwks()).expect("written");
    let text = format!(
        "[[issuer]]\nissuer = \"{ISSUER}\"\naudiences = [\"{AUDIENCE}\"]\nroot = \"{root}\"\njwks_file = \"keys\"\n"
    );
    let settings = ServeSettings::of(&text).expect("settings");
    Desk::with(directory, &settings)
}

fn stage(desk: &Desk, token: &str, named: &[&str]) -> Answered {
    let headers = [("authorization", &*format!("Bearer {token}"))];
    desk.send("POST", "/tape/v1/stage", &headers, files(named))
}

#[test]
fn a_token_stages_what_its_scope_covers_and_nothing_else() {
    let signer = Signer::new();
    let mut desk = desk_of(&signer, "/");
    let token = signer.token("storage.stage:/d");
    desk.by(&token);
    let id = desk.stage(&["/d/1", "/d/a%20b"]);
    desk.post(&format!("stage/{id}/cancel"), paths(&["/d/1"]));
    assert_eq!(desk.poll(&id), ["/d/1 CANCELLED", "/d/a%20b SUBMITTED"]);
    desk.deliver("d/a b", &[1; 100]);
    // Staging is not reading.
    desk.ask("GET", "/files/d/a%20b", "")
        .refused(403, "does not allow you to read");
    desk.by(&signer.token("storage.read:/d"));
    assert_eq!(desk.ask("GET", "/files/d/a%20b", "").status, 200);
    desk.post("stage", files(&["/d/1"]))
        .refused(403, "does not allow you to stage");
    let info = desk.post("archiveinfo", paths(&["/d/1", "/e/1"])).json();
    assert_eq!(info[0]["locality"], "TAPE");
    assert!(info[1]["error"].as_str().expect("text").contains("allow"));
    // To poll is to ask where files are, and to cancel is not.
    let stage_of = format!("/tape/v1/stage/{id}");
    for scope in ["storage.poll:/", "storage.read:/d"] {
        desk.by(&signer.token(scope));
        assert_eq!(desk.poll(&id).len(), 2, "{scope}");
        desk.post(&format!("stage/{id}/cancel"), paths(&["/d/1"]))
            .refused(403, "does not allow you to stage");
        desk.ask("DELETE", &stage_of, "").refused(403, "stage");
    }
    // A narrower token of the same owner no longer reaches the whole request.
    desk.by(&signer.token("storage.stage:/d/1"));
    desk.ask("GET", &format!("/tape/v1/stage/{id}"), "")
        .refused(403, "a%20b");
    for path in [
        "/metrics",
        "/api/v1/status",
        "/api/v1/queue",
        "/cartridge/T00001L8",
    ] {
        desk.ask("GET", path, "").refused(403, "everybody");
    }
    // The page has the own requests only.
    desk.by(&signer.with("sub", json!("eve")));
    let why = "T00001L8 is missing";
    desk.work.is_stuck(why.to_owned());
    let page = desk.ask("GET", "/", "").body;
    assert!(page.contains("Your requests"), "{page}");
    assert!(page.contains("is tried again"), "{page}");
    assert!(!page.contains(&id) && !page.contains("T00001L8"), "{page}");
    desk.ask("GET", &format!("/request/{id}"), "")
        .refused(404, "no stage request");
}

#[test]
fn paths_that_look_as_if_they_were_covered_are_not() {
    let signer = Signer::new();
    let desk = desk_of(&signer, "/");
    let token = signer.token("storage.stage:/d/1 storage.stage:/foo/bar");
    for path in [
        "/foo/bargain",
        "/foo/ba",
        "/d",
        "/d/1/../2",
        "/d/1/%2e%2e/2",
        "/d/1/%2E%2E/%2e%2e/d/2",
        "/d%2F1",
        "/d/1%2F..%2F2",
        "/foo/bar/..",
        "//d//2",
        "/d/%31%2f../2",
    ] {
        let answer = stage(&desk, &token, &["/d/1", path]);
        answer.refused(403, path);
    }
    assert_eq!(desk.open_recalls(), 0, "nothing of it was entered");
    // What leads nowhere fails by itself, and other spellings of what is covered are covered.
    for path in [
        "/d/1/../../../x",
        "//d/./1",
        "/d/x/../1",
        "/d/1/",
        "/foo/bar",
    ] {
        let answer = stage(&desk, &token, &[path]);
        assert_eq!(answer.status, 201, "{path}: {}", answer.body);
    }
    assert_eq!(desk.open_recalls(), 1);
}

#[test]
fn the_paths_of_an_issuer_begin_at_its_own_directory() {
    let signer = Signer::new();
    let desk = desk_of(&signer, "/d");
    let token = signer.token("storage.stage:/1");
    assert_eq!(stage(&desk, &token, &["/d/1"]).status, 201);
    stage(&desk, &token, &["/d/2"]).refused(403, "/d/2");
    let all = signer.token("storage.stage:/");
    assert_eq!(stage(&desk, &all, &["/d/2"]).status, 201);
    stage(&desk, &all, &["/1"]).refused(403, "/1");
}

#[test]
fn hostile_tokens_are_refused_with_the_reason() {
    let (signer, other) = (Signer::new(), Signer::new());
    let desk = desk_of(&signer, "/");
    let good = signer.token("storage.stage:/d");
    assert_eq!(stage(&desk, &good, &["/d/1"]).status, 201);
    let (signed, signature) = good.rsplit_once('.').expect("three parts");
    let (head, _) = signed.split_once('.').expect("three parts");
    let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let forged = part(claims("storage.stage:/"));
    let unsigned = format!("{}.{forged}.", part(json!({"alg": "none"})));
    let none = format!("{}.{forged}.{signature}", part(json!({"alg": "none"})));
    let scope = "storage.stage:/d";
    let header_with = |name: &str, value: Value| {
        let mut header = header();
        header[name] = value;
        signer.sign(&header, &claims(scope))
    };
    let without = |claim: &str| {
        let mut claims = claims(scope);
        claims.as_object_mut().expect("an object").remove(claim);
        signer.sign(&header(), &claims)
    };
    let twice = format!("{{\"sub\": \"eve\", {}", &claims(scope).to_string()[1..]);
    let twice = format!("{head}.{}.{signature}", URL_SAFE_NO_PAD.encode(twice));
    let cases = [
        (unsigned, "no key of its issuer"),
        (none, "no key of its issuer"),
        (
            format!("{head}.{forged}.{signature}"),
            "no key of its issuer",
        ),
        (other.token(scope), "no key of its issuer"),
        (header_with("alg", json!("HS256")), "no key of its issuer"),
        (header_with("alg", json!("RS256")), "no key of its issuer"),
        (header_with("alg", json!("es256")), "no key of its issuer"),
        (header_with("kid", json!("2")), "no key of its issuer"),
        (header_with("crit", json!(["exp"])), "crit"),
        (format!("{signed}.{signature}="), "not base64url"),
        (format!("{signed}.!"), "not base64url"),
        ("a.b.c".to_owned(), "header"),
        ("..".to_owned(), "header"),
        (twice, "duplicate field"),
        (
            signer.with("iss", json!("https://issuer.example.org")),
            "issuer",
        ),
        (
            signer.with("aud", json!("https://other.example.org")),
            "audience",
        ),
        (signer.with("aud", json!([])), "audience"),
        (signer.with("exp", json!(NOW_S - 61)), "expired"),
        (signer.with("exp", json!("never")), "exp"),
        (signer.with("nbf", json!(NOW_S + 61)), "not valid yet"),
        (signer.with("wlcg.ver", json!("2.0")), "wlcg.ver"),
        (signer.with("sub", json!("")), "sub"),
        (signer.with("scope", json!("storage.stage")), "needs a path"),
        (
            signer.with("scope", json!("storage.stage:/d/../e")),
            "needs a path",
        ),
        (without("sub"), "sub"),
        (without("exp"), "exp"),
        (without("iat"), "iat"),
        (without("jti"), "jti"),
        (without("aud"), "aud"),
        (without("wlcg.ver"), "wlcg.ver"),
        (without("iss"), "iss"),
        (format!("{good}.x"), "tokens that this service knows"),
        (format!("{}.x.y", "a".repeat(20_000)), "longer than"),
    ];
    for (token, words) in cases {
        let answer = stage(&desk, &token, &["/d/1"]);
        answer.refused(401, words);
        let challenge = answer.headers["www-authenticate"].to_str();
        assert!(challenge.expect("text").starts_with("Bearer"), "{words}");
    }
    stage(&desk, &without("scope"), &["/d/1"]).refused(403, "/d/1");
    // Good ones that differ.
    for token in [
        signer.with("aud", json!(["x", AUDIENCE])),
        signer.with("aud", json!("https://wlcg.cern.ch/jwt/v1/any")),
        signer.with("exp", json!(NOW_S - 59)),
        signer.with("exp", json!(NOW_S as f64 + 0.5)),
        signer.sign(&json!({"alg": "ES256"}), &claims(scope)),
        without("nbf"),
    ] {
        assert_eq!(stage(&desk, &token, &["/d/1"]).status, 201, "{token}");
    }
}

#[test]
fn one_user_does_not_reach_the_requests_of_another() {
    let signer = Signer::new();
    let mut desk = desk_of(&signer, "/");
    desk.by(&signer.token("storage.stage:/"));
    let id = desk.stage(&["/d/1"]);
    desk.by(&signer.with("sub", json!("eve")));
    let stage = format!("/tape/v1/stage/{id}");
    desk.ask("GET", &stage, "").refused(404, "no stage request");
    desk.ask("DELETE", &stage, "").refused(404, "no stage");
    desk.post(&format!("stage/{id}/cancel"), paths(&["/d/1"]))
        .refused(404, "no stage");
    desk.post(&format!("release/{id}"), paths(&["/d/1"]))
        .refused(404, "no stage");
    // A token that was renewed is still the same user's.
    let renewed = json!(NOW_S + 3000);
    desk.by(&signer.with("exp", renewed));
    assert_eq!(desk.poll(&id), ["/d/1 SUBMITTED"]);
}

/// Users of `serve.toml`, with their tokens.
pub fn users(lines: &[(&str, &str)]) -> (String, Vec<String>) {
    let made = lines.iter().map(|(name, more)| {
        let (secret, hash) = new_secret();
        let user = format!("[[user]]\nname = \"{name}\"\nsha256 = \"{hash}\"\n{more}\n");
        (user, secret)
    });
    made.unzip()
}

#[test]
fn each_user_may_what_the_settings_say() {
    let (text, secrets) = users(&[
        ("alice", "paths = [\"/d/1\"]"),
        ("watcher", "may = \"watch\""),
        ("boss", "may = \"operate\""),
    ]);
    let settings = ServeSettings::of(&text).expect("settings");
    let mut desk = Desk::with(archive(), &settings);
    let holder = desk.token.clone();
    desk.by(&secrets[0]);
    desk.stage(&["/d/1"]);
    desk.post("stage", files(&["/d/2"])).refused(403, "/d/2");
    desk.ask("GET", "/metrics", "").refused(403, "everybody");
    desk.by(&secrets[1]);
    assert_eq!(desk.ask("GET", "/metrics", "").status, 200);
    desk.post("stage", files(&["/d/1"])).refused(403, "/d/1");
    desk.ask("GET", "/files/d/1", "").refused(403, "read");
    desk.by(&secrets[2]);
    assert_eq!(desk.ask("GET", "/metrics", "").status, 200);
    desk.stage(&["/d/2"]);
    desk.token = holder;
    desk.stage(&["/d/3"]);

    // As after a SIGHUP: alice has gone, the others stay.
    let rest = text.split_once("[[user]]\nname = \"watcher\"");
    let rest = format!("[[user]]\nname = \"watcher\"{}", rest.expect("users").1);
    let settings = ServeSettings::of(&rest).expect("settings");
    let path = desk.directory.path().join("token");
    let (token, _) = Token::of_file(&path).expect("a token");
    let access = Access::of(&settings, desk.directory.path(), &token);
    desk.service.set_access(access.expect("users"));
    desk.by(&secrets[0]);
    desk.post("stage", files(&["/d/1"])).refused(401, "tokens");
    desk.by(&secrets[2]);
    desk.stage(&["/d/1"]);
}

#[test]
fn a_user_looks_after_old_requests_and_an_operator_after_all() {
    let paths_of_d = "may = \"stage\"\npaths = [\"/d\"]\n";
    let (text, secrets) = users(&[
        ("alice", paths_of_d),
        ("bob", paths_of_d),
        ("eve", "may = \"watch\"\n"),
    ]);
    let mut desk = Desk::with(archive(), &ServeSettings::of(&text).expect("settings"));
    let operator = desk.token.trim_start_matches("Bearer ").to_owned();
    desk.by(&secrets[0]);
    let id = desk.stage(&["/d/1", "/d/2", "/d/3"]);
    let cancel = |desk: &Desk, path| desk.post(&format!("stage/{id}/cancel"), paths(&[path]));
    let stage_of = format!("/tape/v1/stage/{id}");
    // Others do not see it. Who watches sees it, and changes nothing.
    desk.by(&secrets[1]);
    desk.ask("GET", &stage_of, "").refused(404, "somebody else");
    cancel(&desk, "/d/1").refused(404, "somebody else");
    desk.by(&secrets[2]);
    assert_eq!(desk.poll(&id).len(), 3);
    cancel(&desk, "/d/1").refused(404, "somebody else");
    desk.by(&operator);
    assert_eq!(cancel(&desk, "/d/1").status, 200);
    // From now on alice may ask for other files.
    let narrowed = text.replacen("[\"/d\"]", "[\"/e\"]", 1);
    let settings = ServeSettings::of(&narrowed).expect("settings");
    let token = Token::of_file(&desk.directory.path().join("token"));
    let access = Access::of(&settings, desk.directory.path(), &token.expect("a token").0);
    desk.service.set_access(access.expect("users"));
    desk.by(&secrets[0]);
    assert_eq!(
        desk.poll(&id),
        ["/d/1 CANCELLED", "/d/2 SUBMITTED", "/d/3 SUBMITTED"]
    );
    assert_eq!(cancel(&desk, "/d/2").status, 200);
    assert_eq!(desk.ask("DELETE", &stage_of, "").status, 200);
    assert_eq!(desk.open_recalls(), 0);
    desk.post("stage", files(&["/d/1"])).refused(403, "stage");
}

#[test]
fn each_user_has_room_for_so_many_files_and_so_many_requests() {
    let (text, secrets) = users(&[("alice", ""), ("bob", "")]);
    let limits = "[limits]\nuser_open_files = 2\nopen_files = 3\nrequests_per_minute = 6\n";
    let settings = ServeSettings::of(&(text + limits)).expect("settings");
    let mut desk = Desk::with(archive(), &settings);
    desk.by(&secrets[0]);
    desk.stage(&["/d/1", "/d/2"]);
    let full = desk.post("stage", files(&["/d/3"]));
    full.refused(429, "2 files wait, and 2 may");
    let never = desk.post("stage", files(&["/d/1", "/d/2", "/d/3"]));
    never.refused(413, "3 files are more than the 2");
    desk.by(&secrets[1]);
    desk.stage(&["/d/3"]);
    desk.post("stage", files(&["/d/5"])).refused(429, "3 may");
    for _ in 0..4 {
        desk.post("archiveinfo", paths(&["/d/1"]));
    }
    let slower = desk.post("archiveinfo", paths(&["/d/1"]));
    slower.refused(429, "More than 6 requests");
    assert_eq!(slower.headers["retry-after"], "10");
    desk.by(&secrets[0]);
    desk.post("archiveinfo", paths(&["/d/1"]));
    // Whoever guesses is held up too, and health is not.
    for _ in 0..6 {
        stage(&desk, "guessed", &["/d/1"]).refused(401, "tokens");
    }
    stage(&desk, "guessed", &["/d/1"]).refused(429, "More than 6");
    let login = desk.send("POST", "/login", &[], "token=guessed");
    assert_eq!(login.status, 429);
    assert_eq!(desk.send("GET", "/health", &[], "").status, 200);
}

#[test]
fn who_is_refused_with_a_long_body_hears_so() {
    let desk = Desk::open(archive(), Limits::default());
    let taken = Arc::<AtomicUsize>::default();
    let ask = |expects: bool| {
        let count = Arc::clone(&taken);
        let pieces = futures_util::stream::iter(0..50).map(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            Ok::<_, std::io::Error>(vec![b'x'; 20_000])
        });
        let request = Request::post("/tape/v1/stage").header("authorization", "Bearer old");
        let request = if expects {
            request.header("expect", "100-continue")
        } else {
            request
        };
        let request = request.body(Body::from_stream(pieces)).expect("a request");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build();
        let answer = desk.router.clone().oneshot(request);
        let answer = runtime.expect("a runtime").block_on(answer);
        assert_eq!(answer.expect("an answer").status(), 401);
        taken.swap(0, Ordering::Relaxed)
    };
    // The connection is closed when the answer is sent, and who still sends then does not read it.
    assert_eq!(ask(false), 50);
    assert_eq!(ask(true), 0, "this one asks before it sends");
}

#[test]
fn a_page_of_another_site_cannot_use_a_browsers_cookie() {
    let desk = Desk::open(archive(), Limits::default());
    let cookie = format!("tapewise={}", desk.token.trim_start_matches("Bearer "));
    let send = |headers: &[(&str, &str)]| {
        let headers = [&[("cookie", cookie.as_str())], headers].concat();
        desk.send("POST", "/tape/v1/stage", &headers, files(&["/d/1"]))
    };
    let own = "http://tape.example.org:8080";
    let foreign = "http://tape.example.org:9999";
    for headers in [
        &[][..],
        &[("origin", foreign)],
        &[("origin", "null")],
        &[("sec-fetch-site", "same-site"), ("origin", own)],
        &[("sec-fetch-site", "cross-site")],
    ] {
        send(headers).refused(403, "another site");
    }
    assert_eq!(send(&[("origin", own)]).status, 201);
    assert_eq!(send(&[("sec-fetch-site", "same-origin")]).status, 201);
}

#[test]
fn keys_that_cannot_be_used_are_refused_at_the_start() {
    let directory = archive();
    std::fs::write(directory.path().join("keys"), "{\"keys\": []}").expect("written");
    let text = format!("url = \"{AUDIENCE}\"\n[[issuer]]\nissuer = \"{ISSUER}\"\njwks_file = ");
    let token = Token::of_file(&directory.path().join("token"));
    let (token, _) = token.expect("a token");
    for (file, words) in [("keys", "no RS256 or ES256"), ("none", "No such file")] {
        let settings = ServeSettings::of(&format!("{text}\"{file}\"")).expect("settings");
        let refused = Access::of(&settings, directory.path(), &token).err();
        let said = refused.expect("refused").to_string();
        assert!(said.contains(file) && said.contains(words), "{said}");
    }
}

#[test]
fn the_example_in_the_documentation_is_good() {
    let path = tapewise_house::root().join("docs/how-to/serve.md");
    let text = std::fs::read_to_string(path).expect("the how-to");
    let mut blocks = text.split("```toml\n").skip(1);
    let example = blocks.next().and_then(|block| block.split("```").next());
    let settings = ServeSettings::of(example.expect("an example")).expect("good settings");
    assert_eq!((settings.users.len(), settings.issuers.len()), (2, 1));
    assert!(settings.tls.is_some() && settings.audit_file.is_some());
    let (written, usual) = (settings.limits, Limits::default());
    assert_eq!(format!("{written:?}"), format!("{usual:?}"));
}
