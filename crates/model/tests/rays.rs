//! The straight pieces that a model tells of, against the times themselves.

use tapewise_model::locate::{
    CurvesCoefficients, CurvesModel, Destination, LandingCoefficients, LandingModel, Look,
};
use tapewise_model::{
    KeyPoints, LocateModel, Micros, Pace, Point, Position, PositionSource, Random, profile,
};

fn models() -> Vec<(&'static str, LocateModel, u16, u32)> {
    let names = [
        "dat-4mm",
        "ampex-dst310",
        "sony-dtf",
        "dlt4000",
        "dlt4000-jm98",
        "dlt7000",
        "ibm3590",
        "lto6",
        "lto7-m8",
        "lto8",
        "lto9",
    ];
    let models = names.map(|name| {
        let profile = profile::find(name).unwrap();
        let sections = profile.nominal_sections();
        let key_points = sections
            .zip(profile.key_point_spread())
            .map(|(sections, spread)| {
                KeyPoints::generate(sections, spread, &mut Random::new(1, 0))
            });
        let geometry = profile.geometry().unwrap();
        let model = profile.locate_model(key_points.as_ref()).unwrap();
        (name, model, geometry.wraps, geometry.lpos_max)
    });
    let made_up = (0..12).map(|seed| {
        let (model, wraps, lpos_max) = made_up_landings(&mut Random::new(77, seed));
        ("made-up landing points", model, wraps, lpos_max)
    });
    let curves = (0..12).map(|seed| {
        let (model, wraps, lpos_max) = made_up_curves(&mut Random::new(78, seed));
        ("made-up curves", model, wraps, lpos_max)
    });
    models.into_iter().chain(made_up).chain(curves).collect()
}

/// Landing points at random places, none, or one direction only; one to three lines of travel; the
/// middle dear, cheap or of no account.
fn made_up_landings(random: &mut Random) -> (LocateModel, u16, u32) {
    let geometry = profile::find("lto8").unwrap().geometry().unwrap();
    let mut seconds = |most: u64| random.below(most * 1_000) as f64 / 1e3;
    let mut coefficients = LandingCoefficients {
        same_wrap_s: [0; 2].map(|_| 1.0 + seconds(12)),
        other_wrap_s: [0; 4].map(|_| 1.0 + seconds(12)),
        band_change_s: [0; 6].map(|_| seconds(5)).into(),
        mid_cross_s: seconds(3) - 1.0,
        read_on_s: seconds(3),
        read_per_lpos_s: 0.000_96,
        outside_saves_per_lpos_s: seconds(1) * 0.000_5,
        wrap_start_s: [seconds(4), seconds(4)],
        ..LandingCoefficients::default()
    };
    let lines = 1 + random.below(3) as usize;
    coefficients.travel_s = [0.0, 1.5, 3.0][..lines].into();
    coefficients.travel_per_lpos_s = [0.002, 0.000_8, 0.000_5][..lines].into();
    if random.below(3) == 0 {
        coefficients.mid_cross_s = 0.0;
        coefficients.outside_saves_per_lpos_s = 0.0;
    }
    for list in [
        &mut coefficients.forward_lpos,
        &mut coefficients.reverse_lpos,
    ] {
        let count = [0, 1, 7, 160][random.below(4) as usize];
        *list = (0..count).map(|_| random.below(175_000) as u32).collect();
    }
    coefficients.landing_spread_lpos = [0, 3, 500][random.below(3) as usize];
    let model = LocateModel::LandingPoint(LandingModel::new(&coefficients, &geometry));
    (model, geometry.wraps, geometry.lpos_max)
}

