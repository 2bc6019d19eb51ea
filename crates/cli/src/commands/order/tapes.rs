//! `tapewise order` over several tapes: the pull list, and the order on each tape.

use super::{Kind, OrderArgs, refuse_same_ids, write_order};
use crate::error::CliError;
use crate::{json, output, units};
use serde::Serialize;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tapewise::batch::LtfsVolume;
use tapewise::tapes::{Rota, TapeTime, Turn, rota};
use tapewise::{EndLocation, Found, Location, Origin, PlaceError, Placed, Placement};
use tapewise_model::Micros;
use tapewise_order::{Action, Objective};
use tapewise_plot::Table;

/// A tape, in our order.
struct Tape {
    title: String,
    placed: Placed,
    found: Found,
    /// How long it keeps a drive busy.
    time: TapeTime,
}

/// Runs the verb with several indexes.
pub fn run(args: &OrderArgs, indexes: &[PathBuf]) -> Result<ExitCode, CliError> {
    refuse_options_for_one_tape(args)?;
    let say = |text: &str| {
        if !args.quiet {
            output::say(format_args!("tapewise: {text}\n"));
        }
    };
    let (volumes, notices) = args.input.volumes(indexes)?;
    notices.iter().for_each(|notice| say(notice));
    let share = args.input.share(&volumes)?;
    share.notices.iter().for_each(|notice| say(notice));
    let mut tapes = Vec::new();
    for (volume, files) in volumes.iter().zip(&share.files) {
        if args.input.wants(volume) && !files.is_empty() {
            tapes.push(Tape::new(args, volume, files)?);
        }
    }
    for tape in &tapes {
        say(&tape.placed.batch.recognised);
    }
    let notices = tapes.iter().flat_map(|tape| &tape.placed.batch.notices);
    together(notices).iter().for_each(|notice| say(notice));
    if let (Some(one), true) = (args.input.one_volume(), tapes.is_empty()) {
        return Err(CliError::input(format!(
            "no file of the list is on a volume {one}"
        )));
    }
    let times: Vec<TapeTime> = tapes.iter().map(|tape| tape.time).collect();
    let rota = rota(&times, args.drives);
    if !args.quiet {
        let unneeded = volumes.len() - tapes.len();
        output::say(words(&tapes, &rota, args.drives, unneeded));
    }
    write(args, &tapes, &rota, indexes)?;
    Ok(ExitCode::SUCCESS)
}

fn refuse_options_for_one_tape(args: &OrderArgs) -> Result<(), CliError> {
    let goal = args.goal.goal();
    let given = [
        ("--explain", args.explain),
        ("--plot", args.plot.is_some()),
        ("--judge", args.judge.is_some()),
        ("--rao-order", !args.rao_order.is_empty()),
        ("--to rao", args.to == Kind::Rao),
        ("--objective", goal.objective != Objective::Total),
        ("--max-distance", goal.max_distance.is_some()),
        ("--spare-tape", goal.spare_tape),
        ("--head", args.placement.head != Location::BeginningOfTape),
        (
            "--end with a place",
            matches!(args.placement.end, EndLocation::At(_)),
        ),
        ("--map", args.placement.has_map()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => Err(CliError::input(format!(
            "{option} is for one tape, and several LTFS indexes were given"
        ))
        .hint("give one index with --ltfs-index")),
    }
}

impl Tape {
    fn new(args: &OrderArgs, volume: &LtfsVolume, files: &[usize]) -> Result<Tape, CliError> {
        let title = volume.title().to_owned();
        let of = |error: CliError| error.of(&title);
        let batch = Arc::new(args.input.requests_of(volume, files)?);
        refuse_same_ids(args, &batch).map_err(of)?;
        let cartridge = args.placement.cartridge()?;
        let place = |end| {
            let placement = Placement {
                end,
                ..args.placement()
            };
            cartridge.place(batch.clone(), &placement)
        };
        let placed = match args.placement.end {
            // The next tape needs the drive.
            EndLocation::Anywhere => match place(EndLocation::Unloaded) {
                Err(PlaceError::UnloadUnknown { .. }) => place(EndLocation::Rewound),
                placed => placed,
            },
            end => place(end),
        };
        let placed = placed.map_err(|error| of(error.into()))?;
        let effort = args.search.effort();
        let found = match args.algorithm {
            Origin::Algorithm(algorithm) => placed.order(algorithm, &effort),
            _ => args
                .search
                .watched(|| placed.search(&args.goal.goal(), &effort)),
        };
        let found = found.map_err(|error| of(error.into()))?;
        let mount_s = placed.profile.handling.mount_s.as_ref();
        let mount = Micros::from_secs_f64(mount_s.map_or(0.0, |known| known.value));
        let last = found.plan.steps.last();
        let finish = last.filter(|step| step.action == Action::Finish);
        let until_free = finish.map_or(Micros::ZERO, |step| step.duration);
        let time = TapeTime {
            until_read: mount + found.total() - until_free,
            until_free,
        };
        Ok(Tape {
            title,
            placed,
            found,
            time,
        })
    }

    fn files(&self) -> usize {
        self.placed.batch.requests.len()
    }

    /// What its drive time has in it besides the reading: what the profile tells, as far as the end asks for it.
    fn handling(&self) -> &'static str {
        let mounts = self.placed.profile.handling.mount_s.is_some();
        let unloads = self.placed.placement.end == EndLocation::Unloaded;
        match (mounts, unloads) {
            (true, true) => "with mounting, rewinding and unloading",
            (true, false) => "with mounting and rewinding, without unloading",
            (false, true) => "with rewinding and unloading, without mounting",
            (false, false) => "with rewinding, without mounting and unloading",
        }
    }

    fn drive_time(&self) -> Micros {
        self.time.until_read + self.time.until_free
    }
}

