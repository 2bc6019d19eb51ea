//! The house rules that a compiler does not check: which crate may look at which, and that the
//! pure ones touch neither files nor clock nor terminal. ARCHITECTURE.md says why.

use std::path::{Path, PathBuf};

/// Every crate, what it may depend on inside the workspace, and whether it is pure.
const HOUSE: [(&str, &[&str], bool); 11] = [
    ("model", &[], true),
    ("order", &["model"], true),
    ("formats", &["model"], true),
    ("fit", &["model", "formats"], true),
    ("sim", &["model", "order"], true),
    ("scsi", &[], false),
    ("emulator", &["model", "scsi"], false),
    // Emulator and fit only for tests and an example: a plan runs on any transport.
    (
        "run",
        &["model", "order", "formats", "scsi", "emulator", "fit"],
        false,
    ),
    // Emulator only for tests: an archive stands on any transport.
    (
        "archive",
        &["model", "order", "formats", "scsi", "run", "emulator"],
        false,
    ),
    // Only for tests: every parser as a function of bytes.
    (
        "fuzz",
        &["model", "formats", "fit", "sim", "scsi", "archive"],
        false,
    ),
    (
        "cli",
        &[
            "model", "order", "formats", "fit", "sim", "scsi", "emulator", "run", "archive",
        ],
        false,
    ),
];

/// What a pure crate must not use: input/output, clock, environment, printing, global state.
const IMPURE: [&str; 13] = [
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::thread",
    "std::os",
    "Instant",
    "SystemTime",
    "println!",
    "eprintln!",
    "dbg!",
    "static mut",
    "thread_local!",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn manifest(name: &str) -> toml::Table {
    let path = root().join("crates").join(name).join("Cargo.toml");
    let text = std::fs::read_to_string(&path).expect("a manifest");
    toml::from_str(&text).expect("a manifest in TOML")
}

/// The workspace crates that a manifest names, development dependencies included.
fn inner_dependencies(manifest: &toml::Table) -> Vec<String> {
    ["dependencies", "dev-dependencies", "build-dependencies"]
        .iter()
        .filter_map(|section| manifest.get(*section)?.as_table())
        .flat_map(|section| section.keys())
        .filter_map(|name| name.strip_prefix("tapewise-").map(str::to_owned))
        .collect()
}

/// What a source text of a pure crate uses though it must not, tests within the file excepted.
fn impurities(source: &str) -> Vec<&'static str> {
    let code: Vec<&str> = source
        .split("#[cfg(test)]")
        .next()
        .unwrap_or_default()
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    IMPURE
        .into_iter()
        .filter(|word| code.iter().any(|line| line.contains(word)))
        .collect()
}

fn sources(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect("a directory of sources");
    entries
        .flat_map(|entry| {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                sources(&path)
            } else {
                vec![path]
            }
        })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

#[test]
fn every_crate_is_in_the_house() {
    let mut crates: Vec<String> = std::fs::read_dir(root().join("crates"))
        .expect("crates")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    crates.sort();
    let mut house: Vec<String> = HOUSE.iter().map(|(name, ..)| name.to_string()).collect();
    house.sort();
    assert_eq!(
        crates, house,
        "a new crate needs a line in HOUSE and in ARCHITECTURE.md"
    );
}

#[test]
fn no_crate_looks_the_wrong_way() {
    for (name, allowed, _) in HOUSE {
        for dependency in inner_dependencies(&manifest(name)) {
            assert!(
                allowed.contains(&dependency.as_str()),
                "{name} must not depend on {dependency}"
            );
        }
    }
}

#[test]
fn pure_crates_touch_nothing_outside() {
    for (name, _, pure) in HOUSE {
        let sources = sources(&root().join("crates").join(name).join("src"));
        // Tests of private items stand in a file of that name beside what they test.
        for path in sources.iter().filter(|path| !path.ends_with("tests.rs")) {
            let source = std::fs::read_to_string(path).expect("a source");
            let found = impurities(&source);
            assert!(!pure || found.is_empty(), "{}: {found:?}", path.display());
        }
    }
}

#[test]
fn the_checks_can_fail() {
    assert_eq!(impurities("use std::fs::File;\n"), ["std::fs"]);
    assert_eq!(
        impurities("let now = Instant::now(); println!(\"{now:?}\");"),
        ["Instant", "println!"]
    );
    assert!(impurities("// std::fs is not used\n#[cfg(test)]\nuse std::fs;\n").is_empty());
    let looks_back = toml::from_str("[dev-dependencies]\ntapewise-cli.workspace = true\n");
    assert_eq!(inner_dependencies(&looks_back.expect("TOML")), ["cli"]);
}

#[test]
fn files_fit_on_a_few_screens() {
    const MOST_LINES: usize = 600;
    for (name, ..) in HOUSE {
        for path in sources(&root().join("crates").join(name).join("src")) {
            let lines = std::fs::read_to_string(&path)
                .expect("a source")
                .lines()
                .count();
            assert!(
                lines <= MOST_LINES,
                "{} has {lines} lines: split it by idea",
                path.display()
            );
        }
    }
}
