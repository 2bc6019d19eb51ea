//! Libraries in directories: what survives, who may open them, what the robot does and refuses.

use crate::host;

use host::{Host, check, drive};
use std::path::Path;
use std::time::{Duration, Instant};
use tapewise_emulator::{
    BrokenDrive, CartridgeSpec, Clock, Element, Library, LibraryError, LibrarySpec,
};
use tapewise_scsi::{Changer, TapeDrive, Transport};

fn two_drives(directory: &Path) -> (Library, LibrarySpec) {
    let spec = LibrarySpec::with_robot("ibm3584", "lto8", 2, 6, 3, 1);
    let path = directory.join("library");
    let library = Library::create(&path, &spec, Clock::virtual_time()).unwrap();
    (library, spec)
}

fn robot(library: &Library) -> Host {
    let mut host = Host::new(library.transport_to_changer().unwrap());
    host.wait_until_ready();
    host
}

fn move_medium(host: &mut Host, from: u16, to: u16) -> Result<(), host::Said> {
    let ([a, b], [c, d]) = (from.to_be_bytes(), to.to_be_bytes());
    host.none([0xa5, 0, 0, 1, a, b, c, d, 0, 0, 0, 0])
}

const SLOT: u16 = 0x401;
const DRIVE: u16 = 0x101;

#[test]
fn data_survives_the_process_and_places_do_too() {
    let directory = tempfile::tempdir().unwrap();
    let (library, spec) = two_drives(directory.path());
    let mut changer = robot(&library);
    move_medium(&mut changer, SLOT, DRIVE).unwrap();
    let mut drive = Host::new(library.transport_to_drive(0).unwrap());
    drive.wait_until_ready();
    for number in 0..1000u32 {
        drive.write(&number.to_le_bytes()).unwrap();
    }
    drive.filemarks(1).unwrap();
    drop((library, changer, drive));

    let path = directory.path().join("library");
    let library = Library::open(&path, Clock::virtual_time()).unwrap();
    assert_eq!(library.spec(), spec);
    let mut drive = Host::new(library.transport_to_drive(0).unwrap());
    drive.wait_until_ready();
    for number in [999u32, 0, 512, 511] {
        drive.locate(0, u64::from(number)).unwrap();
        assert_eq!(drive.read(4).unwrap(), number.to_le_bytes());
    }
    drive.locate(0, 1000).unwrap();
    assert_eq!(drive.read(4).unwrap_err().code, 0x0001);
}

#[test]
fn a_second_process_is_kept_out() {
    let directory = tempfile::tempdir().unwrap();
    let (library, _) = two_drives(directory.path());
    let path = directory.path().join("library");
    let second = Library::open(&path, Clock::virtual_time());
    assert!(matches!(second, Err(LibraryError::InUse { .. })));
    drop(library);
    Library::open(&path, Clock::virtual_time()).unwrap();
}

