//! `emulate --ltfs` and `--fill`: cartridges that hold something before anybody touches them.

use crate::archive::{make_files_of, same};
use crate::program::Desk;
use tapewise_emulator::{Faults, made_up};
use tapewise_formats::ltfs_index::{LtfsFile, read_ltfs_index};
use tapewise_house::ltfs_tape;

#[test]
fn the_files_of_a_directory_come_back_from_the_volume_made_of_it() {
    let desk = Desk::new();
    let mut files = make_files_of(&desk, "reel", 8, 1_500_000);
    desk.put("reel/a: b & ü.txt", "odd");
    files.insert("reel/a: b & ü.txt".to_owned(), b"odd".to_vec());
    std::fs::create_dir_all(desk.path().join("reel/x/y")).expect("a directory");
    desk.put("reel/x/y/z", "deep");
    files.insert("reel/x/y/z".to_owned(), b"deep".to_vec());
    let made = desk.done("emulate lib --ltfs reel");
    assert!(made.err.contains("TW0001: LTFS volume "), "{}", made.err);
    assert!(made.err.contains("with 10 files"), "{}", made.err);
    let ran = desk.done("recall --ltfs emulated:lib --to out/reel --all-files");
    assert!(!ran.err.contains("warning"), "a sound volume: {}", ran.err);
    same(&desk, &files, "out");
    assert!(ran.err.contains("TW0001 (TW0001, "), "{}", ran.err);
}

/// What a file of an index consists of when its data was made up by this seed.
fn content(file: &LtfsFile, seed: u32) -> Vec<u8> {
    const BLOCK: u64 = 524_288;
    let mut content = vec![0; file.length as usize];
    for extent in &file.extents {
        let into = &mut content[extent.file_offset as usize..][..extent.byte_count as usize];
        let mut block = vec![0; BLOCK as usize];
        for (at, byte) in into.iter_mut().enumerate() {
            let from_start = extent.byte_offset + at as u64;
            if at == 0 || from_start.is_multiple_of(BLOCK) {
                made_up(seed, extent.start_block + from_start / BLOCK, &mut block);
            }
            *byte = block[(from_start % BLOCK) as usize];
        }
    }
    content
}

#[test]
fn an_index_becomes_a_volume_whose_files_lie_where_it_says() {
    for (name, wanted) in [
        ("TST001-20files.xml", 20),
        ("lto8-36files.xml", 36),
        ("TST002-gen4-3001files-3302extents.xml", 25),
    ] {
        let desk = Desk::new();
        let xml = std::fs::read(ltfs_tape::fixture(name)).expect("the fixture");
        desk.put("index.xml", &xml);
        desk.done("emulate lib --ltfs index.xml --seed 7");
        let (_, files) = read_ltfs_index(&xml[..]).expect("an index");
        let ordinary = files.iter().filter(|file| file.symlink.is_none());
        let step = files.len() / wanted;
        let chosen: Vec<&LtfsFile> = ordinary.step_by(step.max(1)).collect();
        let names: String = chosen
            .iter()
            .map(|file| format!("{}\n", file.path))
            .collect();
        desk.put("list.txt", names);
        desk.done("recall --ltfs emulated:lib --to out --files-from list.txt");
        for file in chosen {
            let path = desk.path().join("out").join(file.path.to_string());
            let bytes = std::fs::read(path).expect("a file that arrived");
            assert!(bytes == content(file, 7), "{name}: {}", file.path);
        }
        let order = desk.done("order --ltfs-index index.xml --files-from list.txt --profile lto8");
        assert!(!order.out.is_empty());
    }
}

#[test]
fn volumes_of_a_library_are_added_to_an_archive_and_recalled_from_it() {
    let desk = Desk::new();
    let files = make_files_of(&desk, "reel", 5, 40_000);
    let index = std::fs::read(ltfs_tape::fixture("lto8-36files.xml")).expect("the fixture");
    desk.put("TW0002.xml", &index);
    desk.done(
        "emulate lib --robot ibm3584 --drives 1 --slots 8 --cartridges 4 --ltfs reel --ltfs TW0002.xml --fill 1GB",
    );
    desk.done("library mount emulated:lib TW0001");
    desk.done("drive load emulated:lib#drive0");
    desk.done("recall --ltfs emulated:lib#drive0 --to one/reel --all-files");
    same(&desk, &files, "one");
    desk.done("drive unload emulated:lib#drive0");
    desk.done("library dismount emulated:lib TW0001");
    desk.done(
        "catalog init A --drive emulated:lib#drive0 --changer emulated:lib#changer --profile lto8",
    );
    let added = desk.done("catalog add --archive A TW0002.xml");
    assert!(added.text().contains("TW0002: "), "{}", added.text());
    let (_, listed) = read_ltfs_index(&index[..]).expect("an index");
    let file = listed
        .iter()
        .find(|file| file.length > 0 && file.symlink.is_none());
    let file = file.expect("a file with data");
    let name = format!("TW0002/{}", file.path);
    desk.done_with(format!("{name}\n"), "recall --archive A --to two");
    let bytes = std::fs::read(desk.path().join("two").join(&name)).expect("delivered");
    assert!(bytes == content(file, 2), "{name}");
}

