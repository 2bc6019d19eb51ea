//! Patterns of names, as ripgrep reads them: `*`, `?`, `[a-z]`, `[!a]`, `{one,other}`, and `**` for any directories.
//!
//! A pattern is a small automaton of which all states are tried at once, so that no pattern takes longer than the
//! product of its length and the name's. A library for it was here before; with its regular expressions it was an
//! eighth of the module for the browser.

/// Nobody writes a longer pattern, or braces within so many others.
const LONGEST: usize = 4096;
const DEEPEST: usize = 16;

/// What comes next in a name.
#[derive(Debug)]
enum Step {
    /// This character.
    Is(char),
    /// Any character; a slash only where it says so.
    Any { or_slash: bool },
    /// A character in one of these ranges, or in none of them.
    In {
        ranges: Vec<(char, char)>,
        negated: bool,
    },
    /// Nothing: it goes on at all of these steps.
    Go(Vec<usize>),
}

/// A pattern.
#[derive(Debug)]
pub(super) struct Glob {
    /// After the last one, a name has matched.
    steps: Vec<Step>,
}

impl Glob {
    /// The pattern of a text; `None` if the text is none, such as one with a bracket that does not close.
    pub fn new(text: &str) -> Option<Glob> {
        if text.len() > LONGEST {
            return None;
        }
        let mut parser = Parser {
            rest: text.chars().collect::<Vec<_>>().into_iter(),
            steps: Vec::new(),
            before: None,
        };
        parser.sequence(0)?;
        let is_whole = parser.rest.len() == 0;
        is_whole.then_some(Glob {
            steps: parser.steps,
        })
    }

    /// Whether a whole name matches.
    pub fn matches(&self, name: &str) -> bool {
        let [mut states, mut next] = [(); 2].map(|()| States::new(self.steps.len()));
        states.add(0, &self.steps);
        for c in name.chars() {
            next.clear();
            for &at in &states.found {
                let is_next = match self.steps.get(at) {
                    Some(Step::Is(one)) => *one == c,
                    Some(Step::Any { or_slash }) => *or_slash || c != '/',
                    Some(Step::In { ranges, negated }) => {
                        ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated
                    }
                    Some(Step::Go(_)) | None => false,
                };
                if is_next {
                    next.add(at + 1, &self.steps);
                }
            }
            std::mem::swap(&mut states, &mut next);
        }
        states.found.contains(&self.steps.len())
    }
}

/// Steps that may come next.
struct States {
    found: Vec<usize>,
    is_found: Vec<bool>,
    /// Used while steps are added.
    open: Vec<usize>,
}

impl States {
    fn new(steps: usize) -> States {
        States {
            found: Vec::new(),
            is_found: vec![false; steps + 1],
            open: Vec::new(),
        }
    }

    fn clear(&mut self) {
        self.found.clear();
        self.is_found.fill(false);
    }

    /// Adds a step, and all that can be reached from it without a character.
    fn add(&mut self, step: usize, steps: &[Step]) {
        self.open.push(step);
        while let Some(at) = self.open.pop() {
            if std::mem::replace(&mut self.is_found[at], true) {
                continue;
            }
            match steps.get(at) {
                Some(Step::Go(on)) => self.open.extend(on),
                _ => self.found.push(at),
            }
        }
    }
}

struct Parser {
    rest: std::vec::IntoIter<char>,
    steps: Vec<Step>,
    /// The character before, within the same braces.
    before: Option<char>,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.rest.as_slice().first().copied()
    }

    /// Steps until the end, or until the comma or brace that ends an alternative.
    fn sequence(&mut self, depth: usize) -> Option<()> {
        self.before = None;
        while let Some(c) = self.peek() {
            if depth > 0 && matches!(c, ',' | '}') {
                return Some(());
            }
            self.rest.next();
            let mut before = c;
            match c {
                '*' => before = self.star(depth > 0),
                '?' => self.steps.push(Step::Any { or_slash: false }),
                '[' => self.class()?,
                '{' if depth < DEEPEST => self.braces(depth + 1)?,
                '{' => return None,
                '}' => return None,
                c => self.steps.push(Step::Is(c)),
            }
            self.before = Some(before);
        }
        // A brace that is open has not been closed.
        (depth == 0).then_some(())
    }

    /// `*`, or `**` as a whole part of a path; with what stands before the next character then.
    fn star(&mut self, in_braces: bool) -> char {
        let [next, after] = [0, 1].map(|at| self.rest.as_slice().get(at).copied());
        let begins = matches!(self.before, None | Some('/')) && next == Some('*');
        let ends_alternative =
            in_braces && self.before.is_some() && matches!(after, Some(',' | '}'));
        match after {
            Some('/') if begins => {
                self.rest.nth(1);
                let skip = self.steps.len();
                self.steps.push(Step::Go(Vec::new()));
                self.repeat(true);
                self.steps.push(Step::Is('/'));
                self.steps[skip] = Step::Go(vec![skip + 1, self.steps.len()]);
                '/'
            }
            None if begins => {
                self.rest.next();
                self.repeat(true);
                '*'
            }
            _ => {
                self.repeat(begins && ends_alternative);
                '*'
            }
        }
    }

    /// Any number of characters.
    fn repeat(&mut self, or_slash: bool) {
        let at = self.steps.len();
        self.steps.push(Step::Go(vec![at + 1, at + 3]));
        self.steps.push(Step::Any { or_slash });
        self.steps.push(Step::Go(vec![at]));
    }

    /// `[a-z]` after its bracket.
    fn class(&mut self) -> Option<()> {
        let negated = matches!(self.peek(), Some('!' | '^'));
        if negated {
            self.rest.next();
        }
        let mut ranges: Vec<(char, char)> = Vec::new();
        loop {
            let low = self.rest.next()?;
            // A bracket that comes first is one of the characters.
            if low == ']' && !ranges.is_empty() {
                break;
            }
            let is_range = self.peek() == Some('-')
                && !matches!(self.rest.as_slice().get(1), None | Some(']'));
            let high = if is_range { self.rest.nth(1)? } else { low };
            if high < low {
                return None;
            }
            ranges.push((low, high));
        }
        self.steps.push(Step::In { ranges, negated });
        Some(())
    }

    /// `{one,other}` after its brace. An alternative without anything is none.
    fn braces(&mut self, depth: usize) -> Option<()> {
        let fork = self.steps.len();
        self.steps.push(Step::Go(Vec::new()));
        let (mut begins, mut ends) = (Vec::new(), Vec::new());
        loop {
            let begin = self.steps.len();
            self.sequence(depth)?;
            if self.steps.len() > begin {
                begins.push(begin);
                ends.push(self.steps.len());
                self.steps.push(Step::Go(Vec::new()));
            }
            if self.rest.next()? == '}' {
                break;
            }
        }
        let after = self.steps.len();
        if begins.is_empty() {
            begins.push(after);
        }
        self.steps[fork] = Step::Go(begins);
        for end in ends {
            self.steps[end] = Step::Go(vec![after]);
        }
        Some(())
    }
}
