//! `audit --policy`: what the logs' requests would have cost and waited under other mount policies.

use super::Audit;
use crate::error::CliError;
use crate::progress::{Meter, State};
use crate::twin;
use serde_json::{Value, json};
use std::path::Path;
use tapewise_model::profile;
use tapewise_model::units::number;
use tapewise_plot::Table;
use tapewise_plot::html::Sheet;
use tapewise_sim::statistics::Interval;
use tapewise_sim::twin::{AsItWas, Priced};

/// As it was, and as each policy would have made it.
pub struct ByPolicy {
    was: AsItWas,
    policies: Vec<Priced>,
    assumed: Vec<String>,
}

/// Prices the policies that were asked for, if any.
pub fn price(args: &Audit) -> Result<Option<ByPolicy>, CliError> {
    if args.policy.is_empty() {
        return Ok(None);
    }
    if args.logs.iter().any(|path| path == Path::new("-")) {
        let why = "--policy reads the logs a second time, so standard input cannot be one";
        return Err(CliError::input(why).hint("write the log to a file first"));
    }
    let logs = twin::logs(args.logs.iter().chain(&args.requests), args.year);
    let twin = logs.and_then(|logs| twin::of(&logs));
    let twin = twin.map_err(|error| error.of("--policy"))?;
    let meter = Meter::new();
    let mut policies: Vec<Priced> = Vec::new();
    for &policy in &args.policy {
        let of = Some(args.policy.len() as u64);
        meter.show(State::counted("policy", policies.len() as u64, of).doing(policy.name()));
        if policies.iter().any(|other| other.policy == policy) {
            let twice = format!("--policy names {} twice", policy.name());
            return Err(CliError::input(twice));
        }
        let priced = twin.price(policy, profile::find, twin::CHECKED);
        policies.push(priced.map_err(|error| CliError::input(error).of("--policy"))?);
    }
    Ok(Some(ByPolicy {
        was: twin.as_it_was,
        policies,
        assumed: twin::assumed(&twin, |key| key == twin::POLICY_MOUNT),
    }))
}

fn range(interval: &Interval) -> String {
    let (estimate, half_width) = (number(interval.estimate), number(interval.half_width));
    format!("{estimate} ± {half_width}")
}

impl ByPolicy {
    pub fn text(&self) -> String {
        let mut text = format!("\n{}", crate::output::table(&self.table()));
        text.push_str(
            "The logs do not tell, so this was taken (`simulate --from-log` can change it):\n",
        );
        for assumed in &self.assumed {
            text.push_str(&format!("  {assumed}\n"));
        }
        text
    }

    pub fn sheet(&self) -> Sheet {
        Sheet::with_csv("policies", self.table(), self.table().csv())
    }

    fn table(&self) -> Table {
        let columns = ["policy", "mounts", "drive-hours", "mean, s", "p95, s"];
        let title = "The same requests under other mount policies: where one run of a twin of the site has them";
        let mut table = Table::new(title, &columns);
        let known = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), number);
        let was = &self.was;
        table.row([
            "as it was".to_owned(),
            known(was.mounts.map(|mounts| mounts as f64)),
            known(was.drive_hours),
            known(was.mean_s),
            known(was.p95_s),
        ]);
        for priced in &self.policies {
            let all = [
                &priced.mounts,
                &priced.drive_hours,
                &priced.mean_s,
                &priced.p95_s,
            ];
            let cells = all.map(range).into_iter();
            table.row(std::iter::once(priced.policy.name().to_owned()).chain(cells));
        }
        table.note(match was.mean_s {
            Some(_) => "First price the policy that your site has: if \"as it was\" is outside its ranges, the twin differs from your site, and the other rows mean nothing.",
            None => "The logs do not show how long requests took, so nobody knows how far off the twin is: give --requests.",
        });
        table
    }

    pub fn to_json(&self) -> Value {
        let interval = |of: &Interval| json!([of.low(), of.estimate, of.high()]);
        let policies = self.policies.iter().map(|priced| {
            json!({
                "policy": priced.policy.name(),
                "mounts": interval(&priced.mounts),
                "drive_hours": interval(&priced.drive_hours),
                "mean_s": interval(&priced.mean_s),
                "p95_s": interval(&priced.p95_s),
            })
        });
        let was = &self.was;
        json!({
            "as_it_was": {
                "mounts": was.mounts,
                "drive_hours": was.drive_hours,
                "mean_s": was.mean_s,
                "p95_s": was.p95_s,
            },
            "policies": policies.collect::<Vec<Value>>(),
            "assumed": self.assumed,
        })
    }
}
