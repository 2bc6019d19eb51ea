//! The program in a Linux of its own: over that Linux's `sg` and `st` drivers, on a library that another instance of it
//! serves outside.
//!
//! QEMU's own iSCSI initiator carries the commands of the guest's devices to the target.

use crate::archive::make_files_of;
use crate::mount::{file_of, mount_point};
use crate::program::{Desk, TAPEWISE};
use crate::served::Served;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tapewise_archive::sums::{Kind, Sum};
use tapewise_house::initramfs_script;
use tapewise_house::tgt::{lacks, program, skip};

const TEST: &str = "the program on Linux's own drivers";
/// Far more than the guest needs, also on a machine that is busy with much else.
const PATIENCE: Duration = Duration::from_secs(900);

/// The first cartridge is an LTFS volume, the second is full of data.
const WELL_FILLED: &str = "--scale 10000 --ltfs reel --fill 3TB --fill-block-size 65536";

/// Files by their names.
type Files = BTreeMap<String, Vec<u8>>;

/// A guest that does not outlive its test.
struct Guest(Child);

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Where `make targets` unpacks the kernel: beside the directory that cargo gives to tests.
fn kernel() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("../linux")
}

fn kernel_image() -> Option<PathBuf> {
    let entries = std::fs::read_dir(kernel().join("boot")).ok()?;
    let mut paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths.find(|path| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("vmlinuz-"))
    })
}

/// An LTFS volume as LTFS mounts it, played by a file system whose files have its attributes: nobody packages LTFS.
fn mounted_volume(desk: &Desk, files: &Files) -> Option<PathBuf> {
    let mount = mount_point()?;
    for ((name, bytes), block) in files.iter().zip((5..).step_by(1000)) {
        let name = name.trim_start_matches("reel/");
        file_of(&mount, name, &block.to_string(), bytes);
    }
    let image = desk.path().join("volume.img");
    let made = Command::new(program("mke2fs")?)
        .args(["-q", "-t", "ext4", "-d"])
        .args([mount.path(), &image])
        .arg("16M")
        .output()
        .expect("mke2fs");
    assert!(made.status.success(), "no image of a volume: {made:?}");
    Some(image)
}

/// The guest's file system with this script and these files, and with a program that is not larger than it must be.
fn initramfs(desk: &Desk, script: &str, files: &[PathBuf]) -> PathBuf {
    desk.put(
        "guest.sh",
        [include_str!("guest/devices.sh"), script].concat(),
    );
    let tapewise = desk.path().join("tapewise");
    let stripped = Command::new("strip")
        .arg("-o")
        .args([&tapewise, Path::new(TAPEWISE)])
        .status();
    if !stripped.is_ok_and(|status| status.success()) {
        std::fs::copy(TAPEWISE, &tapewise).expect("the program copied");
    }
    let out = desk.path().join("guest.gz");
    let made = Command::new(initramfs_script())
        .arg(kernel())
        .args([&tapewise, &out])
        .arg(desk.path().join("guest.sh"))
        .args(files)
        .status();
    assert!(made.expect("a shell").success(), "no initramfs");
    out
}