#[test]
fn drives_that_were_exchanged_are_found_by_their_serial_numbers() {
    let directory = tempfile::tempdir().unwrap();
    let (library, _) = two_drives(directory.path());
    let element = |library: &Library| {
        let mut changer = Changer::open(Box::new(library.transport_to_changer().unwrap())).unwrap();
        changer.wait_until_ready(Duration::from_secs(60)).unwrap();
        changer.element_of("TWD0000001").unwrap()
    };
    assert_eq!(element(&library), DRIVE);
    drop(library);
    let path = directory.path().join("library");
    let file = path.join("library.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let swapped = text
        .replace("TWD0000001", "first")
        .replace("TWD0000002", "TWD0000001")
        .replace("first", "TWD0000002");
    std::fs::write(&file, swapped).unwrap();
    let library = Library::open(&path, Clock::virtual_time()).unwrap();
    assert_eq!(element(&library), DRIVE + 1);
}

#[test]
fn moves_that_cannot_be_are_refused_with_the_documented_codes() {
    let directory = tempfile::tempdir().unwrap();
    let (library, _) = two_drives(directory.path());
    let mut changer = robot(&library);
    assert_eq!(
        move_medium(&mut changer, SLOT + 5, DRIVE),
        Err(check(5, 0x3b0e))
    );
    assert_eq!(
        move_medium(&mut changer, SLOT, SLOT + 1),
        Err(check(5, 0x3b0d))
    );
    assert_eq!(
        move_medium(&mut changer, SLOT, 0x7777),
        Err(check(5, 0x2101))
    );
    assert_eq!(
        move_medium(&mut changer, 0x7777, DRIVE),
        Err(check(5, 0x2101))
    );
    move_medium(&mut changer, SLOT, DRIVE).unwrap();
    let mut drive = Host::new(library.transport_to_drive(0).unwrap());
    drive.wait_until_ready();
    drive.none([0x1e, 0, 0, 0, 1, 0]).unwrap();
    assert_eq!(
        move_medium(&mut changer, DRIVE, SLOT),
        Err(check(5, 0x5302))
    );
    assert_eq!(drive.unload(), Err(check(5, 0x5302)));
    drive.none([0x1e, 0, 0, 0, 0, 0]).unwrap();
    move_medium(&mut changer, DRIVE, SLOT).unwrap();
    assert_eq!(drive.none([0; 6]), Err(check(2, 0x3a00)));
}

#[test]
fn a_robot_that_takes_a_loaded_cartridge_waits_for_the_unload() {
    let directory = tempfile::tempdir().unwrap();
    let (library, _) = two_drives(directory.path());
    let mut changer = robot(&library);
    let timed = |changer: &mut Host, from, to| {
        let before = changer.transport.now();
        move_medium(changer, from, to).unwrap();
        changer.transport.now() - before
    };
    let fetch = timed(&mut changer, SLOT, DRIVE);
    let mut drive = Host::new(library.transport_to_drive(0).unwrap());
    drive.wait_until_ready();
    let with_unload = timed(&mut changer, DRIVE, SLOT);
    // LTO-8 unloads in 24 s.
    assert!(
        with_unload > fetch + Duration::from_secs(20),
        "{fetch:?} {with_unload:?}"
    );
}

#[test]
fn an_exchange_swaps_the_cartridge_in_a_drive() {
    let directory = tempfile::tempdir().unwrap();
    let (library, _) = two_drives(directory.path());
    let mut changer = Changer::open(Box::new(library.transport_to_changer().unwrap())).unwrap();
    changer.wait_until_ready(Duration::from_secs(60)).unwrap();
    changer.move_medium(SLOT, DRIVE).unwrap();
    changer.exchange(SLOT + 1, DRIVE, SLOT + 1).unwrap();
    let inventory = changer.inventory().unwrap();
    assert_eq!(inventory.find("TW0001").unwrap().address, SLOT + 1);
    assert_eq!(inventory.find("TW0002").unwrap().address, DRIVE);
    let mut drive = TapeDrive::open(Box::new(library.transport_to_drive(0).unwrap())).unwrap();
    drive.wait_until_ready(Duration::from_secs(100)).unwrap();
}

#[test]
fn a_drive_tells_its_attentions_in_order_while_it_loads() {
    let directory = tempfile::tempdir().unwrap();
    let (library, _) = two_drives(directory.path());
    let mut changer = robot(&library);
    let mut drive = Host::new(library.transport_to_drive(0).unwrap());
    assert_eq!(drive.none([0; 6]), Err(check(6, 0x2900)));
    assert_eq!(drive.none([0; 6]), Err(check(2, 0x3a00)));
    move_medium(&mut changer, SLOT, DRIVE).unwrap();
    assert_eq!(drive.none([0; 6]), Err(check(2, 0x0401)));
    drive.transport.wait(Duration::from_secs(60));
    // INQUIRY leaves what is to be told.
    drive.input([0x12, 0, 0, 0, 36, 0], 36).unwrap();
    assert_eq!(drive.none([0; 6]), Err(check(6, 0x2800)));
    drive.none([0; 6]).unwrap();
    drive.unload().unwrap();
    assert_eq!(drive.none([0; 6]), Err(check(2, 0x0402)));
    let mut late = Host::new(library.transport_to_drive(0).unwrap());
    assert_eq!(late.none([0; 6]), Err(check(6, 0x2900)));
}

#[test]
fn a_cartridge_of_another_kind_is_not_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("library");
    let mut spec = LibrarySpec::one_drive("lto8", 1);
    spec.cartridges.push(CartridgeSpec {
        barcode: "OLD".to_owned(),
        ..CartridgeSpec::numbered("lto5", 1, 2)
    });
    let library = Library::create(&path, &spec, Clock::virtual_time()).unwrap();
    library.load_cartridge("OLD").unwrap();
    let mut drive = Host::new(library.transport_to_drive(0).unwrap());
    let _power_on = drive.none([0; 6]);
    drive.transport.wait(Duration::from_secs(60));
    let _loaded = drive.none([0; 6]);
    assert_eq!(drive.none([0; 6]), Err(check(3, 0x3000)));
    assert!(matches!(
        library.load_cartridge("TW0001"),
        Err(LibraryError::Refused { .. })
    ));
    drive.unload().unwrap();
    library.take_out("OLD").unwrap();
    library.load_cartridge("TW0001").unwrap();
    drive.wait_until_ready();
}

