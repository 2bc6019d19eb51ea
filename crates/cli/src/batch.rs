//! What is to be read: from whatever the user gives to requests, with what was recognised.

mod mount;

use crate::error::CliError;
use crate::units;
use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};
use tapewise_formats::list::{Name, Separator, read_list};
use tapewise_formats::ltfs_extent::{LtfsLayout, ltfs_requests};
use tapewise_formats::ltfs_index::{LtfsFile, LtfsIndex, read_ltfs_index};
use tapewise_formats::ltfs_label;
use tapewise_formats::ltfs_select::{Selection, select};
use tapewise_formats::{Content, Extent, FORMATS, Format, Request, fields::FieldOptions};

/// Where the requests come from.
#[derive(clap::Args, Debug, Default)]
pub struct Input {
    /// Requests: CSV, JSON Lines, an LTFS index, a CTA listing; "-" or nothing is standard input.
    #[arg(value_name = "REQUESTS")]
    requests: Option<PathBuf>,
    /// What the requests are, where the first bytes do not tell.
    #[arg(long, value_name = "FORMAT", value_parser = format_name)]
    format: Option<&'static Format>,
    /// Index of an LTFS volume; the names to read come from --files-from or standard input.
    #[arg(long, value_name = "XML", conflicts_with = "requests")]
    ltfs_index: Option<PathBuf>,
    /// Label of the same volume: its block size and partitions.
    #[arg(long, value_name = "XML")]
    ltfs_label: Option<PathBuf>,
    /// Mounted LTFS volume: positions come from the extended attributes of its files.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["requests", "ltfs_index"])]
    ltfs_mount: Option<PathBuf>,
    /// Names to read, one a line; "-" is standard input.
    #[arg(long, value_name = "LIST")]
    files_from: Option<PathBuf>,
    /// Read everything in the LTFS index instead of a list of names.
    #[arg(long, conflicts_with = "files_from")]
    all_files: bool,
    /// Names in the list end with a zero byte, not a line feed.
    #[arg(short = '0', long)]
    null: bool,
    /// Go on without names that the index does not have; they are said.
    #[arg(long)]
    ignore_missing: bool,
    /// Bytes of a block on the tape.
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..))]
    block_size: Option<u64>,
    /// Take the requests of this cartridge only.
    #[arg(long, value_name = "VOLUME")]
    volume: Option<String>,
}

impl Input {
    /// The files of a list below the mount point of an LTFS volume.
    pub fn of_mount(
        mount: &Path,
        files_from: Option<&Path>,
        null: bool,
        ltfs_label: Option<&Path>,
    ) -> Input {
        Input {
            ltfs_mount: Some(mount.to_owned()),
            files_from: files_from.map(Path::to_owned),
            null,
            ltfs_label: ltfs_label.map(Path::to_owned),
            ..Input::default()
        }
    }
}

/// Options that choose files of an LTFS volume mean nothing for requests that name their blocks.
fn refuse_index_options(input: &Input, name: &str) -> Result<(), CliError> {
    let given = [
        ("--files-from", input.files_from.is_some()),
        ("--all-files", input.all_files),
        ("--null (-0)", input.null),
        ("--ignore-missing", input.ignore_missing),
        ("--ltfs-label", input.ltfs_label.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(CliError::input(format!(
            "{option} needs an LTFS volume; {name} is none"
        ))
        .hint("add --ltfs-index INDEX.xml or --ltfs-mount DIR, or leave it out")),
        None => Ok(()),
    }
}

fn format_name(text: &str) -> Result<&'static Format, String> {
    Format::from_name(text).ok_or_else(|| {
        let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        format!("no such format; there are: {}", names.join(", "))
    })
}

/// Requests with what is known about their source.
#[derive(Debug, Default)]
pub struct Batch {
    /// In the order of the list.
    pub requests: Vec<Request>,
    /// Bytes of a block, where known.
    pub block_size: Option<u64>,
    /// Whether blocks are counted in the partitions of an LTFS volume.
    pub is_ltfs: bool,
    /// What was recognised, in one line.
    pub recognised: String,
    /// What was ignored, assumed or odd.
    pub notices: Vec<String>,
}

impl Batch {
    /// Number of extents.
    pub fn extents(&self) -> usize {
        self.requests
            .iter()
            .map(|request| request.extents.len())
            .sum()
    }

    /// The bytes of an extent; `None` where neither it nor the size of a block says.
    pub fn bytes(&self, extent: &Extent) -> Option<u64> {
        let by_blocks = || Some(extent.block_count.saturating_mul(self.block_size?));
        extent.byte_count.or_else(by_blocks)
    }
}

