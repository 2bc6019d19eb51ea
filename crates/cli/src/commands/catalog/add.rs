//! `tapewise catalog add`: cartridges that others wrote, or whose catalogue was lost.

use crate::archive::Archive;
use crate::error::{CliError, Exit};
use crate::interrupt::stop_on_interrupt;
use crate::json::Answer;
use crate::now::now_ns;
use crate::output::say;
use crate::quantity;
use crate::units;
use std::collections::HashSet;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tapewise_archive::catalogue::{CatalogueError, ListItem, Recorded};
use tapewise_archive::deliver::shown;
use tapewise_archive::foreign::{
    BlockList, ForeignVolume, InLibrary, LeftOut, ListError, Listed, is_same_label,
};
use tapewise_archive::mover::{Others, ReadIn};
use tapewise_archive::record::VolumeFormat;
use tapewise_formats::csv_requests::CsvRows;
use tapewise_formats::fields::FieldOptions;
use tapewise_formats::ltfs_extent::LtfsLayout;
use tapewise_formats::ltfs_index::read_ltfs_index;

/// Add cartridges that others wrote: LTFS volumes by their indexes, in files or on tape, tar tapes and ours by
/// reading them, and any tape by a list of blocks.
///
/// The files appear in the archive below the cartridge's label. `find` shows which tape holds them, and
/// `recall --archive` reads them. tapewise never writes to such cartridges.
#[derive(clap::Args, Debug)]
pub struct Add {
    /// The archive.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    /// Indexes of LTFS volumes, as XML, each named like its cartridge's label, A00012L6.xml; or lists of
    /// files and blocks, in the CSV of requests, with the labels in a column `volume`. A list may be of any length:
    /// tapewise sorts it in the directory for temporary files (TMPDIR), not in memory.
    ///
    /// tapewise cannot verify files that it knows by their blocks only.
    #[arg(value_name = "INDEX.xml|LIST.csv")]
    indexes: Vec<PathBuf>,
    /// Bytes of a block of these volumes [default: 524288 for LTFS; a list needs it].
    #[arg(long, value_name = "BYTES", value_parser = quantity::size_in::<u64>(1..=16_777_215))]
    block_size: Option<u64>,
    /// Labels of cartridges in the library that hold tar archives or an LTFS volume, or that are ours. tapewise
    /// reads the index of an LTFS volume, and reads the other cartridges from end to end, on all drives.
    ///
    /// tapewise adds what is on a cartridge of ours to what the catalogue already knows about it. If it finds
    /// two versions of a file, the one that was stored later counts. If a file spans several cartridges, name
    /// all of them in one command.
    #[arg(long = "tape", value_name = "LABEL")]
    tapes: Vec<String>,
    /// Print only errors on standard error.
    #[arg(short, long)]
    quiet: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub fn run(args: &Add) -> Result<ExitCode, CliError> {
    if args.indexes.is_empty() && args.tapes.is_empty() {
        return Err(CliError::input("give INDEX.xml, LIST.csv or --tape LABEL"));
    }
    let archive = Archive::open(&args.archive)?;
    let library = if args.indexes.is_empty() {
        Vec::new()
    } else {
        archive.labels_in_libraries().unwrap_or_else(|error| {
            say(format_args!(
                "tapewise: {}; the names of the files are taken as labels\n",
                error.message()
            ));
            Vec::new()
        })
    };
    let mut found = Vec::new();
    for index in &args.indexes {
        let is_list = index
            .extension()
            .is_some_and(|extension| extension == "csv");
        let read = if is_list {
            of_blocks(index, args.block_size)
        } else {
            of_index(args, index, &library)
        };
        found.push(read.map_err(|error| error.of(index.display()))?);
    }
    all_new(&archive, &found, &args.tapes)?;
    // One transaction: a list is added as a whole or not at all.
    let mut items = found.iter().flat_map(Found::items);
    archive.catalogue.add_list(&mut items, now_ns())?;
    drop(items);
    let mut answer = Answer::new("catalog-add", args.json);
    for listed in found.iter().flat_map(|found| &found.volumes) {
        told(listed, &mut answer)?;
    }
    if args.tapes.is_empty() {
        answer.end()?;
        return Ok(ExitCode::SUCCESS);
    }
    let cache = archive.cache()?;
    let stop = stop_on_interrupt()?;
    let copies = archive.settings.copies;
    let read = archive.with_mover(&cache, &stop, args.quiet, |mover| {
        mover.read_in(&args.tapes, Others::Add, copies)
    });
    let rebuilt = read.map_err(|error| error.if_interrupted(super::rebuild::GO_ON))?;
    let is_passed = |(_, read): &(String, ReadIn)| matches!(read, ReadIn::Passed(_));
    let has_passed = rebuilt.volumes.iter().any(is_passed);
    let told = super::rebuild::told(rebuilt, &mut answer);
    answer.end()?;
    match told {
        // Each was asked for by its name.
        Ok(_) if has_passed => {
            say("tapewise: not every cartridge that was named could be added\n");
            Ok(ExitCode::from(Exit::Partial as u8))
        }
        told => told,
    }
}

/// What a file tells: cartridges, and where what is on them comes from.
struct Found {
    volumes: Vec<Listed>,
    files: Files,
}

enum Files {
    /// Of the one cartridge of an index.
    Index(Vec<Recorded>),
    /// Of all cartridges of a list, which may be too long for memory.
    List(PathBuf, BlockList),
}

impl Found {
    /// Every volume, each followed by its files.
    fn items(&self) -> Box<dyn Iterator<Item = Result<ListItem, CatalogueError>> + '_> {
        let (path, list) = match &self.files {
            Files::Index(files) => {
                let volumes = self.volumes.iter().map(|listed| listed.volume.clone());
                let files = files.iter().cloned().map(ListItem::File);
                return Box::new(volumes.map(ListItem::Volume).chain(files).map(Ok));
            }
            Files::List(path, list) => (path, list),
        };
        let bad = |error: ListError| CatalogueError::Io {
            path: path.clone(),
            source: std::io::Error::other(error),
        };
        match list.items(&self.volumes) {
            Ok(items) => Box::new(items.map(move |item| item.map_err(bad))),
            Err(error) => Box::new(std::iter::once(Err(bad(error)))),
        }
    }
}

