//! Linux's own `sg`, `st` and `ch` drivers in a QEMU guest, on tgtd's drive and changer.
//!
//! The guest runs this very program, told to run the one test that the host leaves out.

use super::raw::*;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tapewise_house::initramfs_script;
use tapewise_house::tgt::{FIRST_DRIVE, FIRST_SLOT, Target, lacks, serial, skip};
use tapewise_scsi::commands::{DeviceKind, LogSense};
use tapewise_scsi::device::{Address, DeviceError, Found, Host};
use tapewise_scsi::transports::{Sg, St};
use tapewise_scsi::{Cdb, Command as _, Data, Transport, TransportError};

const TEST: &str = "the SG_IO and the st transport on Linux's own drivers";
/// Far more than the guest needs, which is some seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// A guest that does not outlive its test.
struct Guest(Child);

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Where `install.sh` unpacks the kernel: beside the directory that cargo gives to tests.
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

#[test]
fn linux_drivers_carry_commands_in_a_guest() {
    if let Some(lack) = lacks(&["qemu-system-x86_64", "busybox", "cpio", "depmod", "xz"]) {
        return skip(TEST, &lack);
    }
    let Some(image) = kernel_image() else {
        return skip(TEST, "no kernel for the guest");
    };
    let Some(target) = Target::start(TEST, 1) else {
        return;
    };
    let initramfs = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guest.gz");
    let made = Command::new(initramfs_script())
        .arg(kernel())
        .arg(std::env::current_exe().expect("this program"))
        .arg(&initramfs)
        .status();
    assert!(made.expect("a shell").success(), "no initramfs");
    let console = boot(&image, &initramfs, &target);
    assert!(
        console.contains("guest: tests ended with 0"),
        "the guest's console:\n{console}"
    );
    assert!(
        console.contains("1 passed"),
        "the guest ran no test:\n{console}"
    );
}