/// Reads what the user asks for.
pub fn load(input: &Input) -> Result<Batch, CliError> {
    let mut batch = if let Some(mount) = &input.ltfs_mount {
        mount::from_mount(input, mount)?
    } else if let Some(index) = &input.ltfs_index {
        from_index(input, &index.display().to_string(), open(index)?)?
    } else {
        from_file(input)?
    };
    if let Some(volume) = &input.volume {
        let before = batch.requests.len();
        batch
            .requests
            .retain(|request| request.volume.as_ref() == Some(volume));
        if batch.requests.is_empty() && before > 0 {
            return Err(CliError::input(format!(
                "{}, none on volume {volume}",
                units::count(before, "request")
            )));
        }
        let kept = batch.requests.len();
        batch.recognised = format!("{}, {kept} of them on volume {volume}", batch.recognised);
    }
    Ok(batch)
}

fn open(path: &Path) -> Result<BufReader<File>, CliError> {
    let file = File::open(path).map_err(|e| CliError::input(format!("{}: {e}", path.display())))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        let hint = "for a mounted LTFS volume use --ltfs-mount";
        return Err(CliError::input(format!("{}: is a directory", path.display())).hint(hint));
    }
    Ok(BufReader::with_capacity(1 << 20, file))
}

/// Standard input, or an error where it is a terminal and would wait for ever.
fn standard_input(what: &str) -> Result<BufReader<std::io::Stdin>, CliError> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Err(CliError::input(format!("nothing to read: {what}"))
            .hint("tapewise order --help shows the inputs; tapewise demo needs none"));
    }
    Ok(BufReader::with_capacity(1 << 20, stdin))
}

fn from_file(input: &Input) -> Result<Batch, CliError> {
    match input.requests.as_deref() {
        Some(path) if path != Path::new("-") => {
            from_reader(input, &path.display().to_string(), open(path)?)
        }
        _ => from_reader(
            input,
            "standard input",
            standard_input("give a file of requests")?,
        ),
    }
}

fn from_reader(input: &Input, name: &str, mut reader: impl BufRead) -> Result<Batch, CliError> {
    let bad = |error: &dyn std::fmt::Display| CliError::input(format!("{name}: {error}"));
    let first = reader.fill_buf().map_err(|e| bad(&e))?;
    let detected = tapewise_formats::detect(first, Some(name));
    let format = input.format.unwrap_or(detected.format);
    if matches!(format.content, Content::Index) {
        return from_index(input, name, reader);
    }
    let recognised = match input.format {
        Some(format) => format!("read as {}, as --format says", format.name),
        None => detected.sentence,
    };
    refuse_index_options(input, name)?;
    let options = FieldOptions {
        block_size: input.block_size,
    };
    let (read, block_bytes) = match format.content {
        Content::Requests {
            read, block_bytes, ..
        } => {
            let read = read(&mut reader, options).map_err(|e| bad(&e))?;
            (read, block_bytes)
        }
        Content::Names => {
            return Err(CliError::input(format!("{name}: {recognised}")).hint(
                "names alone have no place on a tape: add --ltfs-index INDEX.xml or --ltfs-mount DIR",
            ));
        }
        Content::Index | Content::Other => {
            return Err(CliError::input(format!(
                "{name}: {recognised}: not requests"
            )));
        }
    };
    Ok(Batch {
        recognised: format!(
            "{name}: {}, {}",
            units::count(read.requests.len(), "request"),
            format.name
        ),
        notices: read
            .notices
            .iter()
            .map(|notice| format!("{name}: {notice}"))
            .collect(),
        requests: read.requests,
        block_size: input.block_size.or(block_bytes),
        is_ltfs: false,
    })
}

/// The layout that the label gives, if there is one; it must be of the same volume as the index.
fn layout(input: &Input, volume_uuid: Option<&str>) -> Result<LtfsLayout, CliError> {
    let layout = match &input.ltfs_label {
        Some(path) => {
            let label = ltfs_label::read_ltfs_label(open(path)?)
                .map_err(|e| CliError::input(format!("{}: {e}", path.display())))?;
            if let Some(uuid) = volume_uuid.filter(|uuid| *uuid != label.volume_uuid) {
                return Err(CliError::input(format!(
                    "{} is the label of volume {}, the index is of volume {uuid}",
                    path.display(),
                    label.volume_uuid
                )));
            }
            LtfsLayout::from_label(&label)
        }
        None => LtfsLayout::assumed(),
    };
    Ok(match input.block_size {
        Some(bytes) => layout.with_block_size(bytes),
        None => layout,
    })
}

