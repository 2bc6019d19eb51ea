//! Programs that are none of ours judge the target: mtx, sg3_utils and libiscsi's own, word for word.
//!
//! `sgiscsi.c` lets programs that use SG_IO reach an iSCSI target. Where a program, a compiler or libiscsi is
//! missing, or is another version than the one whose words were kept, the test says loudly that it did nothing.
//! `JUDGES=overwrite cargo test -p tapewise-emulator --test judges` keeps the words anew.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use tapewise_emulator::iscsi::{IscsiTarget, TargetOptions};
use tapewise_emulator::{Clock, DriveSpec, Library, LibrarySpec};

/// What is asked, in this order: `/dev/sg0` is the robot, `/dev/sg1` the first drive, `ISCSI` the target's address.
const COMMANDS: &[&str] = &[
    "iscsi-ls -s iscsi://PORTAL",
    "iscsi-inq ISCSI/1",
    "mtx -f /dev/sg0 inquiry",
    "mtx -f /dev/sg0 status",
    "mtx -f /dev/sg0 load 1 0",
    "mtx -f /dev/sg0 transfer 2 4",
    "mtx -f /dev/sg0 status",
    "sg_turs /dev/sg1",
    "sg_turs /dev/sg1",
    "sg_inq /dev/sg1",
    "sg_vpd /dev/sg1",
    "sg_vpd -p di /dev/sg1",
    "sg_logs /dev/sg1",
    "sg_logs -p 0x0c /dev/sg1",
    "sg_logs -p 0x11 /dev/sg1",
    "sg_logs -p 0x17 /dev/sg1",
    "sg_logs -p 0x1b /dev/sg1",
    "sg_vpd -p 0xb0 /dev/sg1",
    "sg_vpd -p 0xb1 /dev/sg1",
    "sg_raw -r 60 /dev/sg1 44 00 00 00 00 00 00 00 3c 00",
    "sg_read_attr /dev/sg1",
    "sg_modes /dev/sg1",
    "sg_opcodes /dev/sg1",
    "sg_luns /dev/sg0",
    "sg_inq /dev/sg0",
    "sg_vpd /dev/sg0",
    "sg_modes /dev/sg0",
    "sg_opcodes /dev/sg0",
    "sg_requests /dev/sg1",
    "sg_persist -k /dev/sg1",
    "sg_persist -r /dev/sg1",
    "sg_persist -c /dev/sg1",
    "sg_raw -r 32 /dev/sg1 34 06 00 00 00 00 00 00 00 00",
    "sg_raw /dev/sg1 92 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
    "mtx -f /dev/sg0 unload 1 0",
];

fn skip(why: &str) {
    eprintln!("SKIPPED: other programs judge the iSCSI target: {why}");
}

/// The shim, compiled; or what is missing.
fn shim(directory: &Path) -> Result<PathBuf, String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/judges/sgiscsi.c");
    let shim = directory.join("sgiscsi.so");
    let compiled = Command::new("cc")
        .args(["-O1", "-shared", "-fPIC", "-o"])
        .args([&shim, &source])
        .args(["-liscsi", "-ldl", "-lpthread"])
        .output()
        .map_err(|error| format!("cc: {error}"))?;
    if compiled.status.success() {
        Ok(shim)
    } else {
        Err("the shim cannot be compiled; it needs libiscsi's headers".to_owned())
    }
}

/// The version that a program tells; words are compared between equal ones only.
fn version(program: &str) -> Option<String> {
    let said = Command::new(program).arg("--version").output().ok()?;
    let text = [said.stdout, said.stderr].concat();
    String::from_utf8_lossy(&text)
        .lines()
        .next()
        .map(str::to_owned)
}

/// What programs say of a target. `/dev/sgN` is its unit N.
fn transcript(shim: &Path, target: &IscsiTarget, commands: &[String]) -> Option<String> {
    let portal = target.address().to_string();
    let address = format!("iscsi://{portal}/{}", target.name());
    let units = 0..target.units().len();
    let devices: Vec<String> = units
        .map(|unit| format!("/dev/sg{unit}={address}/{unit}"))
        .collect();
    let mut text = String::new();
    for program in ["mtx", "sg_inq"] {
        text += &format!("# {program}: {}\n", version(program)?);
    }
    for line in commands {
        let full = line.replace("PORTAL", &portal).replace("ISCSI", &address);
        let mut words = full.split(' ');
        let mut command = Command::new(words.next()?);
        command.args(words);
        if line.contains("/dev/sg") {
            command.env("SGISCSI", devices.join(" "));
            command.env("LD_PRELOAD", shim);
        }
        let said = command.output().ok()?;
        let words = [said.stdout, said.stderr].concat();
        let words = String::from_utf8_lossy(&words).replace(&portal, "PORTAL");
        text += &format!("\n$ {line}\n");
        for word in words.lines() {
            text += &format!("{}\n", word.trim_end());
        }
        text += &format!("[{}]\n", said.status.code().unwrap_or(-1));
    }
    Some(text)
}