/// Boots the guest with a drive and a robot; returns what its console showed until it halted.
fn boot(image: &Path, initramfs: &Path, units: &[String]) -> String {
    let mut command = Command::new("qemu-system-x86_64");
    // Never KVM, and time that counts instructions: see the scsi crate's test of the drivers.
    command.args([
        "-accel", "tcg", "-icount", "shift=2", "-cpu", "max", "-M", "microvm", "-m", "1024",
    ]);
    command.args([
        "-nodefaults",
        "-no-reboot",
        "-nographic",
        "-serial",
        "stdio",
    ]);
    command.args(["-append", "console=ttyS0 quiet panic=-1 mitigations=off"]);
    command.arg("-kernel").arg(image);
    command.arg("-initrd").arg(initramfs);
    command.args(["-device", "virtio-scsi-device,id=scsi"]);
    for (number, address) in units.iter().enumerate() {
        command
            .arg("-drive")
            .arg(format!("file={address},if=none,id=unit{number},format=raw"));
        command
            .arg("-device")
            .arg(format!("scsi-generic,drive=unit{number}"));
    }
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut guest = Guest(child.expect("qemu"));
    let mut output = guest.0.stdout.take().expect("a console");
    let mut errors = guest.0.stderr.take().expect("its errors");
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = output.read_to_end(&mut bytes);
        let _ = errors.read_to_end(&mut bytes);
        // A progress line that was taken away stands before what came after it.
        String::from_utf8_lossy(&bytes).replace("\r\u{1b}[2K", "\n")
    });
    let start = Instant::now();
    while guest.0.try_wait().expect("the state of qemu").is_none() {
        if start.elapsed() > PATIENCE {
            let _ = guest.0.kill();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    reader.join().expect("the console")
}

/// What the program does in the guest, and then others.
const SCRIPT: &str = concat!(
    include_str!("guest/guest.sh"),
    include_str!("guest/judges.sh")
);

/// Programs of others that use the tape in the guest.
const JUDGES: [&str; 2] = ["mt-st", "tar"];

/// Runs a script in the guest, on a library that is served with these options; the desk with its logs, the files of
/// `reel`, and the console. Nothing where the guest cannot be had.
fn guest(test: &str, script: &str, options: &str) -> Option<(Desk, Files, String)> {
    let needed = [
        "qemu-system-x86_64",
        "busybox",
        "cpio",
        "depmod",
        "xz",
        "mke2fs",
    ];
    if let Some(lack) = lacks(&[&needed[..], &JUDGES].concat()) {
        skip(test, &lack);
        return None;
    }
    let Some(image) = kernel_image() else {
        skip(test, "no kernel for the guest");
        return None;
    };
    let desk = Desk::new();
    let files = make_files_of(&desk, "reel", 4, 300_000);
    let served = Served::start(
        &desk,
        &format!(
            "emulate lib --robot ibm3584 --drives 1 --slots 8 --cartridges 4 --iscsi 127.0.0.1:0 {options}"
        ),
        2,
    );
    let Some(volume) = mounted_volume(&desk, &files) else {
        skip(test, "no file system here takes attributes of users");
        return None;
    };
    let judges = JUDGES.iter().filter_map(|name| program(name));
    let inside: Vec<PathBuf> = judges.chain([volume]).collect();
    let initramfs = initramfs(&desk, script, &inside);
    let console = boot(&image, &initramfs, &served.units);
    Some((desk, files, console))
}

/// Every step of the script ended with 0, and what was recalled is what was stored.
fn assert_all_well(console: &str, files: &Files) {
    let ended = console
        .lines()
        .filter(|line| line.starts_with("guest: code "));
    let bad: Vec<&str> = ended
        .clone()
        .filter(|line| !line.starts_with("guest: code 0 "))
        .collect();
    assert!(bad.is_empty(), "{bad:#?}\nthe guest's console:\n{console}");
    let steps = SCRIPT.lines().filter(|line| line.starts_with("t ")).count();
    assert_eq!(ended.count(), steps, "the guest's console:\n{console}");
    for way in ["sg", "st", "mount", "without"] {
        for (name, bytes) in files {
            let name = name.trim_start_matches("reel/");
            let sum = Sum::of(Kind::Sha256, bytes).hex();
            let line = format!("guest: sum {way} {sum}  ./{name}");
            assert!(
                console.contains(&line),
                "{line}\nthe guest's console:\n{console}"
            );
        }
    }
    let from_tape =
        |line: &str| line.starts_with("delivered") && line.contains("0 without the tape");
    assert!(console.lines().any(from_tape), "{console}");
    // The tape driver alone tells too little for a report, and says what is missing.
    let lacks = |line: &str| line.starts_with("guest: without sg: ") && line.contains("/dev/nst0");
    assert!(console.lines().any(lacks), "{console}");
    assert!(
        console.contains("load the sg module: modprobe sg"),
        "{console}"
    );
    for number in 1..=3 {
        assert!(
            console.contains(&format!("guest: the same {number}")),
            "{console}"
        );
    }
}

#[test]
fn the_program_works_over_the_drivers_of_linux() {
    if let Some((_, files, console)) = guest(TEST, SCRIPT, WELL_FILLED) {
        assert_all_well(&console, &files);
        assert_judged_as_before(&console);
    }
}

/// mt and tar said of the tape what they said before; `JUDGES=overwrite` keeps their words anew.
fn assert_judged_as_before(console: &str) {
    let said = console
        .lines()
        .filter_map(|line| line.strip_prefix("judge: "));
    let said: String = said.map(|line| format!("{}\n", line.trim_end())).collect();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/front_door/guest/judges.txt");
    if std::env::var_os("JUDGES").is_some_and(|wish| wish == "overwrite") {
        std::fs::write(&kept, &said).expect("kept");
    }
    let kept = std::fs::read_to_string(&kept).expect("the words that were kept");
    let is_version = |line: &&str| line.starts_with("# ");
    if !said
        .lines()
        .filter(is_version)
        .eq(kept.lines().filter(is_version))
    {
        eprintln!("SKIPPED: {TEST}: other versions of mt and tar than those whose words were kept");
        return;
    }
    assert_eq!(said, kept, "the guest's console:\n{console}");
}

/// What `dd` writes comes back the same: read on, found by spacing over filemarks and blocks both ways, and by seek.
#[test]
#[ignore = "minutes; `make guest-gigabyte`"]
fn a_gigabyte_goes_through_the_tape_driver_and_comes_back() {
    let script = include_str!("guest/gigabyte.sh");
    let Some((_, _, console)) = guest("1 GiB through the tape driver", script, "") else {
        return;
    };
    let said = |words: &str| -> Vec<&str> {
        let lines = console.lines();
        let rests = lines.filter_map(|line| line.strip_prefix("guest: ")?.strip_prefix(words));
        rests.map(str::trim).collect()
    };
    let written = said("sum written ");
    // Eight files and the second half of one, no two of them alike.
    assert_eq!(
        written.iter().collect::<BTreeSet<_>>().len(),
        9,
        "the guest's console:\n{console}"
    );
    assert_eq!(said("sum read "), written[..8], "{console}");
    let found = [5, 2, 3, 8].map(|number: usize| written[number]);
    assert_eq!(said("sum found "), found, "{console}");
    let places = [4104, 2565, 3847, 4104].map(|block| format!("At block {block}"));
    assert_eq!(said("place: "), places, "{console}");
}

/// What a movement took: as the program in the guest has it in its event log, and as the emulator did.
struct Movement {
    verb: String,
    what: String,
    host_us: f64,
    emulator_us: f64,
}

impl Movement {
    fn ratio(&self) -> f64 {
        self.host_us / self.emulator_us
    }
}

/// The movements in the guest's event logs beside the commands of the emulator's log. Both are in the order of time,
/// so a movement is the next command of its kind to its place.
fn movements(console: &str, commands: &str, scale: f64) -> Vec<Movement> {
    let json = |line: &str| serde_json::from_str::<Value>(line).ok();
    let mut commands = commands.lines().filter_map(json);
    let mut verb = String::new();
    let mut movements = Vec::new();
    for line in console.lines() {
        if let Some(name) = line.strip_prefix("guest: verb ") {
            name.trim_end().clone_into(&mut verb);
        }
        let Some(said) = line.strip_prefix("guest: event ").and_then(json) else {
            continue;
        };
        // A report has its events in a list, an event log has one in each line.
        let events = said["events"].as_array().cloned();
        for event in events.unwrap_or_else(|| vec![said]) {
            let mut rest = commands.clone();
            let (Some(command), Some(host_us)) = (
                rest.find(|command| is_of(command, &event)),
                event["took_us"].as_f64(),
            ) else {
                continue;
            };
            commands = rest;
            movements.push(Movement {
                verb: verb.clone(),
                what: command["command"].as_str().unwrap_or_default().to_owned(),
                host_us: host_us * scale,
                emulator_us: command["took_us"].as_f64().unwrap_or_default(),
            });
        }
    }
    movements
}

/// Whether a command is what an event tells of.
fn is_of(command: &Value, event: &Value) -> bool {
    let name = command["command"].as_str();
    let place = |value: &Value| {
        (
            value["partition"].as_u64().unwrap_or(0),
            value["block"].as_u64(),
        )
    };
    let bytes = command["cdb"].as_str().unwrap_or_default().split(' ');
    let cdb: Vec<u64> = bytes
        .filter_map(|hex| u64::from_str_radix(hex, 16).ok())
        .collect();
    // MOVE MEDIUM has the element that it takes from in bytes 4 and 5, the one that it puts into in bytes 6 and 7.
    let moves =
        |at: usize| name == Some("MOVE MEDIUM") && event["slot"] == cdb[at] * 256 + cdb[at + 1];
    match event["action"].as_str() {
        // One that stays where it is takes no time worth a comparison, and may be taken for another one.
        Some("locate") if event["from"]["block"] == event["to"]["block"] => false,
        Some("locate") => name == Some("LOCATE") && place(&command["head"]) == place(&event["to"]),
        Some("fetch") => moves(4),
        Some("return") => moves(6),
        Some("unmount") => name == Some("LOAD UNLOAD") && cdb[4] & 1 == 0,
        _ => false,
    }
}

/// Prints how near the times come, verb by verb. It does not compare them with a limit: on a machine that is busy
/// with much else the guest's clock, too, waits for its turn.
#[test]
#[ignore = "minutes; `make guest-times`"]
fn the_host_measures_the_times_that_the_emulator_logs() {
    const SCALE: f64 = 60.0;
    let options = format!("{WELL_FILLED} --clock-scale {SCALE} --commands commands.jsonl");
    let test = "the times of a scaled clock";
    let Some((desk, files, console)) = guest(test, SCRIPT, &options) else {
        return;
    };
    assert_all_well(&console, &files);
    let movements = movements(&console, &desk.read("commands.jsonl"), SCALE);
    println!("host s   emulator s   ratio");
    for verb in movements.chunk_by(|one, other| one.verb == other.verb) {
        println!("{}", verb[0].verb);
        for one in verb {
            let (host, emulator) = (one.host_us / 1e6, one.emulator_us / 1e6);
            println!(
                "{host:6.2} {emulator:12.2} {:7.4}  {}",
                one.ratio(),
                one.what
            );
        }
        let mut ratios: Vec<f64> = verb.iter().map(Movement::ratio).collect();
        ratios.sort_by(f64::total_cmp);
        let within = ratios.iter().filter(|ratio| (*ratio - 1.0).abs() <= 0.02);
        let (within, all) = (within.count(), ratios.len());
        let sum = |time: fn(&Movement) -> f64| verb.iter().map(time).sum::<f64>();
        let total = sum(|one| one.host_us) / sum(|one| one.emulator_us);
        let median = ratios[all / 2];
        println!("{within} of {all} within 2 %; median {median:.4}, all together {total:.4}");
    }
    let verbs: BTreeSet<&str> = movements.iter().map(|one| one.verb.as_str()).collect();
    let logs = SCRIPT.matches("events \"").count();
    assert_eq!(verbs.len(), logs, "{verbs:?}\n{console}");
}