#[test]
fn specifications_that_cannot_be_built_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let refused = |change: fn(&mut LibrarySpec)| {
        let mut spec = LibrarySpec::with_robot("ibm3584", "lto8", 2, 6, 3, 1);
        change(&mut spec);
        let path = directory.path().join("refused");
        Library::create(&path, &spec, Clock::virtual_time()).is_err()
    };
    assert!(refused(|spec| spec.drives.clear()));
    assert!(refused(
        |spec| spec.drives[1].serial = spec.drives[0].serial.clone()
    ));
    assert!(refused(
        |spec| spec.cartridges[0].barcode = "../../etc".to_owned()
    ));
    assert!(refused(
        |spec| spec.cartridges[0].kind = "betamax".to_owned()
    ));
    assert!(refused(|spec| spec.robot = Some("r2d2".to_owned())));
    assert!(refused(|spec| spec.cartridges[0].scale = 0));
    assert!(refused(|spec| spec.slots = u16::MAX));
    assert!(refused(|spec| spec.slots = 2));
    assert!(refused(|spec| {
        let (drive, after_commands) = (2, 9);
        spec.faults.broken_drives = vec![BrokenDrive {
            drive,
            after_commands,
        }];
    }));
}

#[test]
fn a_station_lets_cartridges_in_and_out() {
    let directory = tempfile::tempdir().unwrap();
    let (library, _) = two_drives(directory.path());
    let mut changer = robot(&library);
    let station = library.elements().address(Element::Station(0));
    move_medium(&mut changer, SLOT, station).unwrap();
    library.take_out("TW0001").unwrap();
    assert_eq!(changer.none([0; 6]), Err(check(6, 0x2801)));
    assert_eq!(
        move_medium(&mut changer, station, SLOT),
        Err(check(5, 0x3b0e))
    );
    library.import(1, "TW0001").unwrap();
    assert_eq!(changer.none([0; 6]), Err(check(6, 0x2801)));
    move_medium(&mut changer, station + 1, SLOT).unwrap();
}

#[test]
fn the_odometer_of_a_cartridge_is_kept_in_its_memory() {
    let directory = tempfile::tempdir().unwrap();
    let (library, mut host) = drive("lto8", directory.path());
    host.write(&[0; 1_000_000]).unwrap();
    host.rewind();
    host.unload().unwrap();
    drop((library, host));
    let cartridge = directory.path().join("library/cartridges/TW0001");
    let medium = tapewise_emulator::Medium::open(&cartridge).unwrap();
    assert_eq!(medium.memory.loads, 1);
    assert_eq!(medium.memory.drives, ["TWD0000001"]);
    assert!(medium.memory.metres > 0.0);
    assert_eq!(medium.memory.bytes_written, 1_000_000);
}

#[test]
fn an_exchange_that_fails_loses_no_cartridge() {
    let directory = tempfile::tempdir().unwrap();
    for seed in 0..20 {
        let mut spec = LibrarySpec::with_robot("ibm3584", "lto8", 1, 6, 2, seed);
        spec.faults.robot_error = 0.3;
        spec.faults.seed = seed;
        let path = directory.path().join(seed.to_string());
        let library = Library::create(&path, &spec, Clock::virtual_time()).unwrap();
        let mut changer = Changer::open(Box::new(library.transport_to_changer().unwrap())).unwrap();
        changer.wait_until_ready(Duration::from_secs(60)).unwrap();
        while changer.move_medium(SLOT, DRIVE).is_err() {}
        for _ in 0..10 {
            // Whether it works is by chance; that both cartridges are somewhere is not.
            let _ = changer.exchange(SLOT + 1, DRIVE, SLOT + 1);
            let inventory = changer.inventory().unwrap();
            assert!(inventory.find("TW0001").is_some() && inventory.find("TW0002").is_some());
        }
    }
}

#[test]
fn a_cartridge_taken_out_in_the_middle_is_still_there_at_the_next_load() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("library");
    let mut spec = LibrarySpec::one_drive("ampex-dst310", 1);
    // A byte stands for 10 KB: 3.6 MB fill 36 of 41 GB.
    spec.cartridges[0].scale = 10_000;
    let library = Library::create(&path, &spec, Clock::virtual_time()).unwrap();
    library.load_cartridge("TW0001").unwrap();
    let mut host = Host::new(library.transport_to_drive(0).unwrap());
    host.wait_until_ready();
    for _ in 0..360 {
        host.write(&[0; 10_000]).unwrap();
    }
    host.filemarks(0).unwrap();
    let seek = |host: &mut Host, to: u32| {
        let before = host.transport.now();
        host.locate_10(to).unwrap();
        host.transport.now() - before
    };
    host.rewind();
    let usual = seek(&mut host, 180);
    host.unload().unwrap();
    drop((library, host));
    let cartridge = path.join("cartridges/TW0001");
    let memory = tapewise_emulator::Medium::open(&cartridge).unwrap().memory;
    assert!(memory.parked_lpos.is_some(), "{memory:?}");
    let library = Library::open(&path, Clock::virtual_time()).unwrap();
    let mut host = Host::new(library.transport_to_drive(0).unwrap());
    host.wait_until_ready();
    // Johnson & Miller 1998, section 5.4.2: about 25 s more.
    let first = seek(&mut host, 180);
    assert!(
        first > usual + Duration::from_secs(15),
        "{first:?} {usual:?}"
    );
}