/// Curves with all that is made of straight pieces: an uneven pace, each way its own, sides, a rule for reading on.
fn made_up_curves(random: &mut Random) -> (LocateModel, u16, u32) {
    let geometry = profile::find("lto8").unwrap().geometry().unwrap();
    let mut seconds = |most: u64| random.below(most * 1_000) as f64 / 1e3;
    let mut coefficients = CurvesCoefficients {
        same_wrap_s: [0; 2].map(|_| 1.0 + seconds(12)),
        other_wrap_s: [0; 4].map(|_| 1.0 + seconds(12)),
        band_change_s: [0; 6].map(|_| seconds(5)).into(),
        pace: [0; 5].map(|_| 1.0 + seconds(2)).into(),
        away_s: vec![0.0, 2.0],
        away_per_way_s: vec![0.002, 0.000_6],
        towards_s: vec![0.0, 1.0, 4.0],
        towards_per_way_s: vec![0.002, 0.000_9, 0.000_4],
        read_on_s: seconds(3),
        read_per_lpos_s: 0.000_96,
        ..CurvesCoefficients::default()
    };
    if random.below(2) == 0 {
        coefficients.station_lpos = Some(random.below(175_000) as u32);
        coefficients.far_wraps = (0..208).filter(|_| random.below(2) == 0).collect();
    }
    if random.below(2) == 0 {
        coefficients.read_on_lpos = Some(random.below(20_000) as u32);
    }
    let model = LocateModel::Curves(CurvesModel::new(&coefficients, &geometry));
    (model, geometry.wraps, geometry.lpos_max)
}

/// Somewhere on the tape; often near another place, the middle or an end.
fn somewhere(wraps: u16, lpos_max: u32, near: &[Position], random: &mut Random) -> Position {
    let mut position = Position {
        partition: 0,
        wrap: random.below(u64::from(wraps)) as u16,
        lpos: random.below(u64::from(lpos_max) + 1) as u32,
        source: PositionSource::Exact,
        error_lpos: 0,
    };
    let jitter = random.below(9) as u32;
    match (random.below(6), near.get(random.below(40) as usize)) {
        (0, _) => position.lpos = (lpos_max / 2 + jitter).min(lpos_max),
        (1, _) => position.lpos = jitter,
        (2, Some(other)) => position.lpos = (other.lpos + jitter).min(lpos_max),
        (3, Some(other)) => position.wrap = other.wrap,
        (4, Some(other)) => position = *other,
        _ => {}
    }
    position
}

/// What a look says of a place; `None` where it does not speak of it.
fn priced(model: &LocateModel, look: &Look, place: &Destination) -> Option<Micros> {
    if look.class != place.class || (look.except.is_some() && look.except == place.group) {
        return None;
    }
    let slopes = model.rays().slopes(look.class);
    let (base, slope) = if place.along <= look.pivot {
        (look.below?, slopes.below?)
    } else {
        (look.above?, slopes.above?)
    };
    let fine = base + slope * i64::from(place.along);
    Some(Micros(fine >> Pace::FRACTION_BITS) + place.weight)
}

fn least_priced(model: &LocateModel, from: &Point, to: &Point) -> Option<Micros> {
    let mut least: Option<Micros> = None;
    model.rays().looks(from, |look| {
        model.rays().destinations(to, |place| {
            let priced = priced(model, &look, &place);
            least = least.into_iter().chain(priced).min();
        });
    });
    if let Some(asked) = model.rays().asked(from) {
        model.rays().destinations(to, |place| {
            if place.class == asked.class && asked.along.contains(&place.along) {
                least = least.into_iter().chain([model.time(from, to)]).min();
            }
        });
    }
    least
}

#[test]
fn the_least_of_the_pieces_is_the_time_to_the_microsecond() {
    for (stream, (name, model, wraps, lpos_max)) in models().into_iter().enumerate() {
        let mut random = Random::new(410, stream as u64);
        let mut places = Vec::new();
        for _ in 0..150 {
            let place = somewhere(wraps, lpos_max, &places, &mut random);
            places.push(place);
        }
        let points: Vec<Point> = places.iter().map(|place| model.point(place)).collect();
        for (from, source) in points.iter().enumerate() {
            for (to, destination) in points.iter().enumerate() {
                assert_eq!(
                    least_priced(&model, source, destination),
                    Some(model.time(source, destination)),
                    "{name}: {:?} to {:?}",
                    places[from],
                    places[to]
                );
            }
        }
    }
}