/// Refuses volumes that are known before anything is written, and before a tape is read.
fn all_new(archive: &Archive, found: &[Found], tapes: &[String]) -> Result<(), CliError> {
    let known = archive.catalogue.volumes()?.into_iter();
    let known = known.map(|(_, volume)| (volume.label, volume.uuid));
    let (mut labels, mut uuids): (HashSet<String>, HashSet<String>) = known.unzip();
    for Listed { volume, .. } in found.iter().flat_map(|found| &found.volumes) {
        let (label, uuid) = (volume.label.clone(), volume.uuid.clone());
        if let Some(known) = labels
            .iter()
            .find(|known| **known != label && is_same_label(known, &label))
        {
            return Err(CliError::input(format!(
                "{label} and {known}, which the catalogue has, are one cartridge"
            ))
            .hint("`tapewise catalog volumes` lists what the catalogue has"));
        }
        if !labels.insert(label.clone()) | !uuids.insert(uuid.clone()) {
            return Err(CatalogueError::VolumeKnown { label, uuid }.into());
        }
    }
    for label in tapes {
        // One of ours that is known is read again.
        let known = archive.catalogue.find_volume(label)?;
        let is_ours = known.is_some_and(|(_, known)| known.format == VolumeFormat::Tapewise);
        if !is_ours && !labels.insert(label.clone()) {
            let said = format!("a volume with label {label} is in the catalogue");
            return Err(CliError::input(said).hint("`tapewise catalog forget` takes it out"));
        }
    }
    Ok(())
}

