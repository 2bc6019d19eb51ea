//! Cartridges in and out of a library.

use crate::pool_bench;

use pool_bench::{Bench, spec};
use tapewise_library::pool::{PoolError, Whereabouts};

#[test]
fn cartridges_come_in_and_go_out_through_the_station() {
    let mut bench = Bench::new(&spec(1, 3));
    let place = bench.pool.export("TW0001").unwrap();
    assert_eq!(place, Whereabouts::Element("station 769".to_owned()));
    assert!(bench.has_said("open the station and take it out"));
    bench.pool.export("TW0002").unwrap();
    let full = bench.pool.export("TW0003").unwrap_err();
    assert!(
        full.to_string().contains("take out TW0001, TW0002"),
        "{full}"
    );
    bench.library.take_out("TW0001").unwrap();
    bench.library.take_out("TW0002").unwrap();
    bench.pool.export("TW0003").unwrap();
    // What a person took out is not missing.
    let error = bench.mount("TW0001").unwrap_err();
    assert!(matches!(error, PoolError::NoSuchVolume { .. }), "{error}");
    bench.library.import(1, "TW0001").unwrap();
    let mut imported = bench.pool.import().unwrap();
    imported.sort();
    assert_eq!(imported, ["TW0001", "TW0003"]);
    bench.mount("TW0001").unwrap();
}
