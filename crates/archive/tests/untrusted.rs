//! Names from tapes of others: whatever they are, nothing outside of the destination changes.

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use tapewise_archive::deliver::{BadPath, DeliverError, Destination, Expected, InnerPath};
use tempfile::TempDir;

/// What is known of everything in a tree: its kind, contents, time and number.
type Tree = BTreeMap<PathBuf, (String, Vec<u8>, i64, i64, u64)>;

fn tree(directory: &Path) -> Tree {
    let mut found = Tree::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            let there = fs::symlink_metadata(&path).expect("what is there");
            let contents = match there.file_type() {
                kind if kind.is_file() => fs::read(&path).expect("a file"),
                kind if kind.is_symlink() => {
                    let target = fs::read_link(&path).expect("a link");
                    target.as_os_str().as_bytes().to_vec()
                }
                _ => Vec::new(),
            };
            if there.is_dir() {
                open.push(path.clone());
            }
            let kind = format!("{:?}", there.file_type());
            let known = (
                kind,
                contents,
                there.mtime(),
                there.mtime_nsec(),
                there.ino(),
            );
            found.insert(path, known);
        }
    }
    found
}

/// A destination in the middle of things that must not change.
struct Trap {
    outer: TempDir,
    destination: Destination,
    before: Tree,
}

