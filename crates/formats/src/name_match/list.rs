//! A list of names found among paths, with what was guessed on the way.

use super::paths::{folded, last_part};
use super::{Found, How, MatchBy, Matching, Paths, with_slashes};
use crate::list::Name;
use crate::misleading::shown;
use std::collections::HashMap;
use std::fmt;

/// What a list of names means.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matched {
    /// Files in the order of the list, each once; those of a directory or pattern in the order of the paths.
    pub files: Vec<usize>,
    /// Names that mean nothing.
    pub not_found: Vec<Name>,
    /// Names that could mean several files; none of them is in `files`.
    pub questions: Vec<Question>,
    /// Names all of whose files were named before.
    pub duplicates: Vec<Name>,
    /// What was guessed, for the user to see.
    pub guesses: Vec<Guess>,
}

/// A name that could mean several files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The name.
    pub name: Name,
    /// The files, all of them.
    pub files: Vec<usize>,
}

/// Something that was guessed to understand some of the names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guess {
    /// This was taken off so many names, because the paths do not begin with it.
    Prefix {
        /// What was taken off.
        prefix: String,
        /// How many names.
        names: usize,
    },
    /// So many names were understood in this way, the first of them so.
    How {
        /// The way.
        how: How,
        /// How many names.
        names: usize,
        /// The first one, and the first path that it means.
        first: (String, String),
        /// How many more paths the first one means.
        more: usize,
    },
}

impl fmt::Display for Guess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |names: usize| match names {
            1 => "1 name".to_owned(),
            many => format!("{many} names"),
        };
        match self {
            Guess::Prefix { prefix, names } => {
                let prefix = shown(prefix.as_bytes());
                write!(f, "took {prefix} off {} (--strip-prefix)", counted(*names))
            }
            Guess::How {
                how,
                names,
                first,
                more,
            } => {
                let way = match how {
                    How::Exact => "with the same path",
                    How::Encoding => "with accents encoded in another way",
                    How::Case => "with other upper and lower case",
                    How::Name => "by the last part of the path only",
                    How::Stem => "by the name without its ending",
                    How::Pattern => "as a pattern",
                };
                let more = match more {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                write!(
                    f,
                    "found {} {way}: {} is {}{more}",
                    counted(*names),
                    shown(first.0.as_bytes()),
                    shown(first.1.as_bytes())
                )
            }
        }
    }
}

/// Finds the files that a list names. Every name must be text.
pub fn match_list(paths: &Paths, names: &[(&Name, &str)], matching: &Matching) -> Matched {
    let mut reader = Reader {
        paths,
        by: matching.by,
        prefixes: Vec::new(),
    };
    let texts: Vec<String> = names.iter().map(|(_, text)| with_slashes(text)).collect();
    match &matching.strip_prefix {
        Some(prefix) => reader.prefixes.push((with_slashes(prefix), 0)),
        None if matching.by == MatchBy::Auto => reader.guess_prefixes(&texts),
        None => {}
    }
    let mut taken = std::collections::HashSet::new();
    let mut matched = Matched::default();
    let mut ways: Vec<(How, usize, (String, String), usize)> = Vec::new();
    for ((name, _), text) in names.iter().zip(&texts) {
        let (how, found) = match reader.find(text) {
            Found::Nothing => {
                matched.not_found.push((*name).clone());
                continue;
            }
            Found::Several(files) => {
                let name = (*name).clone();
                matched.questions.push(Question { name, files });
                continue;
            }
            Found::Files(how, files) => (how, files),
        };
        if how > How::Exact && matching.by == MatchBy::Auto {
            match ways.iter_mut().find(|way| way.0 == how) {
                Some(way) => way.1 += 1,
                None => {
                    let first = (text.clone(), paths.path(found[0]).to_owned());
                    ways.push((how, 1, first, found.len() - 1));
                }
            }
        }
        let before = matched.files.len();
        let new = found.into_iter().filter(|at| taken.insert(*at));
        matched.files.extend(new);
        if matched.files.len() == before {
            matched.duplicates.push((*name).clone());
        }
    }
    if matching.strip_prefix.is_none() {
        let used = reader.prefixes.into_iter().filter(|(_, names)| *names > 0);
        let guesses = used.map(|(prefix, names)| Guess::Prefix { prefix, names });
        matched.guesses.extend(guesses);
    }
    let ways = ways.into_iter();
    let ways = ways.map(|(how, names, first, more)| Guess::How {
        how,
        names,
        first,
        more,
    });
    matched.guesses.extend(ways);
    matched
}

