//! Machines that are directories.

use super::*;
use std::fs::{Permissions, create_dir_all, set_permissions, write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

/// A machine on which a user of no group runs this, with what is put onto it.
struct Machine {
    root: tempfile::TempDir,
}

const TARGET: &str = "sys/devices/pci/host3/target3:0:0/3:0:0:0";

impl Machine {
    fn new() -> Machine {
        let root = tempfile::tempdir().expect("a directory");
        let machine = Machine { root };
        machine.file(
            "proc/self/status",
            "Name:\ttapewise\nUid:\t4242\t4242\t4242\t4242\nGid:\t4242\t4242\t4242\t4242\nGroups:\t4243 \n",
        );
        machine
    }

    /// With an LTO-8 drive that the kernel knows.
    fn with_drive(sg: bool) -> Machine {
        let machine = Machine::new();
        machine.file(&format!("{TARGET}/type"), "1\n");
        machine.file(&format!("{TARGET}/vendor"), "IBM\n");
        machine.file(&format!("{TARGET}/model"), "ULT3580-TD8\n");
        machine.file(
            "sys/devices/pci/host3/scsi_host/host3/sg_tablesize",
            "128\n",
        );
        machine.node("scsi_tape", "nst0");
        if sg {
            machine.node("scsi_generic", "sg3");
        }
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn file(&self, name: &str, text: &str) {
        let path = self.path(name);
        create_dir_all(path.parent().expect("a directory")).expect("a directory made");
        write(path, text).expect("a file written");
    }

    /// A node with the mode of tape devices.
    fn node(&self, class: &str, node: &str) {
        let class = self.path(&format!("sys/class/{class}/{node}"));
        create_dir_all(&class).expect("a directory made");
        symlink(self.path(TARGET), class.join("device")).expect("a link");
        self.file(&format!("dev/{node}"), "");
        self.mode(node, 0o660);
    }

    fn mode(&self, node: &str, mode: u32) {
        let path = self.path(&format!("dev/{node}"));
        set_permissions(path, Permissions::from_mode(mode)).expect("a mode set");
    }

    fn missing(&self) -> Vec<Finding> {
        let all = diagnose(self.root.path()).expect("a diagnosis");
        all.into_iter()
            .filter(|finding| finding.state == State::Missing)
            .collect()
    }
}

#[test]
fn a_machine_without_devices_lacks_nothing() {
    let machine = Machine::new();
    assert_eq!(machine.missing(), []);
    let findings = diagnose(machine.root.path()).expect("a diagnosis");
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].state, State::Note);
}

#[test]
fn a_node_that_may_not_be_opened_names_the_group_to_join() {
    let machine = Machine::with_drive(true);
    let group = std::fs::metadata(machine.path("dev/sg3"))
        .expect("a node")
        .gid();
    machine.file("etc/group", &format!("disk:x:6:\ntapers:x:{group}:root\n"));
    let missing = machine.missing();
    assert_eq!(missing.len(), 1, "{missing:?}");
    assert_eq!(missing[0].about, "drive IBM ULT3580-TD8 (/dev/sg3)");
    assert!(missing[0].found.contains("group tapers"), "{missing:?}");
    let to_do = missing[0].to_do.as_deref().unwrap_or_default();
    assert!(to_do.contains("usermod -aG tapers"), "{to_do}");
    machine.mode("sg3", 0o666);
    assert_eq!(machine.missing(), []);
}

#[test]
fn a_drive_without_sg_names_the_module_to_load() {
    let machine = Machine::with_drive(false);
    machine.mode("nst0", 0o666);
    let missing = machine.missing();
    assert_eq!(missing.len(), 1, "{missing:?}");
    let to_do = missing[0].to_do.as_deref().unwrap_or_default();
    assert!(to_do.contains("modprobe sg"), "{to_do}");
}

#[test]
fn a_program_that_has_the_drive_open_is_named_and_is_nothing_missing() {
    let machine = Machine::with_drive(true);
    machine.mode("sg3", 0o666);
    machine.file("proc/77/comm", "bacula-sd\n");
    create_dir_all(machine.path("proc/77/fd")).expect("a directory made");
    symlink("/dev/nst0", machine.path("proc/77/fd/5")).expect("a link");
    assert_eq!(machine.missing(), []);
    let findings = diagnose(machine.root.path()).expect("a diagnosis");
    let used = findings
        .iter()
        .find(|finding| finding.found.starts_with("in use"));
    let used = used.expect("a finding");
    assert!(used.found.contains("bacula-sd (process 77)"), "{used:?}");
    assert_eq!(
        used.clone().without_names().found,
        "in use: a program has it open"
    );
    let transfer = findings
        .iter()
        .any(|finding| finding.found.contains("512 KiB"));
    assert!(transfer, "{findings:?}");
}

#[test]
fn a_report_has_neither_programs_nor_groups_nor_mount_points_of_the_site() {
    let machine = Machine::with_drive(true);
    let group = std::fs::metadata(machine.path("dev/sg3"))
        .expect("a node")
        .gid();
    machine.file("etc/group", &format!("secretgroup:x:{group}:root\n"));
    machine.file("proc/77/comm", "secretd\n");
    create_dir_all(machine.path("proc/77/fd")).expect("a directory made");
    symlink("/dev/nst0", machine.path("proc/77/fd/5")).expect("a link");
    let findings = diagnose(machine.root.path()).expect("a diagnosis");
    assert!(text(&findings, 1).contains("secretd"));
    assert!(text(&findings, 1).contains("secretgroup"));
    let findings: Vec<Finding> = findings.into_iter().map(Finding::without_names).collect();
    let report = report::report(machine.root.path(), &findings, 1, None).expect("a report");
    assert!(report.contains("in use: a program has it open"), "{report}");
    assert!(!report.contains("secret"), "{report}");
    let mounted = Holder::Ltfs {
        mount_point: PathBuf::from("/secret"),
        device: "secret".to_owned(),
    };
    assert!(!holder_kind(&mounted).contains("secret"));
}

#[test]
fn the_command_for_libiscsi_is_that_of_the_distribution() {
    let families = [
        ("ID=debian\n", "apt-get install libiscsi7"),
        ("ID=ubuntu\nID_LIKE=debian\n", "apt-get install libiscsi7"),
        (
            "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n",
            "dnf install libiscsi",
        ),
        ("ID=fedora\n", "dnf install libiscsi"),
        ("ID=arch\n", "libiscsi 1.17 to 1.20"),
    ];
    for (os_release, command) in families {
        let machine = Machine::new();
        machine.file("etc/os-release", os_release);
        let found = command_for_libiscsi(machine.root.path());
        assert!(found.contains(command), "{os_release}: {found}");
    }
}
