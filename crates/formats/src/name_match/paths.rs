//! The paths of a volume or an archive, looked up as people name them.

use super::glob::Glob;
use std::collections::BTreeSet;
use unicode_normalization::UnicodeNormalization;

/// How a name was understood, from the surest to the least sure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// It is the path of a file, or of a directory with files.
    Exact,
    /// Accents are encoded in another way (NFC and NFD).
    Encoding,
    /// Upper and lower case differ.
    Case,
    /// It is the last part of the path.
    Name,
    /// It is the last part of the path without its ending, as in `A001C003` for `A001C003.mov`.
    Stem,
    /// It is a pattern.
    Pattern,
}

/// What a name means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// These files, in the order of the paths; several if it is a directory or a pattern.
    Files(How, Vec<usize>),
    /// One of these, and only the user knows which.
    Several(Vec<usize>),
    /// Nothing.
    Nothing,
}

/// An entry of a table: what is compared, and the number of the path.
type Row = (Box<str>, u32);

/// Paths of files, with slashes between their parts.
#[derive(Debug)]
pub struct Paths {
    paths: Vec<String>,
    /// By path, without case and composed, sorted.
    by_path: Vec<Row>,
    /// By last part, likewise.
    by_name: Vec<Row>,
    /// Directories by last part; the number is that of a file in it.
    by_directory: Vec<Row>,
}

/// A text without case, composed (NFC).
pub(super) fn folded(text: &str) -> Box<str> {
    if text.is_ascii() {
        return text.to_ascii_lowercase().into();
    }
    let lower: String = text.nfc().flat_map(char::to_lowercase).collect();
    lower.nfc().collect::<String>().into()
}

fn same_composed(a: &str, b: &str) -> bool {
    a.nfc().eq(b.nfc())
}

/// The last part of a path.
pub(super) fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The rows whose text begins with `start`.
fn beginning<'t>(table: &'t [Row], start: &str) -> &'t [Row] {
    let from = table.partition_point(|(text, _)| **text < *start);
    let many = table[from..].partition_point(|(text, _)| text.starts_with(start));
    &table[from..from + many]
}

/// The rows whose text is `text`.
fn equal<'t>(table: &'t [Row], text: &str) -> &'t [Row] {
    let from = table.partition_point(|(row, _)| **row < *text);
    let many = table[from..].partition_point(|(row, _)| **row == *text);
    &table[from..from + many]
}

impl Paths {
    /// Paths in their own order, which the numbers of what is found refer to.
    pub fn new(paths: Vec<String>) -> Paths {
        let table = |texts: &mut dyn Iterator<Item = (Box<str>, u32)>| {
            let mut table: Vec<Row> = texts.collect();
            table.sort();
            table
        };
        let numbered = || paths.iter().zip(0u32..);
        let by_path = table(&mut numbered().map(|(path, at)| (folded(path), at)));
        let by_name = table(&mut numbered().map(|(path, at)| (folded(last_part(path)), at)));
        let mut seen = BTreeSet::new();
        let mut directories = Vec::new();
        for (path, at) in numbered() {
            let mut directory = path.as_str();
            while let Some((above, _)) = directory.rsplit_once('/') {
                if !seen.insert(above) {
                    break;
                }
                directories.push((folded(last_part(above)), at));
                directory = above;
            }
        }
        let by_directory = table(&mut directories.into_iter());
        Paths {
            paths,
            by_path,
            by_name,
            by_directory,
        }
    }

    /// A path.
    pub fn path(&self, at: usize) -> &str {
        &self.paths[at]
    }

    /// The surest of rows whose folded text is that of `name`; `of` gives the text of a path to compare.
    fn surest<'s>(&'s self, rows: &[Row], name: &str, of: impl Fn(&'s str) -> &'s str) -> Found {
        let mut best: Option<(How, Vec<usize>)> = None;
        for &(_, at) in rows {
            let text = of(&self.paths[at as usize]);
            let how = match text {
                text if text == name => How::Exact,
                text if same_composed(text, name) => How::Encoding,
                _ => How::Case,
            };
            match &mut best {
                Some((best, files)) if *best == how => files.push(at as usize),
                Some((best, _)) if *best < how => {}
                _ => best = Some((how, vec![at as usize])),
            }
        }
        match best {
            None => Found::Nothing,
            Some((how, files)) if files.len() == 1 => Found::Files(how, files),
            Some((_, mut files)) => {
                files.sort_unstable();
                Found::Several(files)
            }
        }
    }

    /// The file, or all files below the directory, of a path.
    pub fn at_path(&self, name: &str) -> Found {
        let key = folded(name);
        match self.surest(equal(&self.by_path, &key), name, |path| path) {
            Found::Nothing => self.below(name),
            found => found,
        }
    }

