//! The head's paths of some orders, played side by side in a browser: the values, and the part of a page that plays
//! them. Reports and the page for the browser have the same part, whose script and style lie in `parts/`.

use crate::page::escaped;
use serde::Serialize;
use std::collections::BTreeSet;
use tapewise::{Found, Placed};
use tapewise_order::Action;

/// What every page says that has players: their script, after those that it uses, and their style.
const SCRIPTS: [&str; 2] = [
    include_str!("../parts/words.js"),
    include_str!("../parts/players.js"),
];
pub(crate) const STYLE: &str = include_str!("../parts/players.css");

/// An order to play.
#[derive(Clone, Debug, Serialize)]
pub struct Track {
    /// The order's name and how long it takes.
    pub title: String,
    /// Where the head is when.
    pub path: HeadPath,
}

/// The head's path: columns of equal length. Times are whole microseconds.
#[derive(Clone, Debug, Serialize)]
pub struct HeadPath {
    /// When each step begins; one more than there are steps: the last is the end.
    pub begin_us: Vec<i64>,
    /// `m` moves, `t` reads through what nobody asked for, `r` reads.
    pub kinds: String,
    /// Where each step begins and ends along the tape: two for each step.
    pub lpos: Vec<u32>,
    /// Its first and last wrap: two for each step.
    pub wraps: Vec<u16>,
    /// The file that it serves, by its place in `files`.
    pub file: Vec<u32>,
    /// How many files have been read, or begun, with each step: several if they share blocks.
    pub read: Vec<u32>,
    /// Names of files.
    pub files: Vec<String>,
    /// Lowest and highest LPOS, number of wraps.
    pub tape: (u32, u32, u16),
    /// Metres of tape for one unit of LPOS, if that is known.
    pub metres_per_lpos: Option<f64>,
}

impl Track {
    /// An order that was found, with its name and how long it takes.
    pub fn new(placed: &Placed, found: &Found) -> Track {
        Track {
            title: format!("{}: {}", found.origin.title(), found.total()),
            path: HeadPath::new(placed, found),
        }
    }
}

impl HeadPath {
    /// The steps of a plan, as columns.
    pub fn new(placed: &Placed, found: &Found) -> HeadPath {
        let steps = &found.plan.steps;
        let geometry = &placed.problem.tape().geometry;
        let mut begin_us: Vec<i64> = steps.iter().map(|step| step.begin.0).collect();
        begin_us.push(found.total().0);
        let request = |visit: u32| {
            let requests = &placed.problem.visits()[visit as usize].requests;
            requests
                .first()
                .map_or(0, |&one| placed.owners[one as usize].0 as u32)
        };
        let mut seen = BTreeSet::new();
        let read = steps.iter().map(|step| {
            if step.action == Action::Read {
                let requests = &placed.problem.visits()[step.visit as usize].requests;
                seen.extend(requests.iter().map(|&one| placed.owners[one as usize].0));
            }
            seen.len() as u32
        });
        let read = read.collect();
        let requests = placed.batch.requests.iter();
        HeadPath {
            begin_us,
            kinds: steps
                .iter()
                .map(|step| match step.action {
                    Action::Locate | Action::Finish => 'm',
                    Action::ReadThrough => 't',
                    Action::Read => 'r',
                })
                .collect(),
            lpos: steps
                .iter()
                .flat_map(|step| [step.from.lpos, step.to.lpos])
                .collect(),
            wraps: steps
                .iter()
                .flat_map(|step| [step.from.wrap, step.to.wrap])
                .collect(),
            file: steps.iter().map(|step| request(step.visit)).collect(),
            read,
            files: requests.map(|request| request.id.clone()).collect(),
            tape: (geometry.lpos_min, geometry.lpos_max, geometry.wraps),
            metres_per_lpos: geometry.metres_per_lpos,
        }
    }
}

/// The part of a page that plays some orders of one batch, with nothing to fetch.
pub fn section(tracks: &[Track], title: &str) -> String {
    // Numbers and texts always have JSON. A name of a file must not end the element.
    let data = serde_json::to_string(tracks).unwrap_or_default();
    let data = data.replace('<', "\\u003c");
    let scripts: String = SCRIPTS.map(in_one_scope).concat();
    format!(
        "<section id=\"players\"><h2>{}</h2></section>\n<script type=\"application/json\" id=\"tracks\">{data}</script>\n\
         <script type=\"module\">\n{scripts}\
         const tracks = JSON.parse(document.getElementById(\"tracks\").textContent);\n\
         document.getElementById(\"players\").append(players(tracks));\n</script>\n",
        escaped(title)
    )
}

/// A module's text for a script that holds several of them: nothing to import or to export.
fn in_one_scope(module: &str) -> String {
    let lines = module.lines().filter(|line| !line.starts_with("import "));
    let lines = lines.map(|line| line.strip_prefix("export ").unwrap_or(line));
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(file: &str) -> Track {
        Track {
            title: "ours: 2 s".to_owned(),
            path: HeadPath {
                begin_us: vec![0, 1_000_000, 2_000_000],
                kinds: "mr".to_owned(),
                lpos: vec![0, 10, 10, 20],
                wraps: vec![0; 4],
                file: vec![0, 0],
                read: vec![0, 1],
                files: vec![file.to_owned()],
                tape: (0, 100, 4),
                metres_per_lpos: None,
            },
        }
    }

    #[test]
    fn no_name_of_a_file_ends_the_script_that_holds_it() {
        let name = "</script><script>alert(1)</script><!--.mov";
        let page = section(&[track(name)], "a < b");
        assert_eq!(page.matches("</script>").count(), 2, "{page}");
        assert!(!page.contains("<!--") && page.contains("<h2>a &lt; b</h2>"));
        let data = page.split_once("id=\"tracks\">").expect("data").1;
        let data = data.split_once("</script>").expect("an end").0;
        let read: serde_json::Value = serde_json::from_str(data).expect("JSON");
        assert_eq!(read[0]["path"]["files"][0], name);
    }

    #[test]
    fn the_script_stands_alone() {
        let page = section(&[track("a")], "Played");
        let begins = |word: &str| page.lines().any(|line| line.starts_with(word));
        assert!(begins("function players(") && begins("function duration("));
        assert!(!begins("import ") && !begins("export "));
    }
}