#[test]
fn a_varied_library_takes_other_times_for_the_same_commands() {
    let directory = tempfile::tempdir().unwrap();
    let time = |name: &str, perturbed: Option<u64>| {
        let mut spec = LibrarySpec::one_drive("lto8", 1);
        spec.cartridges[0].scale = 1_000_000_000;
        spec.variation.perturbed = perturbed;
        let path = directory.path().join(name);
        let library = Library::create(&path, &spec, Clock::virtual_time()).unwrap();
        library.load_cartridge("TW0001").unwrap();
        let mut host = Host::new(library.transport_to_drive(0).unwrap());
        host.wait_until_ready();
        for _ in 0..100 {
            host.write(&[0; 100]).unwrap();
        }
        for block in [50, 10, 90, 33, 71] {
            host.locate(0, block).unwrap();
        }
        host.transport.now()
    };
    let usual = time("usual", None);
    let varied = time("varied", Some(1));
    assert_eq!(time("same", None), usual);
    assert_eq!(time("same variation", Some(1)), varied);
    assert_ne!(usual, varied);
    assert_ne!(time("another", Some(2)), varied);
}

#[test]
fn a_library_that_owns_its_directory_takes_it_along_when_the_last_transport_is_closed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_owned();
    let spec = LibrarySpec::one_drive("lto8", 1);
    let library = Library::create(&path, &spec, Clock::virtual_time()).unwrap();
    let library = library.owning(directory);
    let transport = library.transport_to_drive(0).unwrap();
    drop(library);
    assert!(path.join("library.toml").exists());
    drop(transport);
    assert!(!path.exists());
}

#[test]
fn the_clock_of_library_toml_runs_as_fast_as_it_says() {
    const SCALE: f64 = 5_000.0;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("library");
    let spec = LibrarySpec {
        clock_scale: Some(SCALE),
        ..LibrarySpec::one_drive("lto8", 1)
    };
    drop(Library::create(&path, &spec, Clock::virtual_time()).unwrap());
    let spec = LibrarySpec::read(&path).unwrap();
    let library = Library::open(&path, spec.clock()).unwrap();
    let mut transport = library.transport_to_drive(0).unwrap();
    let around = Instant::now();
    let before = transport.now();
    let within = Instant::now();
    transport.wait(Duration::from_secs(100));
    let within = within.elapsed().as_secs_f64();
    let emulated = (transport.now() - before).as_secs_f64();
    let around = around.elapsed().as_secs_f64();
    // Both clocks are read one after the other, and emulated time is told in microseconds.
    let slack = 2e-6;
    assert!(emulated >= 100.0);
    assert!(emulated >= within * SCALE - slack, "{emulated} {within}");
    assert!(emulated <= around * SCALE + slack, "{emulated} {around}");
}

#[test]
fn a_clock_that_cannot_run_is_refused_by_the_name_of_its_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("library");
    let spec = LibrarySpec::one_drive("lto8", 1);
    drop(Library::create(&path, &spec, Clock::virtual_time()).unwrap());
    let toml = path.join("library.toml");
    let text = std::fs::read_to_string(&toml).unwrap();
    for scale in ["0.0", "-1.0", "inf", "nan"] {
        std::fs::write(&toml, format!("clock_scale = {scale}\n{text}")).unwrap();
        let error = LibrarySpec::read(&path).unwrap_err().to_string();
        assert!(
            error.contains("library.toml") && error.contains("clock_scale"),
            "{error}"
        );
    }
}

#[test]
fn removal_that_a_killed_program_of_this_host_prevented_keeps_no_cartridge_in_its_drive() {
    let directory = tempfile::tempdir().unwrap();
    let (library, _) = two_drives(directory.path());
    let mut changer = robot(&library);
    move_medium(&mut changer, SLOT, DRIVE).unwrap();
    let open = |host| {
        let transport = library.transport_to_drive_from(host, 0).unwrap();
        let mut drive = TapeDrive::open(Box::new(transport)).unwrap();
        drive.wait_until_ready(Duration::from_secs(600)).unwrap();
        drive
    };
    // Killed: nobody allows it again.
    open("this").prevent_removal(true).unwrap();
    assert!(open("another").unload().is_err());
    open("this").unload().unwrap();
}
