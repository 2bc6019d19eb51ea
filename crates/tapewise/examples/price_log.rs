//! Prices an event log: `price_log PROFILE EVENTS.jsonl` says, mount by mount, what the same reads
//! would have cost on the way in other orders.

use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use tapewise::audit::{Mount, Mounts, ORDERS, price};
use tapewise::formats::event_log::{EventReader, Record};
use tapewise::model::profile;
use tapewise::{Cartridge, Effort};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [drive, log] = &arguments[..] else {
        return Err("usage: price_log PROFILE EVENTS.jsonl".into());
    };
    let cartridge = Cartridge::new(profile::find(drive)?)?;
    let mut show = |mount: Mount| {
        let (volume, reads) = (mount.volume.as_deref().unwrap_or("-"), mount.reads.len());
        match price(&mount, &cartridge, &Effort::usual()) {
            Err(why) => println!("{volume}: {reads} reads, not priced: {why}"),
            Ok(prices) => {
                println!("{volume}: {reads} reads, {} measured", mount.moving());
                println!("  {:<26} {}", "as read, by the model", prices.as_read);
                for (origin, price) in ORDERS.iter().zip(prices.orders) {
                    let price = price.map_or("-".to_owned(), |price| price.to_string());
                    println!("  {:<26} {price}", origin.title());
                }
            }
        }
    };
    let mut mounts = Mounts::default();
    let mut events = EventReader::new(BufReader::new(File::open(log)?));
    while let Some(record) = events.next_record()? {
        match record {
            Record::Header(header) => mounts.begin(&header, &mut show),
            Record::Event(event) => mounts.add(&event, &mut show),
        }
    }
    mounts.end(&mut show);
    Ok(())
}
