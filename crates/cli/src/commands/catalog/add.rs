//! `tapewise catalog add`: cartridges that others wrote, or whose catalogue was lost.

use super::blocks::{Found, of_blocks};
use super::label;
use crate::archive::Archive;
use crate::error::CliError;
use crate::interrupt::stop_on_interrupt;
use crate::now::now_ns;
use crate::output::{print, say};
use crate::units;
use std::collections::HashSet;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tapewise_archive::catalogue::{CatalogueError, Recorded, Volumes};
use tapewise_archive::deliver::{InnerPath, shown};
use tapewise_archive::ltfs::deliver::Wanted;
use tapewise_archive::mover::Others;
use tapewise_archive::record::{self, Owner, Volume, VolumeFormat, VolumeState};
use tapewise_archive::sums::ltfs_index_sum;
use tapewise_formats::ltfs_extent::LtfsLayout;
use tapewise_formats::ltfs_index::{LtfsFile, read_ltfs_index};

/// Add cartridges of others: LTFS volumes by their indexes, tar tapes and ours by reading them, any tape
/// by a list of blocks.
///
/// Files appear in the archive below the cartridge's label; `find` says which tape holds them, and
/// `recall --archive` brings them back. Such cartridges are read and never written.
#[derive(clap::Args, Debug)]
pub struct Add {
    /// The archive.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    /// Indexes of LTFS volumes, as XML, each named like its cartridge's label, A00012L6.xml; or lists of
    /// files and blocks, in the CSV of requests, with the labels in a column `volume`.
    ///
    /// Files that are known by their blocks only are delivered unverified.
    #[arg(value_name = "INDEX.xml|LIST.csv")]
    indexes: Vec<PathBuf>,
    /// Bytes of a block of these volumes [default: 524288 for LTFS; a list needs it].
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..=16_777_215))]
    block_size: Option<u64>,
    /// Labels of cartridges in the library that hold tar archives, or that are ours: they are read
    /// from end to end, on all drives.
    ///
    /// What is on a cartridge of ours is joined to what the catalogue knows, also where the cartridge is known
    /// and holds more than that. Of two versions of a file the one that was stored later counts. A file that
    /// spans cartridges is added when all of them are read by one command.
    #[arg(long = "tape", value_name = "LABEL")]
    tapes: Vec<String>,
    /// Say nothing on standard error but errors.
    #[arg(short, long)]
    quiet: bool,
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
                "tapewise: {}; labels are taken as the files are named\n",
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
            of_index(args, index, &library).map(|found| vec![found])
        };
        found.extend(read.map_err(|error| error.of(index.display()))?);
    }
    all_new(&archive, &found, &args.tapes)?;
    for Found {
        volume,
        recorded,
        left_out,
    } in &found
    {
        archive.catalogue.add_recorded(volume, recorded, now_ns())?;
        told(&volume.label, recorded.len(), left_out)?;
    }
    if args.tapes.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let cache = archive.cache()?;
    let stop = stop_on_interrupt()?;
    let copies = archive.settings.copies;
    let rebuilt = archive.with_mover(&cache, &stop, args.quiet, |mover| {
        mover.read_in(&args.tapes, Others::Add, copies)
    })?;
    super::rebuild::told(&rebuilt)
}

/// Refuses volumes that are known before anything is written, and before a tape is read.
fn all_new(archive: &Archive, found: &[Found], tapes: &[String]) -> Result<(), CliError> {
    let known = archive.catalogue.volumes()?.into_iter();
    let known = known.map(|(_, volume)| (volume.label, volume.uuid));
    let (mut labels, mut uuids): (HashSet<String>, HashSet<String>) = known.unzip();
    for Found { volume, .. } in found {
        let (label, uuid) = (volume.label.clone(), volume.uuid.clone());
        if let Some(known) = labels
            .iter()
            .find(|known| **known != label && label::is_same(known, &label))
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

fn told(label: &str, files: usize, left_out: &[(Vec<u8>, String)]) -> Result<(), CliError> {
    for (path, why) in left_out {
        say(format_args!(
            "tapewise: {label}: {}: left out: {why}\n",
            shown(path)
        ));
    }
    print(&format!(
        "{label}: {} added, {} left out\n",
        units::count(files, "file"),
        left_out.len()
    ))
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
    let label = label.ok_or_else(|| CliError::input("its name is no label of a cartridge"))?;
    let label = label::in_library(label, library);
    let label = label.as_str();
    let volume = Volume {
        label: label.to_owned(),
        uuid: index.volume_uuid.clone(),
        format: VolumeFormat::Ltfs,
        state: VolumeState::Full,
        block_bytes: layout.block_size as u32,
        next_block: 0,
        written_bytes: index.extent_bytes,
    };
    let mut left_out = Vec::new();
    let mut recorded = Vec::new();
    for file in &files {
        match of_entry(label, file, &layout) {
            Ok(file) => recorded.push(file),
            Err(why) => left_out.push((file.path.to_string().into_bytes(), why)),
        }
    }
    Ok(Found {
        volume,
        recorded,
        left_out,
    })
}

fn of_entry(label: &str, file: &LtfsFile, layout: &LtfsLayout) -> Result<Recorded, String> {
    let sums = file.hashes.iter().filter_map(ltfs_index_sum).collect();
    let wanted = Wanted::new(file, layout, None, sums, Vec::new()).map_err(|e| e.to_string())?;
    let bytes: u64 = wanted
        .segments
        .iter()
        .map(|segment| segment.bytes)
        .fold(0, u64::saturating_add);
    if bytes < file.length {
        return Err("it has holes: `recall --ltfs` brings it back".to_owned());
    }
    let inner = wanted.path.to_string();
    let path = InnerPath::new(format!("{label}/{inner}")).map_err(|e| e.to_string())?;
    Ok(Recorded {
        file: record::File {
            path: path.as_bytes().to_vec(),
            bytes: file.length,
            modified_ns: wanted.expected.metadata.modified_ns.unwrap_or(0),
            mode: wanted.expected.metadata.mode.unwrap_or(0o644),
            sums: wanted.expected.sums,
        },
        owner: Owner::default(),
        zstd_bytes: None,
        segments: wanted.segments,
    })
}
