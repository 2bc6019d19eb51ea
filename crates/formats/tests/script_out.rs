//! Copy scripts, run with the shell of this machine.
#![cfg(unix)]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;
use tapewise_formats::script_out::{ScriptOptions, write_quoted, write_script};

/// A directory of our own that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("tapewise-script-{}-{n}", std::process::id()));
        fs::create_dir_all(path.join("src")).unwrap();
        Scratch(path)
    }

    fn put(&self, name: &[u8]) {
        let path = self.0.join("src").join(OsStr::from_bytes(name));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    }

    fn got(&self, name: &[u8]) -> Option<Vec<u8>> {
        fs::read(self.0.join("out dir").join(OsStr::from_bytes(name))).ok()
    }

    /// What stands in the destination under a temporary name.
    fn parts(&self) -> Vec<PathBuf> {
        let all = fs::read_dir(self.0.join("out dir")).unwrap();
        let paths = all.map(|entry| entry.unwrap().path());
        let is_part = |path: &PathBuf| path.to_string_lossy().contains(".tapewise-part");
        paths.filter(is_part).collect()
    }

    fn options(&self) -> ScriptOptions {
        let at = |name: &str| self.0.join(name).as_os_str().as_bytes().to_vec();
        ScriptOptions {
            source: at("src"),
            destination: at("out dir"),
            comments: vec!["a plan\ntouch pwned".to_string()],
        }
    }

    fn run(&self, names: &[&[u8]], given: &[&str]) -> Output {
        let mut script = Vec::new();
        write_script(&mut script, names, &self.options()).unwrap();
        let path = self.0.join("copy.sh");
        fs::write(&path, script).unwrap();
        Command::new("sh")
            .arg(&path)
            .args(given)
            .current_dir(&self.0)
            .output()
            .unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const HOSTILE: &[&[u8]] = &[
    b"plain",
    b"-rf",
    b"--",
    b"-d/-e",
    b"with space/and tab\t",
    b"it's/'quoted'/''",
    b"new\nline\n",
    b"$(touch pwned)`touch pwned`",
    b"*?[a]~#!&;|<>(){}\\\"%s%n",
    b"not utf8 \xff\xfe\x80",
    "é/日本".as_bytes(),
    b" ",
    b"cr\r",
    b"(",
    b"=",
];

#[test]
fn hostile_names_are_copied_and_nothing_else_happens() {
    let scratch = Scratch::new();
    HOSTILE.iter().for_each(|name| scratch.put(name));
    let done = scratch.run(HOSTILE, &[]);
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    for name in HOSTILE {
        assert_eq!(
            scratch.got(name).as_deref(),
            Some(*name),
            "{}",
            String::from_utf8_lossy(name)
        );
    }
    assert!(!Path::new(&scratch.0.join("pwned")).exists());
    assert!(scratch.parts().is_empty());
}

#[test]
fn a_file_named_like_the_temporary_one_is_copied_too() {
    let names: [&[u8]; 4] = [b"d/.tapewise-part", b"d/a", b".tapewise-part--/b", b"c"];
    let scratch = Scratch::new();
    names.iter().for_each(|name| scratch.put(name));
    // Written by another script into the same directory.
    scratch.put(b"d/other");
    assert!(scratch.run(&[b"d/.tapewise-part"], &[]).status.success());
    assert!(scratch.run(&[b"d/other"], &[]).status.success());
    assert!(scratch.run(&names, &["--continue"]).status.success());
    for name in names {
        assert_eq!(scratch.got(name).as_deref(), Some(name));
    }
}

#[test]
fn a_copy_that_fails_leaves_no_part() {
    let scratch = Scratch::new();
    scratch.put(b"a");
    let mut script = b"mv() { return 1; }\n".to_vec();
    write_script(&mut script, [b"a"], &scratch.options()).unwrap();
    let run = Command::new("sh")
        .arg("-c")
        .arg(OsStr::from_bytes(&script))
        .output();
    assert_eq!(run.unwrap().status.code(), Some(1));
    assert!(scratch.parts().is_empty());
}

#[test]
fn a_file_that_is_there_stops_the_script_and_stays_as_it_is() {
    let scratch = Scratch::new();
    ["a", "b", "c"]
        .iter()
        .for_each(|name| scratch.put(name.as_bytes()));
    fs::create_dir_all(scratch.0.join("out dir")).unwrap();
    fs::write(scratch.0.join("out dir/b"), "mine").unwrap();
    let names: [&[u8]; 3] = [b"a", b"b", b"c"];
    let done = scratch.run(&names, &[]);
    assert_eq!(done.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&done.stderr).contains("already there, not overwritten, stopped")
    );
    assert_eq!(scratch.got(b"a").as_deref(), Some(&b"a"[..]));
    assert_eq!(scratch.got(b"b").as_deref(), Some(&b"mine"[..]));
    assert_eq!(scratch.got(b"c"), None);

    let done = scratch.run(&names, &["--continue"]);
    assert!(done.status.success());
    assert_eq!(scratch.got(b"b").as_deref(), Some(&b"mine"[..]));
    assert_eq!(scratch.got(b"c").as_deref(), Some(&b"c"[..]));
    for given in [&["--resume"][..], &["--continue", "x"], &[""]] {
        assert_eq!(scratch.run(&names, given).status.code(), Some(2));
    }
}

