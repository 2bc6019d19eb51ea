//! Utilisations, and mean responses: measured, by formula, simulated (Table 3).

use super::bench::{Band, Bench};
use crate::PaperError;
use crate::claims::{Ours, number};
use tapewise_plot::Table;
use tapewise_sim::queue::nested::RobotArrivals;
use tapewise_sim::{Distribution, Scenario, Way};

/// Of all cases: what the paper gives as utilisation, beside what waits add to it.
pub fn utilisations(bench: &Bench, ours: &mut Ours) -> Result<Table, PaperError> {
    let mut table = Table::new(
        "Utilisation by service time, and occupancy: software holds the robot, drives wait for it",
        &[
            "case",
            "robot",
            "occupied",
            "drives",
            "simulated",
            "occupied",
            "simulated",
        ],
    );
    for case in &bench.cases {
        let runs = &case.runs;
        let formula = bench.predict(runs.per_hour, runs.drives, RobotArrivals::Poisson)?;
        let summaries = || runs.study.summaries.iter();
        let mean = |of: &dyn Fn(&tapewise_sim::Summary) -> f64| {
            summaries().map(of).sum::<f64>() / summaries().count() as f64
        };
        table.row([
            runs.name.clone(),
            number(formula.steady.robot_utilisation),
            number(mean(&|s| s.usage[0].robot_share(s.duration))),
            number(formula.drive_utilisation),
            number(mean(&|s| s.usage[0].drive_service_share(s.duration))),
            number(formula.steady.drive_utilisation),
            number(mean(&|s| s.usage[0].drive_share(s.duration))),
        ]);
    }
    let mut claim = |id, name: &str, robot: bool| -> Result<(), PaperError> {
        let runs = &bench.case(name)?.runs;
        let formula = bench.predict(runs.per_hour, runs.drives, RobotArrivals::Poisson)?;
        let (value, how) = if robot {
            (
                formula.steady.robot_utilisation,
                "put and get, 10 s a mount",
            )
        } else {
            (formula.drive_utilisation, "Table 4 summed, 53 s a mount")
        };
        ours.set(id, value, how);
        Ok(())
    };
    claim("robot-utilisation-50", "50-6", true)?;
    claim("robot-utilisation-250", "250-6", true)?;
    claim("drive-utilisation-50-6", "50-6", false)?;
    claim("drive-utilisation-150-4", "150-4", false)?;
    claim("drive-utilisation-250-6", "250-6", false)?;
    table.note(
        "theirs: robot 0.14 at 50 an hour and 0.69 at 250; drives 0.12 (50-6), 0.56 (150-4), 0.62 (250-6)",
    );
    table.note(
        "robot and drives: Table 4; robot occupied: simulated, with the second of software that is assumed to \
         hold it; drives occupied: by formula and simulated, with their waits for the robot",
    );
    Ok(table)
}

/// Cases that constants were chosen by: one was fitted to the first, and where the software's second goes was chosen
/// knowing the other two (`scenarios/gniewek-1999.toml`).
const CHOSEN_BY: [&str; 3] = ["50-6", "200-6", "250-6"];

/// Table 3: the mean response of every case.
pub fn means(bench: &Bench, ours: &mut Ours) -> Result<Table, PaperError> {
    let mut table = Table::new(
        format!(
            "Table 3: mean response in seconds, measured (EM) and modelled (QM); ours by formula, and {} \
             simulated runs of each case",
            bench.runs()
        ),
        &[
            "case",
            "QM",
            "formula",
            "off s",
            "few drives",
            "EM",
            "a run (95 of 100)",
            "EM inside",
            "runs above EM",
        ],
    );
    let mut farthest_s = 0.0f64;
    let (mut predicted, mut chosen_by, mut outside) = (0, 0, Vec::new());
    for case in &bench.cases {
        let runs = &case.runs;
        let theirs = case.theirs;
        let by = |view| bench.predict(runs.per_hour, runs.drives, view);
        let formula_s = by(RobotArrivals::Poisson)?.response_s;
        let off_s = formula_s - theirs.modelled;
        farthest_s = farthest_s.max(off_s.abs());
        let means = runs.means();
        let band = Band::of(&means);
        match (case.is_inside(), CHOSEN_BY.contains(&runs.name.as_str())) {
            (true, false) => predicted += 1,
            (true, true) => chosen_by += 1,
            (false, _) => outside.push(runs.name.as_str()),
        }
        let above = means.iter().filter(|&&mean| mean > theirs.measured).count();
        table.row([
            runs.name.clone(),
            number(theirs.modelled),
            number(formula_s),
            format!("{off_s:+.1}"),
            number(by(RobotArrivals::FromDrives)?.response_s),
            number(theirs.measured),
            band.to_string(),
            if case.is_inside() { "yes" } else { "no" }.to_owned(),
            format!("{:.1} %", 100.0 * above as f64 / means.len() as f64),
        ]);
    }
    ours.set(
        "queue-model",
        farthest_s,
        "the farthest of nine; Table 4 and no fitted constant",
    );
    let outside = if outside.is_empty() {
        "all inside".to_owned()
    } else {
        format!("outside: {}", outside.join(", "))
    };
    ours.set(
        "experiment",
        f64::from(predicted),
        format!("one set of values for all cases; {outside}"),
    );
    ours.set(
        "experiment-chosen",
        f64::from(chosen_by),
        format!("the same; {outside}"),
    );
    table.note(
        "formula: any number of requests may come to the robot, as the paper's model seems to have it; few \
         drives: each drive has one request there at most",
    );
    Ok(table)
}

