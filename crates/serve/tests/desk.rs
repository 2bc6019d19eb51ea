//! A service without a socket and without a drive, and clients of it: what a mover does is done by hand.

use axum::body::Body;
use axum::http::{HeaderMap, Request, header};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use tapewise_archive::catalogue::{Answer, CacheKey, Catalogue, FileId, Recorded};
use tapewise_archive::mover::Settings;
use tapewise_archive::open::Archive;
use tapewise_archive::record::{File, Owner, Segment, Volume, VolumeFormat, VolumeState};
use tapewise_archive::settings::ArchiveSettings;
use tapewise_archive::sums::Sum;
use tapewise_model::profile;
use tapewise_serve::{Access, Limits, Parts, ServeSettings, Service, Site, Token, Work, router};
use tower::ServiceExt as _;

pub const NOW_S: i64 = 1_700_000_000;
pub const NS: i64 = 1_000_000_000;

/// An archive with five files of 100 bytes on tape and an empty one, and its service.
pub struct Desk {
    pub directory: tempfile::TempDir,
    pub catalogue: Arc<dyn Catalogue>,
    pub token: String,
    pub router: axum::Router,
    pub service: Arc<Service>,
    pub work: Arc<Work>,
}

pub struct Answered {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

impl Answered {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// An error as RFC 7807 wants it, with these words.
    pub fn refused(&self, status: u16, words: &str) {
        assert_eq!(self.status, status, "{}", self.body);
        assert_eq!(
            self.headers[header::CONTENT_TYPE],
            "application/problem+json"
        );
        let problem = self.json();
        assert_eq!(problem["status"], status);
        assert!(problem["title"].is_string());
        let detail = problem["detail"].as_str().expect("a detail");
        assert!(detail.contains(words), "{words:?} not in {detail:?}");
    }
}

pub fn desk(limits: Limits) -> Desk {
    Desk::open(archive(), limits)
}

/// A directory with an archive.
pub fn archive() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = ArchiveSettings {
        drives: vec!["/dev/sg0".to_owned()],
        changers: vec!["/dev/sg1".to_owned()],
        profile: "lto8".to_owned(),
        copies: 1,
        cache_high_bytes: 1 << 30,
        cache_low_bytes: 1 << 29,
        block_bytes: 8192,
        segment_bytes: 1 << 20,
        part_bytes: 1 << 30,
        group_by: Default::default(),
        open_volumes: 1,
        volume_bytes: None,
        zstd_level: None,
        batch_window_s: None,
        catalogue: None,
        mounts: Default::default(),
        policy_file: None,
        tiers: Vec::new(),
    };
    let archive = Archive::create(&directory.path().join("A"), &settings).expect("an archive");
    let volume = Volume {
        label: "T00001L8".to_owned(),
        uuid: "one".to_owned(),
        format: VolumeFormat::Tar,
        state: VolumeState::Full,
        block_bytes: 1000,
        next_block: 2,
        written_bytes: 0,
    };
    let sum = |text: &str| text.parse::<Sum>().expect("a sum");
    let sums = ["adler32:0a0b0c0d", "md5:000102030405060708090a0b0c0d0e0f"]
        .map(sum)
        .to_vec();
    let recorded = |(block, path): (u64, &[u8])| {
        let bytes = match path {
            b"d/empty" => 0,
            b"d/long" => LONG_BYTES as u64,
            _ => 100,
        };
        Recorded {
            file: File {
                path: path.to_vec(),
                bytes,
                modified_ns: 3,
                mode: 0o644,
                sums: sums.clone(),
            },
            owner: Owner::default(),
            zstd_bytes: None,
            segments: vec![Segment {
                partition: 0,
                first_block: block,
                last_block: block,
                byte_offset: 0,
                bytes,
                file_offset: 0,
                start: None,
                end: None,
            }],
        }
    };
    let paths = ["d/1", "d/2", "d/3", "d/a b", "d/5", "d/empty", "d/long"];
    let paths = paths.map(str::as_bytes).into_iter();
    let paths = paths.chain([b"d/caf\xe9".as_slice()]);
    let files: Vec<Recorded> = (10..).zip(paths).map(recorded).collect();
    let added = archive.catalogue.add_recorded(&volume, &files, 5);
    added.expect("added");
    archive.cache().expect("a cache that belongs to it");
    directory
}

/// The length of `d/long`: several pieces of an answer.
pub const LONG_BYTES: usize = 5_000_000;

impl Desk {
    pub fn open(directory: tempfile::TempDir, limits: Limits) -> Desk {
        let settings = ServeSettings {
            limits,
            ..ServeSettings::default()
        };
        Desk::with(directory, &settings)
    }

    /// As `serve.toml` says it, whose files lie in the directory.
    pub fn with(directory: tempfile::TempDir, settings: &ServeSettings) -> Desk {
        let path = directory.path().join("token");
        let (token, _) = Token::of_file(&path).expect("a token");
        let archive = Archive::open(&directory.path().join("A")).expect("an archive");
        let catalogue = Arc::clone(&archive.catalogue);
        let site = Site {
            name: "EXAMPLE <SITE>".to_owned(),
            url: None,
            is_encrypted: settings.tls.is_some(),
            planner: Some(b"<!doctype html><title>plan</title>"),
        };
        let access = Access::of(settings, directory.path(), &token).expect("users");
        let in_directory = |name: &std::path::PathBuf| directory.path().join(name);
        let work = Arc::new(Work::default());
        let mut on_paper = Settings::of(profile::find("lto8").expect("a profile"));
        on_paper.mounts = archive.settings.mounts.clone();
        let service = Arc::new(Service::new(Parts {
            archive,
            on_paper,
            access,
            site,
            limits: settings.limits,
            audit_file: settings.audit_file.as_ref().map(in_directory),
            now_ns: || NOW_S * NS,
            work: Arc::clone(&work),
            tracer: None,
        }));
        let text = std::fs::read_to_string(path).expect("a token");
        Desk {
            token: format!("Bearer {}", text.trim()),
            directory,
            catalogue,
            router: router(Arc::clone(&service)),
            service,
            work,
        }
    }