/// The list of names, and what to call it.
fn names(input: &Input) -> Result<(String, Vec<Name>), CliError> {
    let separator = if input.null {
        Separator::Nul
    } else {
        Separator::Newline
    };
    let (name, list) = match input.files_from.as_deref() {
        Some(path) if path != Path::new("-") => (
            path.display().to_string(),
            read_list(open(path)?, separator),
        ),
        _ => {
            let what =
                "give the names to read with --files-from or on standard input, or --all-files";
            (
                "standard input".to_owned(),
                read_list(standard_input(what)?, separator),
            )
        }
    };
    let list = list.map_err(|e| CliError::input(format!("{name}: {e}")))?;
    Ok((name, list.names))
}

fn from_index(input: &Input, name: &str, reader: impl BufRead) -> Result<Batch, CliError> {
    let bad = |error: &dyn std::fmt::Display| CliError::input(format!("{name}: {error}"));
    let (index, files) = read_ltfs_index(reader).map_err(|e| bad(&e))?;
    let layout = layout(input, Some(&index.volume_uuid))?;
    let (chosen, mut notices): (Vec<usize>, Vec<String>) = if input.all_files {
        ((0..files.len()).collect(), Vec::new())
    } else {
        let (list, wanted) = names(input)?;
        let in_list = |e| CliError::input(format!("{list}: {e}"));
        let selection = select(&files, &wanted, None).map_err(in_list)?;
        let notices = selection_notices(input, name, &list, &selection)?;
        (selection.files, notices)
    };
    let volume = Some(index.volume_name.as_str()).filter(|name| !name.is_empty());
    let chosen_files = chosen.iter().map(|&at| &files[at]);
    let read = ltfs_requests(chosen_files, &layout, volume).map_err(|e| bad(&e))?;
    notices.extend(
        index
            .notices
            .iter()
            .chain(&read.notices)
            .map(|n| format!("{name}: {n}")),
    );
    Ok(Batch {
        recognised: describe_index(&index, &files, chosen.len()),
        notices,
        requests: read.requests,
        block_size: Some(layout.block_size),
        is_ltfs: true,
    })
}

fn describe_index(index: &LtfsIndex, files: &[LtfsFile], chosen: usize) -> String {
    let bytes: u64 = files.iter().map(|file| file.length).sum();
    format!(
        "{chosen} of {}; {} on the volume {} (LTFS {}, generation {})",
        units::count(files.len(), "file"),
        units::bytes(bytes),
        if index.volume_name.is_empty() {
            &index.volume_uuid
        } else {
            &index.volume_name
        },
        index.version,
        index.generation,
    )
}

/// Names that were not found are an error unless the user says otherwise; the rest are notices.
fn selection_notices(
    input: &Input,
    name: &str,
    list: &str,
    selection: &Selection,
) -> Result<Vec<String>, CliError> {
    let shown = |names: &[Name]| {
        let some: Vec<String> = names
            .iter()
            .take(3)
            .map(|name| {
                format!(
                    "line {}: {}",
                    name.line,
                    String::from_utf8_lossy(&name.bytes)
                )
            })
            .collect();
        let more = if names.len() > 3 {
            format!("; and {} more", names.len() - 3)
        } else {
            String::new()
        };
        format!("{}{more}", some.join("; "))
    };
    if !selection.ambiguous.is_empty() {
        let shown = shown(&selection.ambiguous);
        return Err(CliError::input(format!(
            "{name} has these names of {list} more than once: {shown}"
        )));
    }
    let mut notices = Vec::new();
    if !selection.not_found.is_empty() {
        let count = selection.not_found.len();
        let said = format!(
            "{name} does not have {count} of the names in {list}: {}",
            shown(&selection.not_found)
        );
        if !input.ignore_missing {
            let hint = "names are paths in the volume, byte for byte; --ignore-missing goes on without them";
            return Err(CliError::input(said).hint(hint));
        }
        notices.push(said);
    }
    if !selection.duplicates.is_empty() {
        let count = selection.duplicates.len();
        notices.push(format!(
            "{list}: names listed before, {count} of them: {}",
            shown(&selection.duplicates)
        ));
    }
    Ok(notices)
}

/// Reads a whole file for a caller that parses it at once.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    open(path)?
        .read_to_end(&mut bytes)
        .map_err(|e| CliError::input(format!("{}: {e}", path.display())))?;
    Ok(bytes)
}