/// Notices of several tapes, what holds for several only once: each begins with the name of what it is about.
fn together<'a>(notices: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut about: Vec<(&str, Vec<&str>)> = Vec::new();
    for notice in notices {
        let (name, text) = notice.split_once(": ").unwrap_or(("", notice));
        match about.iter_mut().find(|(known, _)| *known == text) {
            Some((_, names)) => names.push(name),
            None => about.push((text, vec![name])),
        }
    }
    let said = about.into_iter().map(|(text, names)| match *names {
        [""] => text.to_owned(),
        [name] => format!("{name}: {text}"),
        [first, ..] => format!("{first} and {} more: {text}", names.len() - 1),
        [] => String::new(),
    });
    said.collect()
}

/// The pull list as a table, and when it ends.
fn words(tapes: &[Tape], rota: &Rota, drives: usize, unneeded: usize) -> String {
    let columns = [
        "tape",
        "drive",
        "insert at",
        "read by",
        "drive time",
        "files",
        "size",
    ];
    let mut table = Table::new("", &columns);
    for turn in &rota.turns {
        let tape = &tapes[turn.tape];
        table.row([
            tape.title.clone(),
            (turn.drive + 1).to_string(),
            turn.begin.to_string(),
            turn.read.to_string(),
            tape.drive_time().to_string(),
            tape.files().to_string(),
            units::bytes(tape.placed.bytes()),
        ]);
    }
    let mut text = output::table(&table);
    let sum = |of: &dyn Fn(&Tape) -> Micros| tapes.iter().map(of).sum::<Micros>();
    let busy = sum(&Tape::drive_time);
    let worst = sum(&|tape| tape.found.worst - tape.found.total());
    let soonest = match (rota.optimal, drives) {
        (_, 1) => "",
        (true, _) => "; no other division of these tapes ends sooner",
        (false, _) => "; another division of these tapes may end a little sooner",
    };
    text.push_str(&format!(
        "{} on {}, {}: all read after {} with {}{soonest}\n",
        units::count(tapes.iter().map(Tape::files).sum(), "file"),
        units::count(tapes.len(), "tape"),
        units::bytes(tapes.iter().map(|tape| tape.placed.bytes()).sum()),
        rota.end,
        units::count(drives, "drive"),
    ));
    let counted = tapes.first().map_or("", Tape::handling);
    text.push_str(&format!(
        "drive time {busy} {counted}; up to {worst} more if positions and times are off\n"
    ));
    if unneeded > 0 {
        let (count, verb) = match unneeded {
            1 => ("1 tape".to_owned(), "is"),
            many => (units::count(many, "tape"), "are"),
        };
        text.push_str(&format!("{count} of those given {verb} not needed\n"));
    }
    text
}