impl Trap {
    /// With symbolic links in the destination that lead to what is around it.
    fn new() -> Trap {
        let outer = tempfile::tempdir().expect("a directory");
        let at = |name: &str| outer.path().join(name);
        for directory in ["inside", "inside/real", "outside", "outside/deep"] {
            fs::create_dir(at(directory)).expect("a directory");
        }
        for canary in ["canary", "outside/canary", "outside/deep/canary"] {
            fs::write(at(canary), canary).expect("a canary");
        }
        for (link, target) in [
            ("inside/absolute", at("outside")),
            ("inside/relative", "../outside".into()),
            ("inside/up", "..".into()),
            ("inside/file", "../outside/canary".into()),
            ("inside/new", "../outside/new".into()),
            ("inside/self", ".".into()),
            ("inside/loop", "loop".into()),
            ("inside/real/deep", "../../outside/deep".into()),
        ] {
            symlink(target, at(link)).expect("a link");
        }
        rustix::fs::mknodat(
            rustix::fs::CWD,
            at("inside/pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .expect("a pipe");
        let destination = Destination::open(&at("inside")).expect("a destination");
        let mut place = Trap {
            outer,
            destination,
            before: Tree::new(),
        };
        place.before = place.around();
        place
    }

    fn inside(&self) -> PathBuf {
        self.outer.path().join("inside")
    }

    /// Everything that is not below the destination.
    fn around(&self) -> Tree {
        let inside = self.inside();
        let mut around = tree(self.outer.path());
        around.retain(|path, _| !path.starts_with(&inside));
        around
    }

    /// Tries everything that can be done with a name, and compares what is around before and after.
    fn deliver(&self, name: &[u8], destination: &Destination) -> Result<(), DeliverError> {
        let delivered = deliver(name, destination);
        assert_eq!(self.around(), self.before, "{}", name.escape_ascii());
        delivered
    }
}

fn deliver(name: &[u8], destination: &Destination) -> Result<(), DeliverError> {
    let path = InnerPath::new(name)?;
    let expected = Expected::of(4);
    destination.check(&[(path.clone(), expected.clone())])?;
    let mut delivery = destination.begin(&path, expected.clone())?;
    delivery.write(b"evil")?;
    delivery.finish()?;
    destination.presence(&path, &expected)?;
    let below = InnerPath::new([name, b".d/new/sub"].concat())?;
    destination.make_directory(&below)
}

#[test]
fn paths_that_climb_out_are_refused() {
    let place = Trap::new();
    for name in [
        "..",
        "../canary",
        "../new",
        "a/../../canary",
        "real/../../outside/canary",
        "a/..",
        "./..",
        "./../canary",
        "/etc/passwd",
        "/",
        "//server/share",
        "",
        ".",
        "./",
        "a//b",
        "a/",
        "a\0b",
        "canary\0",
    ] {
        let refused = place.deliver(name.as_bytes(), &place.destination);
        assert!(matches!(refused, Err(DeliverError::BadPath(_))), "{name:?}");
    }
}

#[test]
fn links_in_the_destination_are_never_followed() {
    let place = Trap::new();
    let replacing = place.destination.clone().replacing();
    for name in [
        "absolute/canary",
        "absolute/new",
        "relative/canary",
        "relative/deep/canary",
        "up/canary",
        "up/inside/file",
        "self/fine",
        "loop/x",
        "real/deep/canary",
        "real/deep/new",
        "pipe/x",
    ] {
        for destination in [&place.destination, &replacing] {
            let refused = place.deliver(name.as_bytes(), destination);
            let in_the_way = matches!(refused, Err(DeliverError::InTheWay { .. }));
            assert!(in_the_way, "{name}: {refused:?}");
        }
    }
    for name in ["absolute", "relative", "file", "new", "loop", "pipe"] {
        let refused = place.deliver(name.as_bytes(), &place.destination);
        let exists = matches!(refused, Err(DeliverError::Exists { .. }));
        assert!(exists, "{name}: {refused:?}");
    }
    // Where it is told to replace, the link itself makes way, not what it points to.
    for name in ["file", "new", "absolute"] {
        place
            .deliver(name.as_bytes(), &replacing)
            .expect("replaced");
        let there = fs::symlink_metadata(place.inside().join(name)).expect("a file");
        assert!(there.is_file(), "{name}");
    }
}

#[test]
fn nothing_but_files_and_directories_is_ever_made() {
    let place = Trap::new();
    let count = || {
        let all = tree(&place.inside());
        let special = |path: &&PathBuf| {
            let kind = fs::symlink_metadata(path)
                .expect("what is there")
                .file_type();
            kind.is_symlink() || kind.is_fifo() || kind.is_socket() || kind.is_char_device()
        };
        all.keys().filter(special).count()
    };
    let before = count();
    for name in ["dev/null", "dev/sda", "a", "b/c"] {
        place
            .deliver(name.as_bytes(), &place.destination)
            .expect("delivered");
    }
    assert_eq!(count(), before);
    let all = tree(&place.inside());
    let links = |path: &PathBuf| fs::symlink_metadata(path).expect("what is there");
    for path in all.keys().filter(|path| links(path).is_file()) {
        assert_eq!(links(path).nlink(), 1, "{}", path.display());
        assert_eq!(links(path).mode() & 0o7000, 0, "{}", path.display());
    }
}

#[test]
fn strange_names_are_kept_byte_for_byte() {
    let place = Trap::new();
    for name in [
        &b"two\nlines"[..],
        b"\xff\xfe not text",
        b"\x1b[2J escape",
        b"-rf",
        b"~",
        b"$(reboot)",
        b"back\\slash",
        b"...",
        b".hidden",
        b" ",
        b"sub/\xe9\n/..x",
        "r\u{e9}el \u{202e}gpj".as_bytes(),
    ] {
        place.deliver(name, &place.destination).expect("delivered");
        let there = place.inside().join(OsStr::from_bytes(name));
        assert_eq!(fs::read(there).expect("a file"), b"evil");
    }
}

#[test]
fn errors_do_not_print_what_a_terminal_would_obey() {
    let error: BadPath = InnerPath::new(b"/\x1b]0;owned\x07\n\xff").expect_err("absolute");
    let text = error.to_string();
    assert!(
        text.chars().all(|character| !character.is_control()),
        "{text:?}"
    );
    let long = InnerPath::new("/x".repeat(1 << 20)).expect_err("absolute");
    assert!(long.to_string().len() < 1000);
}

/// Parts that lead somewhere, or try to.
fn part() -> impl Strategy<Value = Vec<u8>> {
    let known: Vec<&[u8]> = vec![
        b"..",
        b".",
        b"",
        b"absolute",
        b"relative",
        b"up",
        b"self",
        b"loop",
        b"real",
        b"deep",
        b"file",
        b"new",
        b"pipe",
        b"canary",
        b"outside",
        b"inside",
        b"\0",
        b"..\n",
        b"\xff",
    ];
    prop_oneof![
        4 => proptest::sample::select(known).prop_map(<[u8]>::to_vec),
        1 => proptest::collection::vec(any::<u8>(), 0..6),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Nothing around the destination changes, whatever the name, whether it replaces or not.
    #[test]
    fn nothing_outside_is_ever_written(
        parts in proptest::collection::vec(part(), 1..6),
        replaces in any::<bool>(),
    ) {
        let place = Trap::new();
        let name = parts.join(&b'/');
        let destination = if replaces { place.destination.clone().replacing() } else { place.destination.clone() };
        let delivered = place.deliver(&name, &destination);
        let climbs = parts.iter().any(|part| part.split(|&b| b == b'/').any(|part| part == b".."));
        prop_assert!(!(climbs && delivered.is_ok()));
    }
}