    /// The same for somebody else from now on.
    pub fn by(&mut self, token: &str) {
        self.token = format!("Bearer {token}");
    }

    /// A request to the API.
    pub fn get(&self, path: &str) -> Request<Body> {
        let request = Request::builder().uri(path);
        let request = request.header(header::HOST, "tape.example.org:8080");
        let request = request.header(header::AUTHORIZATION, &self.token);
        request.body(Body::empty()).expect("a request")
    }

    pub fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Answered {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.header(header::HOST, "tape.example.org:8080");
        let request = request.body(body.into()).expect("a request");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build();
        runtime.expect("a runtime").block_on(async {
            let response = self.router.clone().oneshot(request).await;
            let (head, body) = response.expect("an answer").into_parts();
            let body = axum::body::to_bytes(body, 1 << 26).await.expect("a body");
            Answered {
                status: head.status.as_u16(),
                headers: head.headers,
                body: String::from_utf8(body.to_vec()).expect("text"),
            }
        })
    }

    pub fn ask(&self, method: &str, path: &str, body: impl Into<Body>) -> Answered {
        self.send(method, path, &[("authorization", &self.token)], body)
    }

    pub fn post(&self, path: &str, body: impl Into<Body>) -> Answered {
        self.ask("POST", &format!("/tape/v1/{path}"), body)
    }

    /// Stages files, and returns the request's id.
    pub fn stage(&self, paths: &[&str]) -> String {
        let answer = self.post("stage", files(paths));
        assert_eq!(answer.status, 201, "{}", answer.body);
        answer.json()["requestId"]
            .as_str()
            .expect("an id")
            .to_owned()
    }

    /// The files of a poll: `path STATE`, and the error after it.
    pub fn poll(&self, id: &str) -> Vec<String> {
        let answer = self.ask("GET", &format!("/tape/v1/stage/{id}"), "");
        assert_eq!(answer.status, 200, "{}", answer.body);
        let answer = answer.json();
        let files = answer["files"].as_array().expect("files").iter();
        let line = |file: &Value| {
            assert!(file.get("onDisk").is_none(), "either state or onDisk");
            let text = |key: &str| file[key].as_str().expect(key).to_owned();
            let error = file.get("error").map(|_| format!(": {}", text("error")));
            format!(
                "{} {}{}",
                text("path"),
                text("state"),
                error.unwrap_or_default()
            )
        };
        files.map(line).collect()
    }

    pub fn file(&self, path: impl AsRef<[u8]>) -> FileId {
        let file = self.catalogue.live_file(path.as_ref());
        file.expect("a catalogue").expect("a file")
    }

    /// Where the contents of a file that was delivered are.
    pub fn in_cache(&self, file: FileId) -> PathBuf {
        let cache = self.directory.path().join("A/cache");
        cache.join(format!("{:02x}/{:016x}", file.0 & 0xff, file.0))
    }

    /// What a mover does: the file comes into the cache, and its recall is answered.
    pub fn deliver(&self, path: impl AsRef<[u8]>, contents: &[u8]) {
        let file = self.file(path);
        let open = self.catalogue.unanswered().expect("a catalogue");
        let request = open.iter().find(|open| open.file == file).expect("asked");
        let key = CacheKey(file.0 as u64);
        let place = self.in_cache(file);
        std::fs::create_dir_all(place.parent().expect("a directory")).expect("made");
        std::fs::write(place, contents).expect("written");
        let at_ns = (NOW_S + 60) * NS;
        self.catalogue.start(&[request.id], at_ns).expect("started");
        let bytes = contents.len() as u64;
        let staged = self.catalogue.stage_cached(key, file, bytes, at_ns);
        staged.expect("in the cache");
        let answered = self.catalogue.answer(request.id, &Answer::Delivered, at_ns);
        answered.expect("answered");
    }

    pub fn pinned(&self) -> u64 {
        let holds = self.catalogue.cache_holds(NOW_S * NS);
        holds.expect("a catalogue").pinned_files
    }

    pub fn open_recalls(&self) -> usize {
        let all = self.catalogue.unanswered().expect("a catalogue");
        let counted = self.catalogue.open_recalls().expect("a catalogue");
        let open = counted.queued + counted.held + counted.started;
        assert_eq!(open, all.len() as u64);
        let oldest_ns = all.iter().map(|request| request.created_ns).min();
        assert_eq!(counted.oldest_ns, oldest_ns);
        all.len()
    }
}

pub fn files(paths: &[&str]) -> String {
    let files: Vec<Value> = paths.iter().map(|path| json!({ "path": path })).collect();
    json!({ "files": files }).to_string()
}

pub fn paths(paths: &[&str]) -> String {
    json!({ "paths": paths }).to_string()
}