    /// The files below a directory.
    fn below(&self, name: &str) -> Found {
        if name.is_empty() {
            return all((0..self.paths.len()).collect(), How::Exact);
        }
        let rows = beginning(&self.by_path, &format!("{}/", folded(name)));
        // As many parts of each path as the name has: its spelling of the directory.
        let parts = name.split('/').count();
        let spelled = |path: &str| path.split('/').take(parts).collect::<Vec<_>>().join("/");
        let mut best: Option<How> = None;
        let mut spellings = BTreeSet::new();
        let mut files = Vec::new();
        for &(_, at) in rows {
            let spelling = spelled(&self.paths[at as usize]);
            let how = match spelling.as_str() {
                spelling if spelling == name => How::Exact,
                spelling if same_composed(spelling, name) => How::Encoding,
                _ => How::Case,
            };
            if best.is_none_or(|best| how < best) {
                best = Some(how);
                files.clear();
                spellings.clear();
            }
            if best == Some(how) {
                files.push(at as usize);
                spellings.insert(spelling);
            }
        }
        files.sort_unstable();
        match best {
            None => Found::Nothing,
            Some(how) if spellings.len() == 1 => Found::Files(how, files),
            Some(_) => Found::Several(files),
        }
    }

    /// The file whose path ends with this name, the directory, or the file or directory with this name and some
    /// ending.
    pub fn at_name(&self, name: &str) -> Found {
        let key = folded(name);
        match self.surest(equal(&self.by_name, &key), name, last_part) {
            Found::Nothing => {}
            Found::Files(_, files) => return Found::Files(How::Name, files),
            found => return found,
        }
        match self.in_directories(equal(&self.by_directory, &key), &key, How::Name) {
            Found::Nothing => {}
            found => return found,
        }
        let start = format!("{key}.");
        let is_ending = |row: &&Row| !row.0[start.len()..].contains('.');
        let rows: Vec<usize> = beginning(&self.by_name, &start)
            .iter()
            .filter(is_ending)
            .map(|row| row.1 as usize)
            .collect();
        match rows.as_slice() {
            [] => {
                let rows: Vec<Row> = beginning(&self.by_directory, &start)
                    .iter()
                    .filter(is_ending)
                    .cloned()
                    .collect();
                self.in_directories(&rows, &start, How::Stem)
            }
            [_] => Found::Files(How::Stem, rows),
            _ => Found::Several(sorted(rows)),
        }
    }

    /// The files of the one directory among these rows, whose last part begins with `key`.
    fn in_directories(&self, rows: &[Row], key: &str, how: How) -> Found {
        let [(_, at)] = rows else {
            let one_of_each = rows.iter().map(|row| row.1 as usize).collect();
            return match rows {
                [] => Found::Nothing,
                _ => Found::Several(sorted(one_of_each)),
            };
        };
        let path = &self.paths[*at as usize];
        let mut end = 0;
        for part in path.split('/') {
            end += part.len();
            if folded(part).starts_with(key) {
                break;
            }
            end += 1;
        }
        match self.below(&path[..end.min(path.len())]) {
            Found::Files(_, files) => Found::Files(how, files),
            found => found,
        }
    }

    /// The files that match a pattern; one without slashes is compared with the last part of each path.
    pub fn at_pattern(&self, pattern: &str) -> Found {
        if !pattern.contains(['*', '?', '[', '{']) {
            return Found::Nothing;
        }
        let Some(glob) = Glob::new(pattern) else {
            return Found::Nothing;
        };
        let by_name = !pattern.contains('/');
        let matches = |path: &&String| glob.matches(if by_name { last_part(path) } else { path });
        let files = self.paths.iter().enumerate();
        let files = files.filter(|(_, path)| matches(path)).map(|(at, _)| at);
        all(files.collect(), How::Pattern)
    }

    /// Whether a name without case is a file, or a directory with files.
    pub(super) fn has_folded(&self, key: &str) -> bool {
        !equal(&self.by_path, key).is_empty()
            || !beginning(&self.by_path, &format!("{key}/")).is_empty()
    }

    /// The paths whose last part is most like that of a name, the most like first.
    pub fn nearest(&self, name: &str, count: usize) -> Vec<&str> {
        const ALIKE: f64 = 0.6;
        let (whole, key) = (
            folded(&super::with_slashes(name)),
            folded(last_part(&super::with_slashes(name))),
        );
        let mut best: Vec<(f64, f64, usize)> = Vec::new();
        for (text, at) in &self.by_name {
            let score = strsim::jaro_winkler(text, &key);
            let is_better = best.len() < count || best.last().is_some_and(|last| score >= last.0);
            if score < ALIKE || !is_better {
                continue;
            }
            let path = &self.paths[*at as usize];
            let entry = (
                score,
                strsim::jaro_winkler(&folded(path), &whole),
                *at as usize,
            );
            let at = best.partition_point(|one| (one.0, one.1) >= (entry.0, entry.1));
            best.insert(at, entry);
            best.truncate(count);
        }
        best.into_iter().map(|(_, _, at)| self.path(at)).collect()
    }
}

fn sorted(mut files: Vec<usize>) -> Vec<usize> {
    files.sort_unstable();
    files
}

fn all(files: Vec<usize>, how: How) -> Found {
    if files.is_empty() {
        Found::Nothing
    } else {
        Found::Files(how, files)
    }
}
