//! What paths a search is after, the same with every database.

/// A question about paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// This path.
    Path(Vec<u8>),
    /// Everything that begins so, as a directory with its `/` at the end does.
    Prefix(Vec<u8>),
    /// As in a shell, except that `*` and `?` match `/` too: `*` any bytes, `?` one, `[a-z]` one of
    /// a set, `[!a-z]` one outside of it. An unclosed `[` stands for itself.
    Glob(Vec<u8>),
}

impl Pattern {
    /// Whether a path is meant.
    pub fn matches(&self, path: &[u8]) -> bool {
        match self {
            Pattern::Path(wanted) => wanted == path,
            Pattern::Prefix(prefix) => path.starts_with(prefix),
            Pattern::Glob(glob) => glob_matches(glob, path),
        }
    }

    /// What every path that is meant begins with; databases look there only.
    pub fn literal_prefix(&self) -> &[u8] {
        match self {
            Pattern::Path(wanted) => wanted,
            Pattern::Prefix(prefix) => prefix,
            Pattern::Glob(glob) => {
                let special = glob.iter().position(|byte| b"*?[".contains(byte));
                &glob[..special.unwrap_or(glob.len())]
            }
        }
    }

    /// Bytes that every path that is meant has somewhere, as many as are sure; databases pass over all other paths.
    pub fn literal(&self) -> &[u8] {
        let longest = self.literals().into_iter().max_by_key(|run| run.len());
        longest.unwrap_or_default()
    }

    /// All runs of bytes that every path that is meant has somewhere.
    pub fn literals(&self) -> Vec<&[u8]> {
        let Pattern::Glob(glob) = self else {
            return vec![self.literal_prefix()];
        };
        let (mut runs, mut first, mut at) = (Vec::new(), 0, 0);
        while let Some(sign) = glob.get(at) {
            let behind = match sign {
                b'*' | b'?' => Some(at + 1),
                b'[' => in_set(&glob[at + 1..], 0).map(|(_, rest)| glob.len() - rest.len()),
                _ => None,
            };
            if let Some(behind) = behind {
                runs.push(&glob[first..at]);
                first = behind;
            }
            at = behind.unwrap_or(at + 1);
        }
        runs.push(&glob[first..]);
        runs
    }
}

/// The set that a `[` opens: whether `byte` is in it, and what of the glob is left behind it.
fn in_set(glob: &[u8], byte: u8) -> Option<(bool, &[u8])> {
    let inverted = glob.first() == Some(&b'!');
    let set = &glob[usize::from(inverted)..];
    // A `]` that comes first is a member.
    let close = 1 + set.get(1..)?.iter().position(|&byte| byte == b']')?;
    let (mut members, rest) = (&set[..close], &set[close + 1..]);
    let mut found = false;
    while let [first, behind @ ..] = members {
        if let [b'-', last, behind @ ..] = behind {
            found |= (*first..=*last).contains(&byte);
            members = behind;
        } else {
            found |= *first == byte;
            members = behind;
        }
    }
    Some((found != inverted, rest))
}

/// What is left of a glob when its first sign has taken `byte`.
fn step(glob: &[u8], byte: u8) -> Option<&[u8]> {
    match glob {
        [b'?', rest @ ..] => Some(rest),
        [b'[', rest @ ..] => match in_set(rest, byte) {
            Some((found, rest)) => found.then_some(rest),
            None => (byte == b'[').then_some(rest),
        },
        [literal, rest @ ..] => (*literal == byte).then_some(rest),
        [] => None,
    }
}

/// Only the last `*` is ever taken back, so it takes at most the product of the lengths.
fn glob_matches(glob: &[u8], path: &[u8]) -> bool {
    let (mut glob, mut path) = (glob, path);
    let mut last_star: Option<(&[u8], &[u8])> = None;
    loop {
        if let [b'*', rest @ ..] = glob {
            last_star = Some((rest, path));
            glob = rest;
            continue;
        }
        let stepped = match path {
            [] if glob.is_empty() => return true,
            [] => return false,
            [byte, behind @ ..] => step(glob, *byte).map(|rest| (rest, behind)),
        };
        (glob, path) = match (stepped, last_star) {
            (Some(next), _) => next,
            (None, Some((rest, [_, behind @ ..]))) => {
                last_star = Some((rest, behind));
                (rest, behind)
            }
            (None, _) => return false,
        };
    }
}