/// Lets programs look at a library, and compares their words with those that were kept.
fn judge(spec: &LibrarySpec, commands: &[String], kept: &str) {
    let directory = tempfile::tempdir().unwrap();
    let shim = match shim(directory.path()) {
        Ok(shim) => shim,
        Err(why) => return skip(&why),
    };
    let library =
        Library::create(&directory.path().join("lib"), spec, Clock::virtual_time()).unwrap();
    let options = TargetOptions {
        chap: None,
        log: Arc::new(|_| {}),
    };
    let target = IscsiTarget::serve(&library, "127.0.0.1:0", options).unwrap();
    let Some(said) = transcript(&shim, &target, commands) else {
        return skip("mtx, sg3_utils or libiscsi's programs are missing");
    };
    let kept = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/judges")
        .join(kept);
    if std::env::var_os("JUDGES").is_some_and(|wish| wish == "overwrite") {
        std::fs::write(&kept, &said).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(&kept).unwrap();
    let versions = |text: &str| -> Vec<String> {
        text.lines()
            .filter(|line| line.starts_with("# "))
            .map(str::to_owned)
            .collect()
    };
    if versions(&kept) != versions(&said) {
        return skip("other versions of the programs than those whose words were kept");
    }
    for (now, before) in said.lines().zip(kept.lines()) {
        assert_eq!(now, before);
    }
    assert_eq!(said.lines().count(), kept.lines().count());
}

#[test]
fn other_programs_say_of_the_target_what_they_said_before() {
    let mut spec = LibrarySpec::with_robot("ibm3584", "lto8", 1, 4, 2, 1);
    spec.serial = "TWJUDGED".to_owned();
    let commands: Vec<String> = COMMANDS.iter().map(ToString::to_string).collect();
    judge(&spec, &commands, "transcript.txt");
}

/// Drives of today, each with its own names, pages, densities and commands.
const KINDS: [&str; 12] = [
    "lto5", "lto5-hh", "lto6", "lto6-hh", "lto7", "lto7-hh", "lto8", "lto8-hh", "lto9", "lto9-hh",
    "lto10", "ts1160",
];

#[test]
fn every_personality_is_known_by_its_names_and_pages() {
    let mut spec = LibrarySpec::one_drive(KINDS[0], 1);
    spec.serial = "TWKINDS".to_owned();
    let numbered = KINDS.iter().zip(1..);
    spec.drives = numbered
        .map(|(kind, number)| DriveSpec::numbered(kind, number))
        .collect();
    let questions = [
        "sg_inq",
        "sg_vpd -p sn",
        "sg_vpd -p 0xb0",
        "sg_modes -p 0x11",
        "sg_logs",
        "sg_opcodes -n",
        "sg_raw -r 60 DEVICE 44 00 00 00 00 00 00 00 3c 00",
    ];
    let commands: Vec<String> = (0..KINDS.len())
        .flat_map(|unit| {
            questions.map(|question| {
                let device = format!("/dev/sg{unit}");
                if question.contains("DEVICE") {
                    question.replace("DEVICE", &device)
                } else {
                    format!("{question} {device}")
                }
            })
        })
        .collect();
    judge(&spec, &commands, "personalities.txt");
}

#[test]
fn a_drive_with_an_order_of_its_own_tells_its_limits() {
    let mut spec = LibrarySpec::with_robot("ibm3584", "lto9", 1, 4, 2, 1);
    spec.serial = "TWORDERS".to_owned();
    let commands = [
        "mtx -f /dev/sg0 load 1 0",
        "sg_turs /dev/sg1",
        "sg_turs /dev/sg1",
        // RECEIVE RECOMMENDED ACCESS ORDER: with UDS_LIMITS most segments and the bytes of one, then the list, which
        // nobody has generated.
        "sg_raw -r 4 /dev/sg1 a3 9d 00 00 00 00 00 00 00 04 00 00",
        "sg_raw -r 64 /dev/sg1 a3 1d 00 00 00 00 00 00 00 40 00 00",
    ];
    judge(&spec, &commands.map(str::to_owned), "access_order.txt");
}
