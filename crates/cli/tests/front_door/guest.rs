//! The program in a Linux of its own: over that Linux's `sg` and `st` drivers, on a library that another instance of it
//! serves outside.
//!
//! QEMU's own iSCSI initiator carries the commands of the guest's devices to the target.

use crate::archive::make_files_of;
use crate::program::{Desk, TAPEWISE};
use crate::served::Served;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tapewise_archive::sums::{Kind, Sum};
use tapewise_house::initramfs_script;
use tapewise_house::tgt::{lacks, skip};

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

/// The guest's file system with this script, and with a program that is not larger than it must be.
fn initramfs(desk: &Desk, script: &str) -> PathBuf {
    desk.put(
        "guest.sh",
        [include_str!("guest/devices.sh"), script].concat(),
    );
    let program = desk.path().join("tapewise");
    let stripped = Command::new("strip")
        .arg("-o")
        .args([&program, Path::new(TAPEWISE)])
        .status();
    if !stripped.is_ok_and(|status| status.success()) {
        std::fs::copy(TAPEWISE, &program).expect("the program copied");
    }
    let out = desk.path().join("guest.gz");
    let made = Command::new(initramfs_script())
        .arg(kernel())
        .args([&program, &out])
        .arg(desk.path().join("guest.sh"))
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
        String::from_utf8_lossy(&bytes).into_owned()
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

/// Runs a script in the guest, on a library that is served with these options; the desk with its logs, the files of
/// `reel`, and the console. Nothing where the guest cannot be had.
fn guest(test: &str, script: &str, options: &str) -> Option<(Desk, Files, String)> {
    let programs = ["qemu-system-x86_64", "busybox", "cpio", "depmod", "xz"];
    if let Some(lack) = lacks(&programs) {
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
    let initramfs = initramfs(&desk, script);
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
    for driver in ["sg", "st"] {
        for (name, bytes) in files {
            let name = name.trim_start_matches("reel/");
            let sum = Sum::of(Kind::Sha256, bytes).hex();
            let line = format!("guest: sum {driver} {sum}  ./{name}");
            assert!(
                console.contains(&line),
                "{line}\nthe guest's console:\n{console}"
            );
        }
    }
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

/// Programs of busybox said of the tape what they said before; `JUDGES=overwrite` keeps their words anew.
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
    assert_eq!(said, kept, "the guest's console:\n{console}");
}

/// What a locate took: as the program in the guest has it in its event log, and as the emulator did.
struct Locate {
    to_block: u64,
    host_us: f64,
    emulator_us: f64,
}

impl Locate {
    fn ratio(&self) -> f64 {
        self.host_us / self.emulator_us
    }
}

/// The locates of the guest's event log beside those of the emulator's log of commands: those to a block to which
/// there was one LOCATE only, so that it is the same one for sure.
fn locates(console: &str, commands: &str, scale: f64) -> Vec<Locate> {
    let json = |line: &str| serde_json::from_str::<serde_json::Value>(line).ok();
    let done = commands.lines().filter_map(json);
    let done: Vec<_> = done.filter(|one| one["command"] == "LOCATE").collect();
    let events = console
        .lines()
        .filter_map(|line| json(line.strip_prefix("guest: event ")?));
    let pair = |event: serde_json::Value| {
        let to_block = event["to"]["block"].as_u64()?;
        let same = done
            .iter()
            .filter(|one| one["head"]["block"].as_u64() == Some(to_block));
        let [same] = same.collect::<Vec<_>>()[..] else {
            return None;
        };
        Some(Locate {
            to_block,
            host_us: event["took_us"].as_f64()? * scale,
            emulator_us: same["took_us"].as_f64()?,
        })
    };
    let located = events.filter(|event| event["action"] == "locate");
    located.filter_map(pair).collect()
}

/// Prints how near the times come. It does not compare them with a limit: on a machine that is busy with much else
/// the guest's clock, too, waits for its turn.
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
    let mut locates = locates(&console, &desk.read("commands.jsonl"), SCALE);
    assert!(locates.len() >= 10, "too few locates:\n{console}");
    println!("to block   host s   emulator s   ratio");
    for one in &locates {
        let (host, emulator) = (one.host_us / 1e6, one.emulator_us / 1e6);
        let (block, ratio) = (one.to_block, one.ratio());
        println!("{block:8} {host:8.2} {emulator:12.2} {ratio:7.4}");
    }
    locates.sort_by(|a, b| a.ratio().total_cmp(&b.ratio()));
    let within = locates
        .iter()
        .filter(|one| (one.ratio() - 1.0).abs() <= 0.02);
    let (within, all) = (within.count(), locates.len());
    let sum = |time: fn(&Locate) -> f64| locates.iter().map(time).sum::<f64>();
    let total = sum(|one| one.host_us) / sum(|one| one.emulator_us);
    let median = locates[all / 2].ratio();
    println!("{within} of {all} locates within 2 %; median {median:.4}, all together {total:.4}");
}