/// The pull list for a program.
#[derive(Serialize)]
struct Document<'a> {
    at_hand: usize,
    drives: usize,
    end_us: i64,
    cartridges: Vec<TapeDocument<'a>>,
}

#[derive(Serialize)]
struct TapeDocument<'a> {
    volume: &'a str,
    files: usize,
    bytes: u64,
    drive_time_us: i64,
    drive: usize,
    begin_us: i64,
    read_us: i64,
    order: Vec<&'a str>,
}

impl<'a> TapeDocument<'a> {
    fn new(tape: &'a Tape, turn: &Turn) -> TapeDocument<'a> {
        let order = tape.placed.reading_order(&tape.found.plan).into_iter();
        let requests = &tape.placed.batch.requests;
        TapeDocument {
            volume: &tape.title,
            files: tape.files(),
            bytes: tape.placed.bytes(),
            drive_time_us: tape.drive_time().0,
            drive: turn.drive + 1,
            begin_us: turn.begin.0,
            read_us: turn.read.0,
            order: order.map(|at| requests[at].id.as_str()).collect(),
        }
    }
}

/// Writes the lists: one after the other, or each into a file of a directory.
fn write(
    args: &OrderArgs,
    tapes: &[Tape],
    rota: &Rota,
    indexes: &[PathBuf],
) -> Result<(), CliError> {
    let output = args.output.as_deref();
    if let Some(directory) = output.filter(|path| is_directory(path)) {
        return write_each(args, tapes, directory, indexes);
    }
    if args.kind() == Kind::Json {
        let cartridges = rota.turns.iter();
        let document = Document {
            at_hand: 0,
            drives: args.drives,
            end_us: rota.end.0,
            cartridges: cartridges
                .map(|turn| TapeDocument::new(&tapes[turn.tape], turn))
                .collect(),
        };
        let text = json::text("pull-list", &document)?;
        return output::write(output, |out| {
            out.write_all(text.as_bytes()).map_err(CliError::failed)
        });
    }
    if matches!(args.to, Kind::Csv | Kind::Script | Kind::Powershell) {
        return Err(
            CliError::input("several tapes give several scripts or tables")
                .hint("-o DIR/ writes one for each tape"),
        );
    }
    if output.is_none() && std::io::stdout().is_terminal() {
        return Ok(());
    }
    let mut all = Vec::new();
    for turn in &rota.turns {
        let tape = &tapes[turn.tape];
        write_order(args, &tape.placed, &tape.found, &mut all)?;
    }
    output::write(output, |out| out.write_all(&all).map_err(CliError::failed))
}

/// Writes the order of each tape into a file of its own, by the name of the tape.
fn write_each(
    args: &OrderArgs,
    tapes: &[Tape],
    directory: &Path,
    indexes: &[PathBuf],
) -> Result<(), CliError> {
    std::fs::create_dir_all(directory)
        .map_err(|error| CliError::failed(error).of(directory.display()))?;
    let ending = match args.kind() {
        Kind::Json => "json",
        Kind::Csv => "csv",
        Kind::Script => "sh",
        Kind::Powershell => "ps1",
        _ => "txt",
    };
    let path = |tape: &Tape| {
        let title = tape.title.replace(['/', '\0'], "_");
        directory.join(format!("{title}.{ending}"))
    };
    let paths: Vec<PathBuf> = tapes.iter().map(path).collect();
    let outputs = paths.iter().map(|path| ("--output", Some(path.as_path())));
    output::refuse_clashes(outputs, args.inputs(indexes))?;
    for (tape, path) in tapes.iter().zip(&paths) {
        let mut text = Vec::new();
        write_order(args, &tape.placed, &tape.found, &mut text)?;
        output::write(Some(path), |out| {
            out.write_all(&text).map_err(CliError::failed)
        })?;
    }
    Ok(())
}

/// Whether a path names a directory: one that is there, or by the slash at its end.
fn is_directory(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/")
}
