//! How far a measurement has come, in a line.

use tapewise_run::measure::Progress;

/// Width of the bar in characters.
const WIDTH: usize = 20;

/// By drive time: the share that is over, the step, and what is left.
pub fn line(now: Progress) -> String {
    let all = (now.took + now.left).0.max(1);
    let share = now.took.0 as f64 / all as f64;
    let full = (share * WIDTH as f64).round() as usize;
    format!(
        "[{:<WIDTH$}] {:3.0} %  {} {}/{}, about {} of drive time left",
        "#".repeat(full.min(WIDTH)),
        share * 100.0,
        now.step,
        now.done,
        now.of,
        now.left
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use tapewise_model::Micros;
    use tapewise_run::measure::Step;

    #[test]
    fn the_bar_goes_by_drive_time() {
        let now = |took_s: f64, left_s: f64| Progress {
            step: Step::SeekBot,
            done: 12,
            of: 60,
            took: Micros::from_secs_f64(took_s),
            left: Micros::from_secs_f64(left_s),
        };
        let quarter = line(now(300.0, 900.0));
        let bar = "[#####               ]  25 %  seek-bot 12/60, about ";
        assert!(quarter.starts_with(bar), "{quarter}");
        assert!(line(now(0.0, 0.0)).contains("]   0 %"));
        assert!(line(now(5.0, 0.0)).contains(&"#".repeat(WIDTH)));
    }
}
