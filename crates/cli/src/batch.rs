//! What is to be read: from whatever the user gives to requests, with what was recognised.

use crate::error::CliError;
use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};
use tapewise_formats::list::{Name, Separator, read_list};
use tapewise_formats::ltfs_extent::{LtfsLayout, ltfs_requests};
use tapewise_formats::ltfs_index::{LtfsFile, LtfsIndex, read_ltfs_index};
use tapewise_formats::ltfs_select::{Selection, select};
use tapewise_formats::{Format, Request, Requests, fields::FieldOptions};
use tapewise_formats::{bsr, csv_requests, cta_tapefile, hsi, jsonl, ltfs_label, ltfs_xattr};

/// Where the requests come from.
#[derive(clap::Args, Debug, Default)]
pub struct Input {
    /// Requests: CSV, JSON Lines, an LTFS index, a CTA listing; "-" or nothing is standard input.
    #[arg(value_name = "REQUESTS")]
    requests: Option<PathBuf>,
    /// What the requests are, where the first bytes do not tell.
    #[arg(long, value_name = "FORMAT", value_parser = format_name)]
    format: Option<Format>,
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

fn format_name(text: &str) -> Result<Format, String> {
    Format::from_name(text).ok_or_else(|| {
        let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
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
}

/// Reads what the user asks for.
pub fn load(input: &Input) -> Result<Batch, CliError> {
    let mut batch = if let Some(mount) = &input.ltfs_mount {
        from_mount(input, mount)?
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
                "none of the {before} requests is on volume {volume}"
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
    if format == Format::LtfsIndex {
        return from_index(input, name, reader);
    }
    let options = FieldOptions {
        block_size: input.block_size,
    };
    let read: Requests = match format {
        Format::Csv => csv_requests::read_csv(reader, options).map_err(|e| bad(&e))?,
        Format::JsonLines => jsonl::read_json_lines(reader, options).map_err(|e| bad(&e))?,
        Format::CtaTapefile => cta_tapefile::read_cta_tapefiles(reader).map_err(|e| bad(&e))?,
        Format::Bsr => {
            let (records, notices) = bsr::read_bsr(reader).map_err(|e| bad(&e))?;
            let mut read = bsr::bsr_requests(&records);
            read.notices.splice(0..0, notices);
            read
        }
        Format::HsiListing => hsi::read_hsi_listing(reader).map_err(|e| bad(&e))?,
        Format::List | Format::NulList => {
            return Err(CliError::input(format!("{name}: {}", detected.sentence)).hint(
                "names alone have no place on a tape: add --ltfs-index INDEX.xml or --ltfs-mount DIR",
            ));
        }
        _ => {
            return Err(CliError::input(format!(
                "{name}: {}: not requests",
                detected.sentence
            )));
        }
    };
    let block_size = match format {
        Format::CtaTapefile => Some(input.block_size.unwrap_or(cta_tapefile::CTA_BLOCK_SIZE)),
        _ => input.block_size,
    };
    Ok(Batch {
        recognised: format!(
            "{name}: {} requests, {}",
            read.requests.len(),
            format.name()
        ),
        notices: read
            .notices
            .iter()
            .map(|notice| format!("{name}: {notice}"))
            .collect(),
        requests: read.requests,
        block_size,
        is_ltfs: false,
    })
}

fn layout(input: &Input) -> Result<LtfsLayout, CliError> {
    let layout = match &input.ltfs_label {
        Some(path) => {
            let label = ltfs_label::read_ltfs_label(open(path)?)
                .map_err(|e| CliError::input(format!("{}: {e}", path.display())))?;
            LtfsLayout::from_label(&label)
        }
        None => LtfsLayout::assumed(),
    };
    Ok(match input.block_size {
        Some(bytes) => layout.with_block_size(bytes),
        None => layout,
    })
}

fn names(input: &Input) -> Result<Vec<Name>, CliError> {
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
    Ok(list
        .map_err(|e| CliError::input(format!("{name}: {e}")))?
        .names)
}

fn from_index(input: &Input, name: &str, reader: impl BufRead) -> Result<Batch, CliError> {
    let bad = |error: &dyn std::fmt::Display| CliError::input(format!("{name}: {error}"));
    let (index, files) = read_ltfs_index(reader).map_err(|e| bad(&e))?;
    let layout = layout(input)?;
    let (chosen, mut notices): (Vec<usize>, Vec<String>) = if input.all_files {
        ((0..files.len()).collect(), Vec::new())
    } else {
        let wanted = names(input)?;
        let selection = select(&files, &wanted, None).map_err(|e| bad(&e))?;
        let notices = selection_notices(input, name, &selection)?;
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
        "{chosen} of {} files; {} on the volume {} (LTFS {}, generation {})",
        files.len(),
        crate::units::bytes(bytes),
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
            "{name} has these names more than once: {shown}"
        )));
    }
    let mut notices = Vec::new();
    if !selection.not_found.is_empty() {
        let count = selection.not_found.len();
        let said = format!(
            "{name} does not have {count} of the names: {}",
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
            "names listed before, {count} of them: {}",
            shown(&selection.duplicates)
        ));
    }
    Ok(notices)
}

fn from_mount(input: &Input, mount: &Path) -> Result<Batch, CliError> {
    let layout = layout(input)?;
    let mut requests = Vec::new();
    for name in names(input)? {
        let text = name.as_str().map_err(CliError::input)?;
        let path = mount.join(text.trim_start_matches('/'));
        let bad =
            |error: &dyn std::fmt::Display| CliError::input(format!("{}: {error}", path.display()));
        let length = std::fs::metadata(&path).map_err(|e| bad(&e))?.len();
        let attributes = attributes(&path).map_err(|e| bad(&e))?;
        let pairs: Vec<(&str, &[u8])> = attributes
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_slice()))
            .collect();
        let request = ltfs_xattr::request_from_xattrs(text, length, &pairs, &layout);
        requests.push(request.map_err(|e| bad(&e))?);
    }
    Ok(Batch {
        recognised: format!(
            "{} files of the mounted volume {}",
            requests.len(),
            mount.display()
        ),
        notices: vec![ltfs_xattr::xattr_notice().to_string()],
        requests,
        block_size: Some(layout.block_size),
        is_ltfs: true,
    })
}

/// The LTFS attributes of a file, with or without the `user.` that Linux puts in front.
fn attributes(path: &Path) -> std::io::Result<Vec<(String, Vec<u8>)>> {
    let mut found = Vec::new();
    for name in ltfs_xattr::LTFS_XATTR_NAMES {
        for full in [format!("user.{name}"), name.to_owned()] {
            match xattr::get(path, &full) {
                Ok(Some(value)) => {
                    found.push((full, value));
                    break;
                }
                Ok(None) => {}
                // Names outside the namespaces that the system knows are "not supported".
                Err(error) if error.kind() == std::io::ErrorKind::Unsupported => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(found)
}

/// Reads a whole file for a caller that parses it at once.
pub fn read_text(path: &Path) -> Result<String, CliError> {
    let mut text = String::new();
    open(path)?
        .read_to_string(&mut text)
        .map_err(|e| CliError::input(format!("{}: {e}", path.display())))?;
    Ok(text)
}
