//! What several mount policies need for the same target.

use super::report::between;
use super::{Capacity as Args, exit};
use crate::error::CliError;
use crate::json;
use crate::output;
use serde_json::json;
use std::process::ExitCode;
use tapewise_model::units::share;
use tapewise_plot::Table;
use tapewise_sim::capacity::Capacity;
use tapewise_sim::document;
use tapewise_sim::mounts::MountPolicy;

/// Reads the name of a policy, as a scenario has it.
pub fn policy(text: &str) -> Result<MountPolicy, String> {
    let mut known = MountPolicy::ALL.into_iter();
    known.find(|policy| policy.name() == text).ok_or_else(|| {
        let names = MountPolicy::ALL.map(MountPolicy::name);
        format!(
            "no mount policy has that name; there are {}",
            names.join(", ")
        )
    })
}

/// Answers under each policy, and compares the drives with those of the first.
///
/// The exit code is that of the first policy.
pub fn compare(
    args: &Args,
    answer: &dyn Fn(MountPolicy) -> Result<Capacity, CliError>,
) -> Result<ExitCode, CliError> {
    refuse(args)?;
    let found = args
        .policy
        .iter()
        .map(|&policy| Ok((policy, answer(policy)?)));
    let found: Vec<(MountPolicy, Capacity)> = found.collect::<Result<_, CliError>>()?;
    let Some((_, first)) = found.first() else {
        return Err(CliError::input("--policy names none"));
    };
    let text = if args.json {
        let policies = found.iter().map(|(policy, found)| {
            let mut document = document::capacity(found);
            document["policy"] = policy.name().into();
            document["drives_saved"] = saved(first, found).into();
            document
        });
        let policies: Vec<_> = policies.collect();
        json::text("capacity-policies", &json!({ "policies": policies }))?
    } else {
        output::table(&table(first, &found))
    };
    output::write(args.output.as_deref(), |out| {
        out.write_all(text.as_bytes()).map_err(CliError::failed)
    })?;
    Ok(exit(first))
}

/// What cannot be done for several policies at once.
fn refuse(args: &Args) -> Result<(), CliError> {
    let for_one = [
        ("--price", args.price.is_some()),
        ("--all", args.all),
        ("--csv", args.csv.is_some()),
        ("--plot", args.plot.is_some()),
        ("--html", args.html.is_some()),
    ];
    if let Some((option, _)) = for_one.iter().find(|(_, is_given)| *is_given) {
        let what = format!("{option} is for one policy, and --policy names several");
        let hint = "compare the policies first, then ask again with the one you chose";
        return Err(CliError::input(what).hint(hint));
    }
    let twice = |place: &usize| args.policy[..*place].contains(&args.policy[*place]);
    match (0..args.policy.len()).find(twice) {
        Some(place) => {
            let name = args.policy[place].name();
            Err(CliError::input(format!("--policy names {name} twice")))
        }
        None => Ok(()),
    }
}

/// Drives that are needed less than under the first policy, if both meet the target.
fn saved(first: &Capacity, found: &Capacity) -> Option<i64> {
    Some(i64::from(first.answer()?.drives) - i64::from(found.answer()?.drives))
}

fn table(first: &Capacity, found: &[(MountPolicy, Capacity)]) -> Table {
    let metric = first.target.metric.to_string();
    let mut columns = vec!["policy", "drives", "robots", "window", "mean"];
    if metric != "mean" {
        columns.push(&metric);
    }
    columns.extend(["drives held", "saved"]);
    let limit = format!(
        "{metric} under {}",
        crate::units::time(first.target.limit_s)
    );
    let mut table = Table::new(
        format!(
            "The fewest drives for {limit}, by mount policy, with 95 % intervals. Times in seconds"
        ),
        &columns,
    );
    for (policy, found) in found {
        let mut row = vec![policy.name().to_owned()];
        if let Some((best, simulated)) = found.answer().and_then(|one| Some((one, one.steady()?))) {
            let (drives, robots) = (best.drives.to_string(), best.robots.to_string());
            let results = &simulated.results;
            row.extend([
                drives,
                robots,
                best.window_s.to_string(),
                between(&results.mean_s),
            ]);
            if metric != "mean" {
                let target = best.metric(found.target.metric);
                row.push(target.map_or_else(String::new, |target| between(&target)));
            }
            let held = results.libraries[0].drives.estimate;
            row.push(share(held));
            row.push(saved(first, found).map_or_else(|| "-".to_owned(), |saved| saved.to_string()));
        } else {
            row.push("none".to_owned());
        }
        table.row(row);
        for remark in found.remarks() {
            table.note(format!("{}: {remark}", policy.name()));
        }
    }
    table.note("All policies are asked with the same arrivals; saved counts drives against the first policy.");
    table
}
