//! Every combination as CSV.

use super::price::Price;
use tapewise_sim::capacity::{Capacity, Combination};

/// A header and a row for each combination; what is not known is empty. Times in seconds, shares from 0 to 1. No cell
/// needs quotes.
pub fn csv(found: &Capacity, price: Option<&Price>) -> String {
    let metric = found.target.metric;
    let mut text = format!(
        "drives,robots,window_s,formula_held,formula_robots,formula_mean_s,formula_{metric}_s,\
         {metric}_s,{metric}_low_s,{metric}_high_s,held,robots_busy,target,cost_a_year\n"
    );
    for one in found.combinations() {
        text += &row(found, one, price).join(",");
        text.push('\n');
    }
    text
}

fn row(found: &Capacity, one: &Combination, price: Option<&Price>) -> Vec<String> {
    let cell = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let expected = one.expected();
    let metric = one.metric(found.target.metric);
    let library = one.steady().map(|made| &made.results.libraries[0]);
    let numbers = [
        expected.map(|formula| formula.drives_held),
        expected.map(|formula| formula.robots_at_work),
        expected.map(|formula| formula.mean_s),
        expected.map(|formula| formula.target_s),
        metric.map(|s| s.estimate),
        metric.map(|s| s.low()),
        metric.map(|s| s.high()),
        library.map(|library| library.drives.estimate),
        library.map(|library| library.robots.estimate),
    ];
    let mut row = vec![
        one.drives.to_string(),
        one.robots.to_string(),
        one.window_s.to_string(),
    ];
    row.extend(numbers.map(cell));
    let meets = one.meets(&found.target);
    row.push(meets.map_or_else(String::new, |meets| meets.word().to_owned()));
    row.push(cell(price.and_then(|price| price.of_a_year(one))));
    row
}
