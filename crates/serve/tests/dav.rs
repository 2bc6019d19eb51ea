//! What WebDAV clients ask: properties of files and directories, at the address that also stages and reads.

use crate::desk::{Answered, Desk, archive, desk};
use tapewise_archive::catalogue::Recorded;
use tapewise_archive::record::{File, Owner, Segment, Volume, VolumeFormat, VolumeState};
use tapewise_archive::sums::{Kind, Sum};
use tapewise_serve::{Limits, ServeSettings, new_secret};

/// Enters files of one byte each on a cartridge of their own.
fn add(desk: &Desk, paths: impl Iterator<Item = Vec<u8>>) {
    let volume = Volume {
        label: "T00002L8".to_owned(),
        uuid: "two".to_owned(),
        format: VolumeFormat::Tar,
        state: VolumeState::Full,
        block_bytes: 1000,
        next_block: 2,
        written_bytes: 0,
    };
    let recorded = |path: Vec<u8>| Recorded {
        file: File {
            path,
            bytes: 1,
            modified_ns: 3,
            mode: 0o644,
            sums: vec![Sum::of(Kind::Xxh3, b"x")],
        },
        owner: Owner::default(),
        zstd_bytes: None,
        segments: vec![Segment {
            partition: 0,
            first_block: 10,
            last_block: 10,
            byte_offset: 0,
            bytes: 1,
            file_offset: 0,
            start: None,
            end: None,
        }],
    };
    let files: Vec<Recorded> = paths.map(recorded).collect();
    let added = desk.catalogue.add_recorded(&volume, &files, 5);
    added.expect("added");
}

fn ask(desk: &Desk, path: &str, depth: &str) -> Answered {
    let headers = [("authorization", &*desk.token), ("depth", depth)];
    desk.send("PROPFIND", path, &headers, "")
}

/// The addresses that an answer names.
fn addresses(answer: &Answered) -> Vec<&str> {
    assert_eq!(answer.status, 207, "{}", answer.body);
    let parts = answer.body.split("<D:href>").skip(1);
    parts
        .map(|part| part.split('<').next().expect("an address"))
        .collect()
}

#[test]
fn a_file_has_one_address_at_which_it_is_staged_looked_at_and_read() {
    let desk = desk(Limits::default());
    desk.stage(&["/d/1"]);
    desk.deliver("d/1", &[7; 100]);
    let read = desk.ask("GET", "/d/1", "");
    assert_eq!((read.status, read.body.len()), (200, 100));
    let below = desk.ask("HEAD", "/files/d/1", "");
    for name in ["etag", "digest", "last-modified"] {
        assert_eq!(read.headers[name], below.headers[name]);
    }
    for address in ["/d/1", "/files/d/1"] {
        for depth in ["0", "1"] {
            let answer = ask(&desk, address, depth);
            assert_eq!(addresses(&answer), [address]);
            for told in [
                "<D:resourcetype/>".to_owned(),
                "<D:getcontentlength>100</D:getcontentlength>".to_owned(),
                format!(
                    "<D:getetag>{}</D:getetag>",
                    read.headers["etag"].to_str().expect("text")
                ),
            ] {
                assert!(answer.body.contains(&told), "{}", answer.body);
            }
        }
    }
    // The archive has another sum of this file than the client wants.
    add(&desk, [b"e/1".to_vec()].into_iter());
    let want = |method: &str| {
        let headers = [("authorization", &*desk.token), ("want-digest", "ADLER32")];
        let answer = desk.send(method, "/e/1", &headers, "");
        let digest = answer.headers.get("digest");
        (
            answer.status,
            digest.map(|digest| digest.to_str().expect("text").to_owned()),
        )
    };
    // What is known of a file on tape is told without staging it.
    assert_eq!((want("HEAD").0, want("GET").0), (409, 409));
    let on_tape = desk.ask("HEAD", "/e/1", "");
    assert_eq!(
        (on_tape.status, &on_tape.headers["content-length"]),
        (200, &"1".parse().expect("text"))
    );
    desk.stage(&["/e/1"]);
    desk.deliver("e/1", b"x");
    assert_eq!(want("HEAD"), (200, Some("adler32=00790079".to_owned())));
    assert_eq!(want("GET"), (200, None));
    std::fs::write(desk.in_cache(desk.file("e/1")), b"y").expect("damaged");
    assert_eq!(want("HEAD"), (500, None));
    desk.ask("GET", "/d/2", "").refused(409, "Stage it first");
    desk.ask("GET", "/d/9", "")
        .refused(404, "no file or directory \"/d/9\"");
    desk.ask("PUT", "/d/1", "x").refused(405, "method");
}

