//! Serves an emulated library with two drives as an iSCSI target until its standard input ends:
//! `cargo run -p tapewise-emulator --example serve -- DIRECTORY 127.0.0.1:3260`.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use tapewise_emulator::iscsi::{IscsiTarget, TargetOptions};
use tapewise_emulator::{Library, LibrarySpec};
use tapewise_model::Micros;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(directory), Some(address)) = (args.next(), args.next()) else {
        return Err("usage: serve DIRECTORY ADDRESS".into());
    };
    let directory = Path::new(&directory);
    let library = if LibrarySpec::path(directory).is_file() {
        Library::open(directory, LibrarySpec::read(directory)?.clock())?
    } else {
        let spec = LibrarySpec::with_robot("ibm3584", "lto8", 2, 10, 4, 1);
        Library::create(directory, &spec, spec.clock())?
    };
    library.skip(Micros(600_000_000));
    let options = TargetOptions {
        chap: None,
        log: Arc::new(|line| eprintln!("{line}")),
    };
    let mut target = IscsiTarget::serve(&library, address, options)?;
    for (number, what) in target.units().iter().enumerate() {
        println!(
            "iscsi://{}/{}/{number}  {what}",
            target.address(),
            target.name()
        );
    }
    std::io::stdin().read_to_end(&mut Vec::new())?;
    target.stop();
    Ok(())
}