fn told(listed: &Listed, answer: &mut Answer) -> Result<(), CliError> {
    let (label, files, left_out) = (&listed.volume.label, listed.files, listed.left_out);
    let counts = serde_json::json!({
        "volume": label,
        "files_added": files,
        "left_out": left_out,
    });
    answer.push("volumes", counts);
    answer.line(&format!(
        "{label}: {} added, {left_out} left out",
        units::count(files as usize, "file"),
    ))
}

fn say_left_out(label: &str, path: &[u8], why: &LeftOut) {
    say(format_args!(
        "tapewise: {label}: {}: left out: {why}\n",
        shown(path)
    ));
}

/// The volume of an index.
fn of_index(args: &Add, path: &Path, library: &[String]) -> Result<Found, CliError> {
    let file = File::open(path).map_err(CliError::input)?;
    let (index, files) = read_ltfs_index(BufReader::new(file)).map_err(CliError::input)?;
    let layout = match args.block_size {
        Some(bytes) => LtfsLayout::assumed().with_block_size(bytes),
        None => LtfsLayout::assumed(),
    };
    let label = path.file_stem().and_then(|stem| stem.to_str());
    let label = label.ok_or_else(|| CliError::input("its name is not a label of a cartridge"))?;
    let label = in_library(label, library);
    let ForeignVolume {
        volume,
        recorded,
        left_out,
    } = ForeignVolume::of_index(&label, &index, &files, &layout);
    for (path, why) in &left_out {
        say_left_out(&label, path, why);
    }
    let listed = Listed {
        volume,
        files: recorded.len() as u64,
        left_out: left_out.len() as u64,
    };
    Ok(Found {
        volumes: vec![listed],
        files: Files::Index(recorded),
    })
}

/// The cartridges of a list in the CSV of requests. A row without a volume is of the cartridge that the list
/// is named like.
fn of_blocks(path: &Path, block_size: Option<u64>) -> Result<Found, CliError> {
    let block_bytes = block_size.ok_or_else(|| {
        CliError::input("the block length of these cartridges is not known")
            .hint("--block-size BYTES says it")
    })?;
    let file = File::open(path).map_err(CliError::input)?;
    let options = FieldOptions { block_size };
    let mut rows = CsvRows::open(BufReader::new(file), options).map_err(CliError::input)?;
    let named_like = path.file_stem().and_then(|stem| stem.to_str());
    let requests = std::iter::from_fn(|| rows.next_request().transpose());
    let list = BlockList::read(requests, named_like, block_bytes)?;
    for notice in rows.finish() {
        say(format_args!("tapewise: {}: {notice}\n", path.display()));
    }
    let volumes = list.volumes(|label, inner, why| say_left_out(label, inner.as_bytes(), why))?;
    Ok(Found {
        volumes,
        files: Files::List(path.to_owned(), list),
    })
}

impl From<ListError> for CliError {
    fn from(error: ListError) -> CliError {
        match error {
            ListError::SetAside(_) => CliError::failed(error)
                .hint("set TMPDIR to a directory with as much room as the list takes"),
            _ => CliError::input(error),
        }
    }
}

/// The label that the library has for the cartridge that a file calls `given`; where it has none, or more
/// than one, what the file says.
fn in_library(given: &str, library: &[String]) -> String {
    match InLibrary::find(given, library) {
        InLibrary::Is(label) => {
            say(format_args!(
                "tapewise: {given} is {label} in the library: the archive knows it by that label\n"
            ));
            return label;
        }
        InLibrary::MayBe(one, other) => say(format_args!(
            "tapewise: {given} may be {one} or {other} in the library: rename the file like the right one\n"
        )),
        InLibrary::NotThere if !library.is_empty() => say(format_args!(
            "tapewise: {given} is not in the library now: `recall` asks for a cartridge of that label\n"
        )),
        InLibrary::Itself | InLibrary::NotThere => {}
    }
    given.to_owned()
}