/// Boots the guest with the target's drive and changer; returns what its console showed until it halted.
fn boot(image: &Path, initramfs: &Path, target: &Target) -> String {
    let mut command = Command::new("qemu-system-x86_64");
    // Never KVM: machines that are virtual themselves may offer it and hang. The guest's time counts
    // its instructions, or a busy host makes it fail to calibrate its clocks, and hang as well.
    command
        .args([
            "-accel", "tcg", "-icount", "shift=2", "-cpu", "max", "-M", "microvm", "-m", "512",
        ])
        .args([
            "-nodefaults",
            "-no-reboot",
            "-nographic",
            "-serial",
            "stdio",
        ])
        .args(["-append", "console=ttyS0 quiet panic=-1 mitigations=off"])
        .arg("-kernel")
        .arg(image)
        .arg("-initrd")
        .arg(initramfs)
        .args(["-device", "virtio-scsi-device,id=scsi"]);
    for (id, address) in [("tape", target.unit(1)), ("robot", target.changer())] {
        command
            .arg("-drive")
            .arg(format!("file={address},if=none,id={id},format=raw"));
        command
            .arg("-device")
            .arg(format!("scsi-generic,drive={id}"));
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

#[test]
#[ignore = "runs inside the guest, which linux_drivers_carry_commands_in_a_guest boots"]
fn inside_the_guest() {
    if std::env::var_os("TAPEWISE_GUEST").is_none() {
        return skip("the guest's part", "this is no guest");
    }
    let (drive, robot) = devices_are_found_with_serial_and_generic_node();
    robot_loads_the_drive_through_sg(&robot, &drive);
    blocks_come_back_through_sg(&drive);
    a_transfer_too_large_for_the_path_names_its_limit(&drive);
    blocks_come_back_through_st(&drive);
    conditions_of_st_are_sense(&drive);
    fixed_blocks_go_through_st(&drive);
    the_rewinding_node_is_refused();
    without_sg_the_tape_driver_is_taken_and_said();
}

fn devices_are_found_with_serial_and_generic_node() -> (Found, Found) {
    let found = Host::local().list().expect("the devices");
    assert_eq!(found.len(), 2, "{found:?}");
    let of = |kind: DeviceKind| {
        found
            .iter()
            .find(|found| found.kind == kind)
            .expect("a device")
            .clone()
    };
    let (drive, robot) = (of(DeviceKind::Tape), of(DeviceKind::Changer));
    assert_eq!(
        (drive.vendor.as_str(), drive.model.as_str()),
        ("STGT", "VTAPE")
    );
    assert_eq!(drive.serial, Some(serial(1)));
    assert_eq!(drive.driver, Some("/dev/nst0".into()));
    assert_eq!(robot.driver, Some("/dev/sch0".into()));
    assert_eq!(drive.generic.as_ref(), Some(&drive.path));
    for name in ["/dev/nst0", "/dev/st0"] {
        let (address, notice) = Host::local().resolve(name).expect("a way");
        assert_eq!((address, notice), (Address::Sg(drive.path.clone()), None));
    }
    (drive, robot)
}

fn robot_loads_the_drive_through_sg(robot: &Found, drive: &Found) {
    let mut changer = Sg::open(&robot.path).expect("the changer");
    assert_eq!(
        outcome(&move_medium(&mut changer, FIRST_SLOT, FIRST_DRIVE)),
        "good"
    );
    wait_until_ready(&mut Sg::open(&drive.path).expect("the drive"));
}

fn blocks_come_back_through_sg(drive: &Found) {
    let mut drive = Sg::open(&drive.path).expect("the drive");
    let (done, page) = fetch(&mut drive, Cdb::new([0x12, 1, 0x80, 0, 96, 0]), 96);
    assert_eq!(outcome(&done), "good");
    // QEMU tells no residual, so the page's own length counts.
    assert_eq!(String::from_utf8_lossy(&page[4..40]).trim(), serial(1));
    write_and_read_two_files(&mut drive);
    let locate = Cdb::new([0x2b, 0, 0, 0, 0, 0, 1, 0, 0, 0]);
    assert_eq!(
        outcome(&ask(&mut drive, locate)),
        "5 20/00",
        "this target has no LOCATE"
    );
}

/// Two files of blocks of any length, and filemarks; read whole, then by REWIND and SPACE.
fn write_and_read_two_files(drive: &mut dyn Transport) {
    let blocks = [block(1, 65_536), block(2, 100_001), block(3, 512 << 10)];
    assert_eq!(outcome(&ask(drive, REWIND)), "good");
    for (at, data) in blocks.iter().enumerate() {
        assert_eq!(outcome(&write(drive, data)), "good", "block {at}");
        if at > 0 {
            assert_eq!(outcome(&ask(drive, WRITE_FILEMARK)), "good");
        }
    }
    assert_eq!(outcome(&ask(drive, REWIND)), "good");
    for (at, data) in blocks.iter().enumerate() {
        let (done, got) = read(drive, data.len());
        assert_eq!(outcome(&done), "good", "block {at}");
        assert!(got == *data, "block {at} differs");
        if at > 0 {
            assert_eq!(outcome(&read(drive, 4096).0), "0 00/01 filemark");
        }
    }
    assert_eq!(outcome(&ask(drive, REWIND)), "good");
    assert_eq!(outcome(&space(drive, 1, 1)), "good");
    assert!(read(drive, 512 << 10).1 == blocks[2], "the second file");
    assert_eq!(outcome(&ask(drive, REWIND)), "good");
    assert_eq!(outcome(&space(drive, 0, 1)), "good");
    assert!(read(drive, 100_001).1 == blocks[1], "the second block");
}

fn a_transfer_too_large_for_the_path_names_its_limit(drive: &Found) {
    let mut drive = Sg::open(&drive.path).expect("the drive");
    let data = vec![0; 12 << 20];
    let cdb = Cdb::new([0x0a, 0, 0xc0, 0, 0, 0]);
    let error = drive
        .execute(&cdb, Data::Out(&data), LIMIT)
        .expect_err("too much");
    let TransportError::TooLarge {
        bytes, limit_bytes, ..
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!(bytes, 12 << 20);
    assert!((4096..12 << 20).contains(&limit_bytes), "{limit_bytes}");
}

fn tape() -> St {
    St::open(Path::new("/dev/nst0")).expect("the tape driver")
}

fn blocks_come_back_through_st(found: &Found) {
    let mut drive = tape();
    assert_eq!(outcome(&ask(&mut drive, Cdb::new([0; 6]))), "good");
    let (_, page) = fetch(&mut drive, Cdb::new([0x12, 1, 0x80, 0, 96, 0]), 96);
    assert_eq!(String::from_utf8_lossy(&page[4..]).trim(), serial(1));
    let (_, inquiry) = fetch(&mut drive, Cdb::new([0x12, 0, 0, 0, 36, 0]), 36);
    assert_eq!(
        String::from_utf8_lossy(&inquiry[8..16]).trim(),
        found.vendor
    );
    write_and_read_two_files(&mut drive);
}

fn conditions_of_st_are_sense(_: &Found) {
    let mut drive = tape();
    let drive = &mut drive;
    assert_eq!(outcome(&ask(drive, REWIND)), "good");
    // No end of data here: this target says "end of medium" for it, and the tape driver believes that.
    let log_sense = Cdb::new([0x4d, 0, 0x40, 0, 0, 0, 0, 1, 0, 0]);
    // The drive was not asked: our own qualifier says that the driver cannot carry the command.
    assert_eq!(outcome(&fetch(drive, log_sense, 256).0), "5 20/f0");
    assert_eq!(outcome(&space(drive, 3, 0)), "good", "to the end of data");
    // This target says that it does not know where it is, which the driver makes an error of.
    let read_position = Cdb::new([0x34, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let unknown = drive.execute(&read_position, Data::In(&mut [0; 20]), LIMIT);
    let error = unknown.expect_err("no position").to_string();
    assert!(error.contains("kernel's log"), "{error}");
}

fn fixed_blocks_go_through_st(_: &Found) {
    let mut drive = tape();
    let drive = &mut drive;
    let select = |drive: &mut St, length: u16| {
        let [high, low] = length.to_be_bytes();
        let parameters = [0, 0, 0x10, 8, 0, 0, 0, 0, 0, 0, high, low];
        let cdb = Cdb::new([0x15, 0x10, 0, 0, 12, 0]);
        drive
            .execute(&cdb, Data::Out(&parameters), LIMIT)
            .expect("a status")
    };
    assert_eq!(outcome(&ask(drive, REWIND)), "good");
    assert_eq!(outcome(&select(drive, 1024)), "good");
    let data = block(9, 4 * 1024);
    let four = |opcode: u8| Cdb::new([opcode, 1, 0, 0, 4, 0]);
    let done = drive
        .execute(&four(0x0a), Data::Out(&data), LIMIT)
        .expect("a status");
    assert_eq!(
        (outcome(&done).as_str(), done.transferred),
        ("good", 4 * 1024)
    );
    assert_eq!(outcome(&ask(drive, WRITE_FILEMARK)), "good");
    assert_eq!(outcome(&ask(drive, REWIND)), "good");
    let (done, got) = fetch(drive, four(0x08), 4 * 1024);
    assert_eq!(outcome(&done), "good");
    assert!(got == data);
    assert_eq!(
        outcome(&fetch(drive, four(0x08), 4 * 1024).0),
        "0 00/01 filemark"
    );
    assert_eq!(outcome(&select(drive, 0)), "good");
}

fn the_rewinding_node_is_refused() {
    let error = St::open(Path::new("/dev/st0")).expect_err("it rewinds");
    assert!(error.to_string().contains("take /dev/nstN"), "{error}");
}

fn without_sg_the_tape_driver_is_taken_and_said() {
    assert!(
        Command::new("rmmod")
            .arg("sg")
            .status()
            .expect("rmmod")
            .success()
    );
    let host = Host::local();
    let (address, notice) = host.resolve("/dev/nst0").expect("a way");
    assert_eq!(address, Address::St("/dev/nst0".into()));
    assert!(notice.is_some_and(|notice| notice.contains("tape driver")));
    let error = host.resolve("/dev/st0").expect_err("it rewinds");
    assert!(matches!(error, DeviceError::Rewinds { .. }), "{error}");
    let mut drive = host.open("/dev/nst0").expect("the tape driver").transport;
    assert_eq!(outcome(&ask(&mut *drive, Cdb::new([0; 6]))), "good");
    let log_pages = LogSense {
        page: 0,
        subpage: 0,
    };
    let error = log_pages
        .send(&mut *drive)
        .expect_err("not by st")
        .to_string();
    assert!(
        error.contains("load the sg module (modprobe sg)"),
        "{error}"
    );
}
