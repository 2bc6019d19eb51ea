//! Orders files of an LTFS volume: `order_ltfs PROFILE INDEX.xml LIST`.
//!
//! The list has one path in the volume per line. The paths come out in the order to read them; the
//! total, what no order falls below, and the worst case go to standard error.

use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use tapewise::batch::{Chosen, Listed, LtfsVolume};
use tapewise::formats::list::{Separator, read_list};
use tapewise::formats::ltfs_extent::LtfsLayout;
use tapewise::formats::name_match::Matching;
use tapewise::model::profile;
use tapewise::{Cartridge, Effort, EndLocation, Goal, Placement};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [drive, index, list] = &arguments[..] else {
        return Err("usage: order_ltfs PROFILE INDEX.xml LIST".into());
    };
    let volume = LtfsVolume::read(index, BufReader::new(File::open(index)?))?;
    let names = read_list(BufReader::new(File::open(list)?), Separator::Newline)?.names;
    let chosen = Chosen::Names(Listed {
        list,
        names: &names,
        ignore_missing: false,
        matching: &Matching::default(),
    });
    let batch = volume.batch(chosen, &LtfsLayout::assumed())?;

    let cartridge = Cartridge::new(profile::find(drive)?)?;
    let end = EndLocation::Rewound;
    let placed = cartridge.place(
        batch,
        &Placement {
            end,
            ..Placement::default()
        },
    )?;
    let found = placed.search(&Goal::default(), &Effort::usual())?;

    for at in placed.reading_order(&found.plan) {
        println!("{}", placed.batch.requests[at].id);
    }
    let bound = found
        .bound
        .map_or("not known".to_owned(), |bound| bound.to_string());
    eprintln!(
        "total {}, bound {bound}, worst {}",
        found.total(),
        found.worst
    );
    eprintln!("positions: {}", placed.provenance);
    Ok(())
}