#[test]
fn a_filled_cartridge_is_mapped_and_measured() {
    let desk = Desk::new();
    let made = desk.done("emulate lib --fill 3TB --scale 10000 --fill-block-size 65536");
    assert!(
        made.err.contains("TW0001: 4577 blocks of 65536 bytes"),
        "{}",
        made.err
    );
    desk.done("drive map emulated:lib -o a.map");
    let data = std::fs::metadata(desk.path().join("lib/cartridges/TW0001/0.data")).expect("a file");
    assert_eq!(data.len(), 4577 << 16);
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::MetadataExt;
        assert!(data.blocks() < 100, "it takes no room: {}", data.blocks());
    }
    desk.done("measure emulated:lib -o log.jsonl --only mount,seek-mid");
    // More than a cartridge holds is a full one.
    let made = desk.done("emulate full --fill 100TB --scale 10000 --drive lto5");
    assert!(
        made.err.contains(" blocks of 1048576 bytes"),
        "{}",
        made.err
    );
}

#[test]
fn what_cannot_be_made_is_refused_and_says_why() {
    let desk = Desk::new();
    make_files_of(&desk, "reel", 2, 1000);
    desk.put("no.xml", "<html>");
    for (line, words) in [
        ("emulate lib --ltfs nowhere", &["nowhere"][..]),
        ("emulate lib --ltfs no.xml", &["no.xml"]),
        ("emulate lib --fill much", &["512KiB or 2TB"]),
        ("emulate lib --fill-block-size 100", &["--fill"]),
        (
            "emulate lib --robot ibm3584 --cartridges 1 --ltfs reel --fill 1GB",
            &["need 2 cartridges", "--cartridges"],
        ),
    ] {
        desk.refused(line, words);
        assert!(!desk.path().join("lib/library.toml").exists(), "{line}");
    }
    let old = desk.run("emulate old --drive dlt4000 --ltfs reel");
    assert_ne!(old.code, 0);
    assert!(old.err.contains("make no partitions"), "{}", old.err);
    assert!(
        !desk.path().join("old").exists(),
        "nothing half made is left"
    );
    desk.done("emulate there");
    desk.refused(
        "emulate there --iscsi 127.0.0.1:0 --fill 1GB",
        &["the library is there already"],
    );
}

#[test]
fn the_page_of_the_emulator_names_every_fault_and_its_example_is_good() {
    let path = tapewise_house::root().join("docs/reference/emulator.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let (_, section) = page.split_once("## Faults\n").expect("a section");
    let mut blocks = section.split("```toml\n").skip(1);
    let example = blocks.next().and_then(|block| block.split("```").next());
    let example: toml::Table = toml::from_str(example.expect("an example")).expect("TOML");
    let read: Result<Faults, _> = example["faults"].clone().try_into();
    let read = read.expect("faults");
    assert_eq!((read.bad_blocks.len(), read.broken_drives.len()), (1, 1));
    // All fields, so that a new one does not compile without being named here, and on the page.
    let all = Faults {
        seed: 1,
        bad_block: 0.5,
        bad_blocks: Vec::new(),
        bad_write: 0.5,
        reset: 0.5,
        not_ready: 0.5,
        not_ready_s: 1.0,
        broken_drives: Vec::new(),
        power_loss: 0.5,
        robot_error: 0.5,
        dropped: 0.5,
        cleaning_after_m: Some(1.0),
        missing_commands: Vec::new(),
        attention: 0.5,
        slow_load_s: 1.0,
        no_drive_serials: true,
        element_status_cut_bytes: 1,
        write_protected: Vec::new(),
        full_after_bytes: Some(1),
        worm: Vec::new(),
        adapter_bytes: Some(1),
        adapter_segments: Some(1),
        no_residue: true,
        sense_stays: true,
        late_attentions: true,
        reserved_by: Some("1".to_owned()),
        reserved_drive: Some("TWD0000001".to_owned()),
    };
    for key in toml::Table::try_from(&all).expect("a table").keys() {
        assert!(section.contains(&format!("`{key}`")), "{key}");
    }
}

/// Directories that were not there are not there afterwards, and one that was empty still is.
#[test]
fn what_is_refused_leaves_nothing_behind() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = taken.local_addr().expect("an address");
    let too_large = "L --drive lto8 --ltfs reel --scale 100000000000000";
    let in_use = format!("L --iscsi {taken}");
    for line in [
        "L --robot ibm3584 --slots 5 --cartridges 10",
        "L --iscsi 127.0.0.1:0 --commands none/x",
        too_large,
        &in_use,
    ] {
        let desk = Desk::new();
        make_files_of(&desk, "reel", 1, 10);
        for directory in ["L", "new/deep/L"] {
            let line = line.replacen('L', directory, 1);
            let ran = desk.run(&format!("emulate {line}"));
            assert!([1, 2].contains(&ran.code), "{line}: {}", ran.err);
            assert!(!ran.err.contains("of kind"), "{line}: {}", ran.err);
            assert!(!desk.path().join("L").exists(), "{line}");
            assert!(!desk.path().join("new").exists(), "{line}");
        }
        std::fs::create_dir(desk.path().join("L")).expect("a directory");
        desk.run(&format!("emulate {line}"));
        let left = std::fs::read_dir(desk.path().join("L")).expect("it is there");
        assert_eq!(left.count(), 0, "{line}");
    }
    let desk = Desk::new();
    std::fs::create_dir(desk.path().join("mine")).expect("a directory");
    desk.put("mine/file", "x");
    desk.refused(
        "emulate mine --robot ibm3584 --slots 5 --cartridges 10",
        &["not empty"],
    );
    assert_eq!(desk.read("mine/file"), "x");
    // The largest seed is one.
    desk.done("emulate lib --robot ibm3584 --seed 18446744073709551615");
}
