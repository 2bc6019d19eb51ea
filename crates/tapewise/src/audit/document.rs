//! An audit as JSON: docs/reference/audit.md is the contract.

use super::findings::{Findings, PricedMount};
use super::hours::{Hours, Spent, sorted};
use super::moves::Verdict;
use super::prices::ORDERS;
use crate::found::Origin;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tapewise_model::Micros;

impl Findings {
    /// Everything as JSON.
    pub fn to_json(&self) -> Value {
        let ledger = &self.ledger;
        let sums = self.sums();
        let trust = sums.trust();
        let by_mount = trust.and_then(|trust| trust.by_mount);
        let by = |hours: &BTreeMap<String, Hours>| -> Vec<Value> {
            let rows = sorted(hours).into_iter();
            rows.map(|(name, hours)| json!({"name": name, "hours": hours_json(hours)}))
                .collect()
        };
        let mounts: Vec<Value> = self.mounts.iter().map(mount_json).collect();
        json!({
            "emulated": self.emulated,
            "events": ledger.events,
            "hours": hours_json(&ledger.all),
            "drives": by(&ledger.drives),
            "volumes": by(&ledger.volumes),
            "users": by(&ledger.users),
            "days": ledger.days.iter()
                .map(|(day, hours)| json!({"day": day, "hours": hours_json(hours)}))
                .collect::<Vec<Value>>(),
            "priced": {
                "mounts": sums.mounts,
                "reads": sums.reads,
                "measured_locating_us": sums.locating.0,
                "measured_reading_us": sums.reading.0,
                "model_locating_us": sums.as_read.0,
                "orders_locating_us": orders_json(&sums.orders),
                "model_to_measured": trust.map(|trust| trust.factor),
                "model_to_measured_median_mount": by_mount.map(|[median, _]| median),
                "model_to_measured_worst_mount": by_mount.map(|[_, worst]| worst),
                "moves": sums.moves.len(),
                "moves_r_squared": sums.moves.r_squared(),
                "moves_median_error_s": sums.moves.median_error_s(),
                "trust": sums.moves.verdict().map(|verdict| match verdict {
                    Verdict::Knows => "good",
                    Verdict::Ranks => "rough",
                    Verdict::Worthless => "none",
                }),
            },
            "mounts": mounts,
            "notices": self.notices,
        })
    }
}

/// A name in JSON for each of [`ORDERS`].
fn key(origin: Origin) -> &'static str {
    match origin {
        Origin::Algorithm(algorithm) => algorithm.name(),
        Origin::Objective(objective) => objective.name(),
        Origin::Drive => "drive",
        Origin::StandIn => "rao-stand-in",
    }
}

fn orders_json(orders: &[Option<Micros>; ORDERS.len()]) -> Value {
    let pairs = ORDERS.into_iter().zip(orders);
    pairs
        .map(|(origin, time)| (key(origin).to_owned(), json!(time.map(|time| time.0))))
        .collect()
}

fn hours_json(hours: &Hours) -> Value {
    let each = Spent::ALL.map(|what| {
        let key = format!("{}_us", what.name().replace(' ', "_"));
        (key, json!(hours.on(what).0))
    });
    let total = ("total_us".to_owned(), json!(hours.total().0));
    std::iter::once(total).chain(each).collect()
}

fn mount_json(priced: &PricedMount) -> Value {
    let mount = &priced.mount;
    let prices = priced.prices.as_ref().ok();
    json!({
        "drive": mount.drive,
        "volume": mount.volume,
        "reads": priced.reads,
        "repeated_reads": prices.map(|prices| prices.repeated),
        "measured_locating_us": mount.moving().0,
        "measured_reading_us": mount.reading.0,
        "model_locating_us": prices.map(|prices| prices.as_read.0),
        "orders_locating_us": prices.map(|prices| orders_json(&prices.orders)),
        "cut_short": prices.map(|prices| prices.cut_short),
        "positions": prices.map(|prices| &prices.positions),
        "left_out": priced.prices.as_ref().err(),
    })
}
