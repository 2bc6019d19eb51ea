//! The binary interface is the recorded one, as `abidiff` (Debian's abigail-tools) compares it: functions, arguments,
//! layout of structs, name and versions. Without the tool the test says what it skips.
//!
//! What is compared is a stand-in: a C library with the header's functions, which are empty. `header.rs` holds the header
//! to the source and `programs.rs` the symbols to the library, so nothing is missing, and no debug build is needed. After
//! a release record its interface: `TAPEWISE_WRITE_ABI=1 cargo test -p tapewise-capi --test abi`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn include() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("include")
}

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("abi/libtapewise.so.0.abi")
}

fn output(command: &mut Command) -> Output {
    let done = command.output();
    done.unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

fn has_tools() -> bool {
    let missing = ["cc", "abidw", "abidiff"].into_iter().find(|tool| {
        let asked = Command::new(tool).arg("--version").output();
        !asked.is_ok_and(|got| got.status.success())
    });
    if let Some(tool) = missing {
        eprintln!("SKIPPED: the binary interface beside the recorded one: there is no {tool}");
    }
    missing.is_none()
}

/// A library with the functions of this header.
fn stand_in(header: &str, name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&directory).expect("a directory");
    let (_, declarations) = header.split_once("extern \"C\" {").expect("functions");
    let is_code = |line: &&str| !line.starts_with(['#', '}', '/']);
    let declarations: Vec<&str> = declarations.lines().filter(is_code).collect();
    let bodies = declarations
        .join("\n")
        .replace(");", ") { __builtin_trap(); }");
    std::fs::write(directory.join("tapewise.h"), header).expect("written");
    let source = format!("#include \"tapewise.h\"\n{bodies}\n");
    std::fs::write(directory.join("functions.c"), source).expect("written");
    let version_script = include().join("tapewise.map");
    let made = output(
        Command::new("cc")
            .current_dir(&directory)
            .args(["-g", "-shared", "-fPIC", "-o", "libtapewise.so.0"])
            .args(["functions.c", "-Wl,-soname,libtapewise.so.0"])
            .arg(format!("-Wl,--version-script={}", version_script.display())),
    );
    assert!(made.status.success(), "{made:?}");
    directory.join("libtapewise.so.0")
}

fn differences(library: &Path) -> Output {
    output(Command::new("abidiff").arg(recorded()).arg(library))
}

#[test]
fn the_interface_is_the_recorded_one() {
    if !has_tools() {
        return;
    }
    let header = std::fs::read_to_string(include().join("tapewise.h")).expect("the header");
    let library = stand_in(&header, "abi");
    if std::env::var_os("TAPEWISE_WRITE_ABI").is_some() {
        let written = output(
            Command::new("abidw")
                .args(["--no-corpus-path", "--no-comp-dir-path", "--no-show-locs"])
                .arg("--out-file")
                .arg(recorded())
                .arg(&library),
        );
        assert!(written.status.success(), "{written:?}");
    }
    let found = differences(&library);
    let text = String::from_utf8_lossy(&found.stdout);
    assert!(found.status.success(), "{text}{found:?}");
}

#[test]
fn a_changed_interface_is_found() {
    if !has_tools() {
        return;
    }
    let header = std::fs::read_to_string(include().join("tapewise.h")).expect("the header");
    let changes = [
        ("uint32_t layout", "uint64_t layout", "an argument"),
        ("int64_t worst_us;", "int32_t worst_us;", "a field"),
        (
            "tapewise_batch_free(",
            "tapewise_batch_close(",
            "a function",
        ),
    ];
    for (number, (was, is, what)) in changes.into_iter().enumerate() {
        assert!(header.contains(was), "{was}");
        let library = stand_in(&header.replace(was, is), &format!("abi-{number}"));
        assert!(!differences(&library).status.success(), "{what}: {was}");
    }
}