/// What is assumed of the software: where its 3.5 s in "load" go, and what is beyond Table 4.
///
/// Every row is one set of values for all cases.
pub fn software(bench: &Bench) -> Result<Table, PaperError> {
    let mut columns = vec![
        "with the get",
        "ready asked every s",
        "before",
        "beyond",
        "inside",
    ];
    columns.extend(bench.cases.iter().map(|case| case.runs.name.as_str()));
    let mut table = Table::new(
        "What is assumed of the software, in seconds: medians of the means, and how many EM lie inside",
        &columns,
    );
    let mut measured = ["EM", "", "", "", ""].map(str::to_owned).to_vec();
    measured.extend(bench.cases.iter().map(|case| number(case.theirs.measured)));
    table.row(measured);
    for software in Software::stated(&bench.scenario(&bench.cases[0].runs.name)?)?.varied() {
        let (mut inside, mut medians) = (0, Vec::new());
        for case in &bench.cases {
            let scenario = software.laid_over(bench.scenario(&case.runs.name)?)?;
            let band = Band::of(&bench.study(scenario, bench.fewer())?.means());
            inside += u32::from(band.contains(case.theirs.measured));
            medians.push(number(band.median()));
        }
        let Software {
            with_get_s,
            poll_s,
            before_s,
            beyond_s,
        } = software;
        let mut row = [with_get_s, poll_s, before_s, beyond_s]
            .map(|s| format!("{s:.1}"))
            .to_vec();
        row.push(inside.to_string());
        row.extend(medians);
        table.row(row);
    }
    table.note(format!(
        "the first row of ours is what all other tables rest on; {} runs of each. With the get: the robot is \
         held meanwhile; before: before a drive is asked for; beyond: after the read, not in Table 4",
        bench.fewer()
    ));
    Ok(table)
}

/// What the software takes, in seconds.
#[derive(Clone, Copy)]
struct Software {
    with_get_s: f64,
    poll_s: f64,
    before_s: f64,
    beyond_s: f64,
}

impl Software {
    /// What the scenario file states.
    fn stated(scenario: &Scenario) -> Result<Software, PaperError> {
        let strange =
            || PaperError::from("scenarios/gniewek-1999.toml: get_s and put_s are not lines");
        let library = scenario.libraries.first().ok_or_else(strange)?;
        let near_s = |way: &Option<Way>| match way {
            Some(Way::Line { near, .. }) => Ok(*near),
            _ => Err(strange()),
        };
        Ok(Software {
            with_get_s: near_s(&library.robot.get_s)? - near_s(&library.robot.put_s)?,
            poll_s: library.software.poll_s,
            before_s: library.software.request_s.mean(),
            beyond_s: library.software.answer_s.mean(),
        })
    }

    /// This; the same sum divided otherwise (half an interval of asking is lost); and less or more
    /// beyond it.
    fn varied(self) -> [Software; 7] {
        let (held, half) = (self.with_get_s, self.poll_s / 2.0);
        let divided = |with_get_s, half: f64, before_s| Software {
            with_get_s,
            poll_s: 2.0 * half,
            before_s,
            ..self
        };
        let beyond = |beyond_s| Software { beyond_s, ..self };
        [
            self,
            divided(0.0, half, self.before_s + held),
            divided(0.0, half + held, self.before_s),
            divided(2.0 * held, half - held, self.before_s),
            beyond(0.0),
            beyond(self.beyond_s / 2.0),
            beyond(self.beyond_s * 1.5),
        ]
    }

    /// A scenario with this software. The robot's way to a slot and back is the same, so that what
    /// it puts in says what it gets in without software.
    fn laid_over(self, mut scenario: Scenario) -> Result<Scenario, PaperError> {
        for library in &mut scenario.libraries {
            let Some(Way::Line { near, far }) = library.robot.put_s else {
                return Err(PaperError::from(format!(
                    "scenario {}: put_s is not a line",
                    scenario.name
                )));
            };
            library.robot.get_s = Some(Way::Line {
                near: near + self.with_get_s,
                far: far + self.with_get_s,
            });
            library.software.poll_s = self.poll_s;
            library.software.request_s = Distribution::constant(self.before_s);
            library.software.answer_s = Distribution::constant(self.beyond_s);
        }
        Ok(scenario)
    }
}