#[test]
fn the_first_error_stops_the_script() {
    let scratch = Scratch::new();
    scratch.put(b"b");
    let done = scratch.run(&[b"missing", b"b"], &[]);
    assert!(!done.status.success());
    assert_eq!(scratch.got(b"b"), None);
}

#[test]
fn names_that_leave_the_destination_are_refused() {
    let options = ScriptOptions {
        source: b"src".to_vec(),
        destination: b"/".to_vec(),
        ..ScriptOptions::default()
    };
    for (name, expected) in [
        (&b"../a"[..], "would leave the destination"),
        (b"a/..", "would leave the destination"),
        (b"/etc/passwd", "it is absolute"),
        (b"", "it is empty"),
        (b"a\0b", "zero byte"),
        (b"a/", "it is a directory"),
    ] {
        let error = write_script(&mut Vec::new(), [name], &options)
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{error}");
    }
    let mut script = Vec::new();
    write_script(&mut script, ["a..b", "...", "x/y"], &options).unwrap();
    let script = String::from_utf8(script).unwrap();
    assert!(script.ends_with(
        "copy 'src/a..b' '/a..b' '/'\ncopy 'src/...' '/...' '/'\ncopy 'src/x/y' '/x/y' '/x'\n"
    ));
    let nowhere = ScriptOptions::default();
    assert!(write_script(&mut Vec::new(), ["a"], &nowhere).is_err());
}

#[test]
fn the_script_is_as_recorded() {
    let options = ScriptOptions {
        source: b"/mnt/ltfs".to_vec(),
        destination: b"out".to_vec(),
        comments: vec!["order best/1, seed 1".to_string()],
    };
    let mut script = Vec::new();
    write_script(&mut script, ["d/it's.mov"], &options).unwrap();
    insta::assert_snapshot!(String::from_utf8(script).unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn quoted_bytes_come_back_from_the_shell(
        texts in prop::collection::vec(prop::collection::vec(1..=255_u8, 0..40), 1..20)
    ) {
        let mut script = b"printf '%s\\0'".to_vec();
        let mut expected = Vec::new();
        for text in &texts {
            script.push(b' ');
            write_quoted(&mut script, text).unwrap();
            expected.extend_from_slice(text);
            expected.push(0);
        }
        let done = Command::new("sh").arg("-c").arg(OsStr::from_bytes(&script)).output().unwrap();
        prop_assert_eq!(done.stdout, expected);
    }
}