/// Reads names, one after the other.
struct Reader<'p> {
    paths: &'p Paths,
    by: MatchBy,
    /// What is taken off names, and off how many it was.
    prefixes: Vec<(String, usize)>,
}

/// The rest of a name that lies below a prefix; the whole prefix stands for everything.
fn without<'n>(name: &'n str, prefix: &str) -> Option<&'n str> {
    match name.strip_prefix(prefix)? {
        "" => Some(""),
        rest if prefix.is_empty() => Some(rest),
        rest => rest.strip_prefix('/'),
    }
}

impl Reader<'_> {
    /// Looks for what names have in front that no path has, as a mount point. The prefix that explains most names
    /// counts, then the one that explains most of the others, up to four.
    fn guess_prefixes(&mut self, names: &[String]) {
        const MOST: usize = 4;
        // A name that is a path as it stands needs none; of a pattern the part before the pattern decides.
        let begins = |name: &str| match name.find(['*', '?', '[', '{']) {
            Some(at) if !self.paths.has_folded(&folded(name)) => name[..at]
                .rsplit_once('/')
                .map_or("", |(above, _)| above)
                .to_owned(),
            _ => name.to_owned(),
        };
        let mut left: Vec<String> = names
            .iter()
            .map(|name| begins(name))
            .filter(|name| name.contains('/') && !self.paths.has_folded(&folded(name)))
            .collect();
        while !left.is_empty() && self.prefixes.len() < MOST {
            // By prefix: how many names it explains, and the length of the first rest.
            let mut votes: HashMap<&str, usize> = HashMap::new();
            for name in &left {
                for (at, _) in name.match_indices('/') {
                    if self.paths.has_folded(&folded(&name[at + 1..])) {
                        *votes.entry(&name[..at]).or_default() += 1;
                    }
                }
            }
            let best = votes.into_iter();
            let best = best.max_by_key(|&(prefix, votes)| {
                (
                    votes,
                    std::cmp::Reverse(prefix.len()),
                    std::cmp::Reverse(prefix),
                )
            });
            let Some((prefix, _)) = best else { return };
            let prefix = prefix.to_owned();
            left.retain(|name| without(name, &prefix).is_none());
            self.prefixes.push((prefix, 0));
        }
    }

    /// What a name means, with slashes between its parts.
    fn find(&mut self, name: &str) -> Found {
        match self.by {
            MatchBy::Path => {
                let rest = self.stripped(name).unwrap_or(name).to_owned();
                match self.paths.at_path(&rest) {
                    Found::Files(How::Exact, files) => Found::Files(How::Exact, files),
                    // Several that are spelled so are one path twice; others only look like it.
                    Found::Several(files)
                        if files.iter().all(|&at| self.paths.path(at) == rest) =>
                    {
                        Found::Several(files)
                    }
                    _ => Found::Nothing,
                }
            }
            MatchBy::Name => self.paths.at_name(last_part(name)),
            MatchBy::Glob => {
                let rest = self.stripped(name).unwrap_or(name).to_owned();
                match self.paths.at_pattern(&rest) {
                    Found::Nothing => self.paths.at_path(&rest),
                    found => found,
                }
            }
            MatchBy::Auto => self.meant(name),
        }
    }

    /// A name without the first prefix that it has.
    fn stripped<'n>(&mut self, name: &'n str) -> Option<&'n str> {
        for (prefix, names) in &mut self.prefixes {
            if let Some(rest) = without(name, prefix) {
                *names += 1;
                return Some(rest);
            }
        }
        None
    }

    /// What a name most likely means.
    fn meant(&mut self, name: &str) -> Found {
        match self.paths.at_path(name) {
            Found::Nothing => {}
            found => return found,
        }
        if let Some(rest) = self.stripped(name) {
            return match self.paths.at_path(rest) {
                Found::Nothing => self.paths.at_pattern(rest),
                found => found,
            };
        }
        if !name.contains('/') {
            match self.paths.at_name(name) {
                Found::Nothing => {}
                found => return found,
            }
        }
        self.paths.at_pattern(name)
    }
}