#[test]
fn a_directory_shows_what_is_in_it_and_no_more() {
    let desk = desk(Limits::default());
    let many = |directory: &'static str| {
        (0..2500).map(move |number| format!("{directory}/{number:04}").into_bytes())
    };
    let others = ["e/a&b", "e/m0", "e/z/1/2", "plan/1", "top"];
    let others = others.map(|path| path.as_bytes().to_vec());
    add(&desk, many("e/m").chain(many("f")).chain(others));
    let shown = |path: &str| {
        let answer = ask(&desk, path, "1");
        let addresses = addresses(&answer).into_iter().map(str::to_owned);
        addresses.collect::<Vec<_>>()
    };
    assert_eq!(shown("/"), ["/", "/d/", "/e/", "/f/", "/plan/", "/top"]);
    assert_eq!(shown("/files")[..2], ["/files/", "/files/d/"]);
    for spelled in ["/e", "/e/"] {
        assert_eq!(
            shown(spelled),
            ["/e/", "/e/a%26b", "/e/m/", "/e/m0", "/e/z/"]
        );
    }
    let all = shown("/f");
    assert_eq!(all.len(), 2501);
    assert_eq!((&*all[1], &*all[2500]), ("/f/0000", "/f/2499"));
    let odd = shown("/d");
    assert!(odd.contains(&"/d/a%20b".to_owned()) && odd.contains(&"/d/caf%E9".to_owned()));
    assert_eq!(addresses(&ask(&desk, "/e", "0")), ["/e/"]);
    for (path, names) in [("/e", "a%26b\nm/\nm0\nz/\n"), ("/e/z/", "1/\n")] {
        let answer = desk.ask("GET", path, "");
        assert_eq!((answer.status, &*answer.body), (200, names));
        let head = desk.ask("HEAD", path, "");
        assert_eq!((head.status, &*head.body), (200, ""));
    }
    // An address is told as it was spelled: there are clients that compare it.
    assert_eq!(addresses(&ask(&desk, "/e/a&b", "1")), ["/e/a&amp;b"]);
    assert_eq!(
        addresses(&ask(&desk, "/%65/z", "1")),
        ["/%65/z/", "/%65/z/1/"]
    );
    // The page for planning has this address.
    ask(&desk, "/plan/1", "0").refused(404, "Nothing is served here");
    assert_eq!(shown("/files/plan"), ["/files/plan/", "/files/plan/1"]);
    for (path, depth, status, words) in [
        ("/e", "infinity", 403, "Depth: 0 or 1"),
        ("/nothing", "0", 404, "no file or directory"),
        ("/e/m/", "2", 403, "Depth"),
        ("/d/%00", "0", 400, "zero byte"),
    ] {
        ask(&desk, path, depth).refused(status, words);
    }
    let no_depth = desk.ask("PROPFIND", "/e", "");
    no_depth.refused(403, "Depth");
}

#[test]
fn a_user_sees_only_the_directories_that_are_allowed() {
    let (secret, hash) = new_secret();
    let settings = format!(
        "[[user]]\nname = \"ann\"\nsha256 = \"{hash}\"\nmay = \"stage\"\npaths = [\"/d\"]\n"
    );
    let settings = ServeSettings::of(&settings).expect("settings");
    let mut desk = Desk::with(archive(), &settings);
    add(&desk, [b"e/1".to_vec()].into_iter());
    desk.by(&secret);
    assert_eq!(addresses(&ask(&desk, "/d", "0")), ["/d/"]);
    for path in ["/", "/e", "/e/1", "/d/../e/1", "/nothing"] {
        ask(&desk, path, "1").refused(403, "does not allow");
    }
    let nobody = desk.send("PROPFIND", "/d", &[("depth", "0")], "");
    assert_eq!(nobody.status, 401);
}
