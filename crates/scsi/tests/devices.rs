//! Names of devices, lists of them and their holders, on a host made of files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use tapewise_scsi::commands::DeviceKind;
use tapewise_scsi::device::{Address, DeviceError, Found, Host};
use tapewise_scsi::holders::Holder;
use tempfile::TempDir;

/// A process number that no process has: above the kernel's limit.
const PID: u32 = 9_000_001;

/// A host with a tree of files for `/sys`, `/dev` and `/proc`.
struct Tree(TempDir);

impl Tree {
    fn new() -> Tree {
        let tree = Tree(TempDir::new().expect("a directory"));
        for directory in ["dev", "proc", "sys/class"] {
            fs::create_dir_all(tree.path(directory)).expect("a directory");
        }
        tree
    }

    /// One drive (st0, sg9 and no more) and one robot (sch0, sg10).
    fn with_library() -> Tree {
        let tree = Tree::new();
        tree.device(
            "0:0:1:0",
            "1",
            "IBM",
            "ULT3580-TD8",
            "10WT012345",
            &["scsi_tape/st0", "scsi_tape/nst0", "scsi_tape/nst0a"],
        );
        tree.device(
            "0:0:2:0",
            "8",
            "IBM",
            "3573-TL",
            "00L4U78",
            &["scsi_changer/sch0"],
        );
        tree.generic("0:0:1:0", "sg9");
        tree.generic("0:0:2:0", "sg10");
        tree
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn host(&self) -> Host {
        Host::at(self.0.path())
    }

    fn device(
        &self,
        address: &str,
        kind: &str,
        vendor: &str,
        model: &str,
        serial: &str,
        nodes: &[&str],
    ) {
        let device = self.path("sys/devices").join(address);
        fs::create_dir_all(&device).expect("a device");
        for (name, value) in [("type", kind), ("vendor", vendor), ("model", model)] {
            fs::write(device.join(name), format!("{value:<8}\n")).expect("an attribute");
        }
        let mut page = vec![1, 0x80, 0, serial.len() as u8];
        page.extend(serial.bytes());
        fs::write(device.join("vpd_pg80"), page).expect("a page");
        for node in nodes {
            self.node(address, node);
        }
    }

    /// A node of a class, that leads to its device, and its file in /dev.
    fn node(&self, address: &str, class_node: &str) {
        let class = self.path("sys/class").join(class_node);
        fs::create_dir_all(&class).expect("a class");
        symlink(self.path("sys/devices").join(address), class.join("device")).expect("a link");
        let name = class_node.rsplit('/').next().expect("a name");
        fs::write(self.path("dev").join(name), "").expect("a node");
    }

    fn generic(&self, address: &str, node: &str) {
        self.node(address, &format!("scsi_generic/{node}"));
        let directory = self
            .path("sys/devices")
            .join(address)
            .join("scsi_generic")
            .join(node);
        fs::create_dir_all(directory).expect("the generic node of a device");
    }

    /// A process with open files and arguments.
    fn process(&self, pid: u32, command: &str, files: &[&str], arguments: &str) {
        let directory = self.path("proc").join(pid.to_string());
        fs::create_dir_all(directory.join("fd")).expect("a process");
        fs::write(directory.join("comm"), format!("{command}\n")).expect("its name");
        fs::write(directory.join("cmdline"), arguments.replace(' ', "\0")).expect("its arguments");
        for (number, file) in files.iter().enumerate() {
            symlink(file, directory.join("fd").join(number.to_string())).expect("an open file");
        }
    }

    fn drive(&self) -> Found {
        let found = self.host().list().expect("devices");
        found
            .into_iter()
            .find(|found| found.kind == DeviceKind::Tape)
            .expect("the drive")
    }
}

#[test]
fn devices_are_listed_once_with_all_their_nodes() {
    let tree = Tree::with_library();
    let found = tree.host().list().expect("devices");
    let drive = Found {
        path: tree.path("dev/sg9"),
        kind: DeviceKind::Tape,
        vendor: "IBM".to_owned(),
        model: "ULT3580-TD8".to_owned(),
        serial: Some("10WT012345".to_owned()),
        generic: Some(tree.path("dev/sg9")),
        driver: Some(tree.path("dev/nst0")),
    };
    assert_eq!(found[0], drive);
    assert_eq!(
        (found[1].kind, found[1].driver.clone()),
        (DeviceKind::Changer, Some(tree.path("dev/sch0")))
    );
    assert_eq!(found.len(), 2);
}

#[test]
fn a_host_without_scsi_has_no_devices() {
    assert_eq!(Tree::new().host().list().expect("devices"), []);
}

#[test]
fn every_name_of_a_drive_leads_to_its_generic_node() {
    let tree = Tree::with_library();
    fs::create_dir_all(tree.path("dev/tape/by-id")).expect("a directory");
    symlink(
        "../../nst0",
        tree.path("dev/tape/by-id/scsi-10WT012345-nst"),
    )
    .expect("a link");
    for name in [
        "/dev/sg9",
        "/dev/nst0",
        "/dev/st0",
        "/dev/nst0a",
        "/dev/tape/by-id/scsi-10WT012345-nst",
    ] {
        let (address, notice) = tree.host().resolve(name).expect(name);
        assert_eq!(
            (address, notice),
            (Address::Sg(tree.path("dev/sg9")), None),
            "{name}"
        );
    }
    let (address, _) = tree.host().resolve("/dev/sch0").expect("the robot");
    assert_eq!(address, Address::Sg(tree.path("dev/sg10")));
}

#[test]
fn without_a_generic_node_the_tape_driver_is_taken_and_said_but_never_the_rewinding_node() {
    let tree = Tree::new();
    tree.device(
        "0:0:1:0",
        "1",
        "IBM",
        "ULT3580-TD8",
        "1",
        &["scsi_tape/st0", "scsi_tape/nst0"],
    );
    let (address, notice) = tree.host().resolve("/dev/nst0").expect("a way");
    assert_eq!(address, Address::St(tree.path("dev/nst0")));
    assert!(notice.is_some_and(|notice| notice.contains("no physical positions")));
    let error = tree.host().resolve("/dev/st0").expect_err("it rewinds");
    assert!(error.to_string().contains("take /dev/nst0"), "{error}");
}

#[test]
fn names_of_no_device_are_refused_with_what_would_do() {
    let tree = Tree::with_library();
    fs::write(tree.path("dev/sda"), "").expect("a disk");
    let refused = |name: &str| tree.host().resolve(name).expect_err(name);
    for name in ["/dev/sda", "iscsi://host", "iscsi:host"] {
        let error = refused(name);
        assert!(matches!(error, DeviceError::NoDevice { .. }), "{error}");
        assert!(error.to_string().contains("/dev/sgN"), "{error}");
    }
    assert!(matches!(refused("/dev/sg77"), DeviceError::NotFound { .. }));
}

#[test]
fn processes_that_have_any_node_of_the_drive_open_hold_it() {
    let tree = Tree::with_library();
    tree.process(PID, "tar", &["/dev/null", "/dev/st0"], "tar c");
    tree.process(
        PID + 1,
        "bacula-sd",
        &["/dev/nst0m", "/dev/sg9"],
        "bacula-sd",
    );
    tree.process(
        PID + 2,
        "mtx",
        &["/dev/sg10", "/dev/nst1", "/srv/dev/nst0"],
        "mtx status",
    );
    let holders = tree.host().holders(&tree.drive()).expect("holders");
    let words: Vec<String> = holders.found.iter().map(Holder::to_string).collect();
    assert_eq!(
        words,
        [
            "tar (process 9000001) has /dev/st0 open",
            "bacula-sd (process 9000002) has /dev/nst0m open",
            "bacula-sd (process 9000002) has /dev/sg9 open",
        ]
    );
    assert_eq!(holders.unseen, 0);
}

#[test]
fn a_mounted_ltfs_holds_the_drive_by_node_or_serial() {
    let tree = Tree::with_library();
    let mounts = "proc /proc proc rw 0 0\n\
                  ltfs:/dev/sg9 /mnt/camera\\040rolls fuse rw,nosuid 0 0\n\
                  ltfs:10WT012345 /mnt/b fuse rw 0 0\n\
                  ltfs:/dev/sg10 /mnt/other fuse rw 0 0\n";
    fs::write(tree.path("proc/mounts"), mounts).expect("mounts");
    let holders = tree.host().holders(&tree.drive()).expect("holders");
    let words: Vec<String> = holders.found.iter().map(Holder::to_string).collect();
    assert_eq!(
        words,
        [
            "LTFS is mounted on /mnt/camera rolls from /dev/sg9",
            "LTFS is mounted on /mnt/b from 10WT012345",
        ]
    );
}

#[test]
fn an_ltfs_that_names_the_drive_in_its_arguments_holds_it() {
    let tree = Tree::with_library();
    let arguments = "ltfs /mnt/tape -o devname=10WT012345,sync_type=unmount";
    tree.process(PID, "ltfs", &[], arguments);
    tree.process(PID + 1, "ltfs", &[], "ltfs /mnt/b -o devname=/dev/sg10");
    let holders = tree.host().holders(&tree.drive()).expect("holders");
    let words: Vec<String> = holders.found.iter().map(Holder::to_string).collect();
    assert_eq!(words, ["ltfs (process 9000001) has 10WT012345 open"]);
}

#[test]
fn a_drive_nobody_holds_has_no_holders() {
    let tree = Tree::with_library();
    tree.process(PID, "bash", &["/dev/pts/0"], "bash");
    assert_eq!(
        tree.host().holders(&tree.drive()).expect("holders").found,
        []
    );
}
