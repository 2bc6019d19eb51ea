//! Orders files of an LTFS volume: `order_ltfs PROFILE INDEX.xml LIST`, one path in the volume on each line.
//! Prints the paths in the order to read them; total, bound and worst case go to standard error.

use std::{error::Error, fs::File, io::BufReader};
use tapewise::{Cartridge, Effort, Goal, Placement, batch::LtfsVolume, model::profile};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [drive, index, list] = &arguments[..] else {
        return Err("usage: order_ltfs PROFILE INDEX.xml LIST".into());
    };
    let open = |path: &String| File::open(path).map(BufReader::new);
    let batch = LtfsVolume::read(index, open(index)?)?.listed(list, open(list)?)?;
    let cartridge = Cartridge::new(profile::find(drive)?)?;
    let placed = cartridge.place(batch, &Placement::rewound())?;
    let found = placed.search(&Goal::default(), &Effort::usual())?;
    for id in placed.ids(&found.plan) {
        println!("{id}");
    }
    eprintln!("{found}");
    eprintln!("positions: {}", placed.provenance);
    Ok(())
}
