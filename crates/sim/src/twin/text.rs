//! A twin as the text of a scenario.

use super::Assumed;
use super::log::{Arrival, names};
use super::measured::Measured;
use super::users::{owners, who};
use std::fmt::Write as _;

/// What is taken where no log tells: seconds, of current libraries and drives.
const ROBOT_S: f64 = 10.0;
const LOAD_S: f64 = 20.0;
const UNLOAD_S: f64 = 20.0;
const SEARCH_S: f64 = 50.0;
const REWIND_S: f64 = 50.0;
const RATE_MB_S: f64 = 300.0;

/// Drives that idle for less, on average, before they unload are unloaded at once.
const AT_ONCE_S: f64 = 1.0;

/// The scenario; what is assumed is added to the list.
pub(super) fn scenario(
    arrivals: &[Arrival],
    measured: &Measured,
    drives: usize,
    assumed: &mut Vec<Assumed>,
) -> String {
    let mut text = format!(
        "name = \"twin\"\nabout = \"made from a site's logs\"\nrequests = {}\nreplications = 5\nwarm_up = \"keep\"\n",
        arrivals.len()
    );
    let dismount = dismount(measured, assumed);
    assumed.push(Assumed::of_key("policy.mount", "the mount policy: oldest"));
    assumed.push(Assumed::of_key(
        "policy.order",
        "the order of the reads in a mount: sort, along the tape",
    ));
    let _ = write!(
        text,
        "\n[policy]\nmount = \"oldest\"\norder = \"sort\"\ndismount = \"{dismount}\"\n"
    );
    let cartridges = names(arrivals.iter().map(|arrival| arrival.cartridge.as_str()));
    library(&mut text, cartridges.len(), measured, drives, assumed);
    trace(&mut text, arrivals, measured, assumed);
    text
}

fn dismount(measured: &Measured, assumed: &mut Vec<Assumed>) -> &'static str {
    let idle = &measured.idle_s;
    if idle.is_empty() {
        assumed.push(Assumed::of_key(
            "policy.dismount",
            "when cartridges leave their drives: when the drive is needed",
        ));
        return "when-needed";
    }
    if idle.iter().sum::<f64>() / (idle.len() as f64) < AT_ONCE_S {
        "at-once"
    } else {
        "when-needed"
    }
}

fn library(
    text: &mut String,
    cartridges: usize,
    measured: &Measured,
    drives: usize,
    assumed: &mut Vec<Assumed>,
) {
    let mut time = |name: &str, key, what: &str, default: f64| match measured.times_s(name) {
        Some(times) => distribution(&times),
        None => {
            assumed.push(Assumed::of_key(key, format!("{what}: {default} s")));
            default.to_string()
        }
    };
    let (get, put) = ("library.robot.get_s", "library.robot.put_s");
    let get = time("fetch", get, "a robot's way to a drive", ROBOT_S);
    let put = time("return", put, "a robot's way back", ROBOT_S);
    let load = time("mount", "library.drive.load_s", "loading", LOAD_S);
    let unload = time("unmount", "library.drive.unload_s", "unloading", UNLOAD_S);
    let search = match &measured.profile {
        Some(profile) => format!("profile = \"{profile}\"\n"),
        None => {
            let search = time("locate", "library.drive.search_s", "a search", SEARCH_S);
            format!("search_s = {search}\n")
        }
    };
    let rewind = match &measured.profile {
        _ if measured.unload_rewinds => "rewind_s = 0\n".to_owned(),
        Some(_) => String::new(),
        None => {
            let rewind = time("rewind", "library.drive.rewind_s", "a rewind", REWIND_S);
            format!("rewind_s = {rewind}\n")
        }
    };
    let rate = measured.rate_mb_s().unwrap_or_else(|| {
        let what = format!("the rate of reading: {RATE_MB_S} MB/s");
        assumed.push(Assumed::of_key("library.drive.rate_mb_s", what));
        RATE_MB_S
    });
    let drives = measured.drives().max(drives);
    let drives = counted("drives", "library.drive.count", drives, assumed);
    let robots = counted("robots", "library.robot.count", measured.robots(), assumed);
    let _ = write!(
        text,
        "\n[[library]]\nname = \"site\"\nrobot = {{ count = {robots}, get_s = {get}, put_s = {put} }}\n\
         \n[[library.drive]]\ncount = {drives}\nload_s = {load}\nunload_s = {unload}\n{search}{rewind}rate_mb_s = {rate}\n\
         \n[[library.cartridge]]\ncount = {cartridges}\n",
    );
}

fn counted(what: &str, key: &'static str, count: usize, assumed: &mut Vec<Assumed>) -> usize {
    if count == 0 {
        assumed.push(Assumed::of_key(key, format!("how many {what}: 1")));
    }
    count.max(1)
}

/// A number where all are alike, else the values, each as likely.
fn distribution(times_s: &[f64]) -> String {
    let first = times_s[0];
    if times_s.iter().all(|time| *time == first) {
        return first.to_string();
    }
    format!("{{ values = {times_s:?} }}")
}

fn trace(text: &mut String, arrivals: &[Arrival], measured: &Measured, assumed: &mut Vec<Assumed>) {
    let cartridges = names(arrivals.iter().map(|arrival| arrival.cartridge.as_str()));
    let owners = owners(arrivals);
    let mean_mb = match measured.reads {
        0 => 0.0,
        reads => measured.bytes as f64 / 1e6 / reads as f64,
    };
    let mut unknown = |is_unknown: &dyn Fn(&Arrival) -> bool, what: &str| {
        let count = arrivals
            .iter()
            .filter(|arrival| is_unknown(arrival))
            .count();
        if count > 0 {
            assumed.push(Assumed {
                what: format!("of {count} requests, {what}"),
                key: None,
            });
        }
    };
    unknown(
        &|one| one.place.is_none(),
        "where on the cartridge: spread evenly",
    );
    unknown(
        &|one| one.size_mb.is_none(),
        &format!("the size: {mean_mb:.1} MB, the mean of the reads"),
    );
    unknown(&|one| one.owner.is_none(), "who asked: all one user");
    // If nobody is named there is one without a name.
    if owners.iter().any(|owner| *owner != (0, "", "")) {
        text.push_str("\n[request]\nnames = [\n");
        for (_, user, activity) in &owners {
            let user = toml::Value::from(*user);
            let _ = match *activity {
                "" => writeln!(text, "  {{ user = {user} }},"),
                name => {
                    let activity = toml::Value::from(name);
                    writeln!(text, "  {{ user = {user}, activity = {activity} }},")
                }
            };
        }
        text.push_str("]\n");
    }
    let first_s = arrivals[0].at_s;
    text.push_str("\n[arrivals]\npattern = \"trace\"\nlist = [\n");
    for (number, arrival) in arrivals.iter().enumerate() {
        // Multiples of the golden ratio are spread evenly, however many there are.
        let place = arrival
            .place
            .unwrap_or((number as f64 * 0.618_033_988_749_895).fract());
        let who = who(arrival);
        let owner = owners.partition_point(|owner| *owner < who);
        let _ = writeln!(
            text,
            "  {{ at_s = {:.6}, cartridge = {}, place = {place}, size_mb = {}, priority = {}, owner = {owner} }},",
            arrival.at_s - first_s,
            cartridges[arrival.cartridge.as_str()],
            arrival.size_mb.unwrap_or(mean_mb),
            arrival.priority,
        );
    }
    text.push_str("]\n");
}
