//! A SCSI target that is none of ours: tgtd, with tape drives and a changer, on 127.0.0.1.
//!
//! It is started for one test and killed when that ends, however it ends. Where it is not
//! installed the test is skipped, and says so on standard error past the capture of the test harness.

use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tapewise_scsi::device::Host;
use tempfile::TempDir;

/// The target's name.
const TARGET: &str = "iqn.2026-01.local.vtl:lib0";
/// Slots and cartridges TST001L8, TST002L8, ... in them.
pub const SLOTS: u16 = 4;
/// Element address of the first slot.
pub const FIRST_SLOT: u16 = 1024;
/// Element address of the first drive.
pub const FIRST_DRIVE: u16 = 256;
const STATION: u16 = 768;
const TAPE_MB: u32 = 64;

/// Says loudly that a test is skipped: `why`, and how to have what it needs.
pub fn skip(test: &str, why: &str) {
    let line = format!("\nSKIPPED: {test}: {why}; `make targets` as root installs it\n");
    // Not eprintln!, which the harness swallows when a test passes.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Where a program is; those of the administrator too, which are not in everybody's path.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    places
        .map(|place| place.join(name))
        .find(|path| path.exists())
}

/// Which of these programs are missing, in words.
pub fn lacks(programs: &[&str]) -> Option<String> {
    let is_missing = |name: &&str| program(name).is_none();
    let missing: Vec<&str> = programs.iter().copied().filter(is_missing).collect();
    (!missing.is_empty()).then(|| format!("no {}", missing.join(", ")))
}

/// A command that `lacks` has found.
fn command(name: &str) -> Command {
    Command::new(program(name).expect("a program that was there"))
}

/// A running tgtd: units 1 to `drives` are tape drives, the next is the changer.
pub struct Target {
    daemon: Child,
    port: u16,
    drives: u16,
    directory: TempDir,
}

impl Target {
    /// Starts it, or skips the test.
    pub fn start(test: &str, drives: u16) -> Option<Target> {
        if let Some(lack) = lacks(&["tgtd", "tgtadm", "tgtimg"]) {
            skip(test, &lack);
            return None;
        }
        // Nobody listens there; what matters is whether the library can be loaded.
        let nobody = Host::local().open("iscsi://127.0.0.1:1/nobody/0").err();
        if nobody.is_some_and(|error| error.to_string().contains("apt install libiscsi7")) {
            skip(test, "no libiscsi.so.7");
            return None;
        }
        let directory = TempDir::with_prefix("tgt").expect("a directory");
        let port = free_port();
        let log = std::fs::File::create(directory.path().join("log")).expect("a log");
        let daemon = command("tgtd")
            .args(["-f", "-C", "0", "--iscsi"])
            .arg(format!("portal=127.0.0.1:{port}"))
            .env("TGT_IPC_SOCKET", directory.path().join("control"))
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a log"))
            .stderr(log)
            .spawn()
            .expect("tgtd");
        let mut target = Target {
            daemon,
            port,
            drives,
            directory,
        };
        target.wait_until_it_answers();
        target.configure();
        Some(target)
    }

    /// The address of a unit.
    pub fn unit(&self, lun: u16) -> String {
        format!("iscsi://127.0.0.1:{}/{TARGET}/{lun}", self.port)
    }

    /// The address of the changer.
    pub fn changer(&self) -> String {
        self.unit(self.drives + 1)
    }

    fn admin(&self, arguments: &str) -> bool {
        command("tgtadm")
            .args(["-C", "0", "--lld", "iscsi"])
            .args(arguments.split_ascii_whitespace())
            .env("TGT_IPC_SOCKET", self.directory.path().join("control"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("tgtadm")
            .success()
    }

    fn must(&self, arguments: &str) {
        assert!(self.admin(arguments), "tgtadm {arguments}: {}", self.log());
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("log")).unwrap_or_default()
    }

    fn wait_until_it_answers(&mut self) {
        for _ in 0..200 {
            if self.admin("--op show --mode sys") {
                return;
            }
            let ended = self.daemon.try_wait().expect("the state of tgtd");
            assert!(ended.is_none(), "tgtd ended: {}", self.log());
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("tgtd does not answer: {}", self.log());
    }

    fn configure(&self) {
        let media = self.directory.path().join("media");
        std::fs::create_dir(&media).expect("a directory");
        let shown = media.display();
        for slot in 1..=SLOTS {
            make_cartridge(&media, &barcode(slot));
        }
        let unit = |arguments: String| self.must(&format!("--mode logicalunit {arguments}"));
        self.must(&format!("--op new --mode target --tid 1 -T {TARGET}"));
        for lun in 1..=self.drives {
            // A drive needs a file to begin with; taken off line it is an empty drive.
            let tape = barcode(lun);
            unit(format!(
                "--op new --tid 1 --lun {lun} -b {shown}/{tape} --device-type tape"
            ));
            unit(format!("--op update --tid 1 --lun {lun} --params online=0"));
            unit(format!(
                "--op update --tid 1 --lun {lun} --params vendor_id=STGT,product_id=VTAPE,scsi_sn={}",
                serial(lun)
            ));
        }
        let changer = self.drives + 1;
        let store = self.directory.path().join("smc");
        std::fs::write(&store, [0; 1024]).expect("the changer's file");
        unit(format!(
            "--op new --tid 1 --lun {changer} -b {} --device-type changer",
            store.display()
        ));
        let set = |parameters: String| {
            unit(format!(
                "--op update --tid 1 --lun {changer} --params {parameters}"
            ))
        };
        set(format!("media_home={shown}"));
        set(format!(
            "element_type=4,start_address={FIRST_DRIVE},quantity={}",
            self.drives
        ));
        for lun in 1..=self.drives {
            set(format!(
                "element_type=4,address={},tid=1,lun={lun}",
                FIRST_DRIVE + lun - 1
            ));
        }
        set("element_type=1,start_address=1,quantity=1".to_owned());
        set(format!("element_type=3,start_address={STATION},quantity=2"));
        set(format!(
            "element_type=2,start_address={FIRST_SLOT},quantity={SLOTS}"
        ));
        for slot in 1..=SLOTS {
            let address = FIRST_SLOT + slot - 1;
            set(format!(
                "element_type=2,address={address},barcode={},sides=1",
                barcode(slot)
            ));
        }
        self.must("--op bind --mode target --tid 1 -I ALL");
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // SIGKILL: it ignores SIGTERM.
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

/// The volume tag of the cartridge in the n-th slot, counted from 1.
pub fn barcode(slot: u16) -> String {
    format!("TST{slot:03}L8")
}

/// The serial number of a drive.
pub fn serial(lun: u16) -> String {
    format!("DRV{lun:07}")
}

fn make_cartridge(media: &Path, barcode: &str) {
    let made = command("tgtimg")
        .args(["--op", "new", "--device-type", "tape", "--type", "data"])
        .args([
            "--barcode",
            barcode,
            "--size",
            &TAPE_MB.to_string(),
            "--file",
        ])
        .arg(media.join(barcode))
        .stdout(Stdio::null())
        .status()
        .expect("tgtimg");
    assert!(made.success(), "tgtimg makes {barcode}");
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("its address").port()
}
