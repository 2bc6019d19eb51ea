//! What was dropped on the page, and every question about it.

use crate::answer::{Answer, Drive, Order, Tape, Turn};
use crate::ask::Question;
use crate::papers;
use crate::sizing::{self, Sizing};
use std::collections::{BTreeMap, HashSet};
use std::error::Error;
use std::io::{BufReader, Read};
use std::sync::Arc;
use tapewise::batch::{Listed, LtfsVolume, Source};
use tapewise::formats::Content;
use tapewise::formats::csv_out::write_csv;
use tapewise::formats::list::{Name, Separator, read_list};
use tapewise::formats::list_out::write_list;
use tapewise::formats::ltfs_extent::LtfsLayout;
use tapewise::formats::name_match::Matching;
use tapewise::formats::powershell_out::write_powershell;
use tapewise::formats::script_out::{ScriptOptions, write_script};
use tapewise::model::{Micros, PositionSource, Profile, profile};
use tapewise::order::{Action, Algorithm};
use tapewise::tapes::{TapeTime, everything, rota, share};
use tapewise::{Batch, Cartridge, Effort, EndLocation, Found, Goal, PlaceError, Placed, Placement};
use tapewise_plot::players::HeadPath;

/// Something that can be read from its beginning.
pub type Reader = Box<dyn Read>;

/// What is wanted of a tape, after its name.
type Wanted = (String, Batch);

/// Bytes that are read of a file at once: each time costs the browser a fraction of a millisecond.
const AT_ONCE: usize = 1 << 20;

type Fallible<T> = Result<T, Box<dyn Error>>;

/// The state of one page.
#[derive(Default)]
pub struct Desk {
    volumes: Vec<LtfsVolume>,
    /// What was odd about the files that were read.
    notices: Vec<String>,
    /// The file of requests that name their blocks, and what messages call it. It is read again for every plan,
    /// because what it says depends on the size of a block.
    requests: Option<(u32, String)>,
    /// A list of names, and what messages call it.
    names: Option<(String, Vec<Name>)>,
    tapes: Vec<Ordered>,
    sizing: Sizing,
}

/// A tape, with the orders that were found.
struct Ordered {
    title: String,
    placed: Placed,
    found: BTreeMap<&'static str, Found>,
    seed: u64,
}

impl Desk {
    /// Answers a question in JSON with an answer in JSON. `open` opens a file of the page by its number.
    pub fn answer(&mut self, question: &[u8], open: &dyn Fn(u32) -> Reader) -> Vec<u8> {
        let question = serde_json::from_slice(question).map_err(Box::<dyn Error>::from);
        let answer = question.and_then(|question| self.ask(question, open));
        let answer = answer.unwrap_or_else(|error| Answer::Error {
            error: error.to_string(),
        });
        // An answer has no keys that JSON could not have.
        serde_json::to_vec(&answer).unwrap_or_default()
    }

    fn ask(&mut self, question: Question, open: &dyn Fn(u32) -> Reader) -> Fallible<Answer> {
        match question {
            Question::Drives => Ok(drives()),
            Question::Clear => {
                *self = Desk::default();
                Ok(Answer::Done)
            }
            Question::Read {
                file,
                name,
                block_bytes,
            } => self.read(file, &name, block_bytes, open),
            Question::Place {
                drive,
                block_bytes,
                ignore_missing,
            } => {
                let (batches, notices) = self.batches(block_bytes, ignore_missing, open)?;
                self.place(&drive, batches, notices)
            }
            Question::Order { tape, order, seed } => self.order(tape, &order, seed),
            Question::Path { tape, order } => {
                let (tape, found) = self.found(tape, &order)?;
                Ok(Answer::Path(HeadPath::new(&tape.placed, found)))
            }
            Question::Rota { drives } => Ok(self.rota(drives)),
            Question::Scenarios => Ok(sizing::starting()),
            Question::Cases { text } => sizing::cases(&text),
            Question::Response {
                setup,
                replications,
                wish,
            } => self.sizing.response(setup, replications, wish),
            Question::Timeline { setup, replication } => sizing::timeline(&setup, replication),
            Question::Figure { figure } => Ok(Answer::Figure {
                lines: papers::figure(&figure)?,
            }),
            Question::Write {
                tape,
                order,
                format,
                from,
                into,
            } => {
                let (tape, found) = self.found(tape, &order)?;
                tape.write(found, &format, &from, &into)
            }
        }
    }

    /// Reads a file of any format.
    fn read(
        &mut self,
        file: u32,
        name: &str,
        block_bytes: Option<u64>,
        open: &dyn Fn(u32) -> Reader,
    ) -> Fallible<Answer> {
        let source = source(file, name, open)?;
        let (recognised, kind) = match source.format().content {
            Content::Index => {
                let volume = source.ltfs_index()?;
                let files = volume.files().len();
                let bytes: u64 = volume.files().iter().map(|file| file.length).sum();
                let recognised = format!(
                    "LTFS index of {}: {}, {}",
                    volume.title(),
                    tapewise::model::units::count(files, "file"),
                    tapewise::model::units::bytes(bytes)
                );
                self.notices.extend(volume.put_beside(&mut self.volumes));
                (recognised, "index")
            }
            Content::Names => {
                let separator = if source.format().name == "list0" {
                    Separator::Nul
                } else {
                    Separator::Newline
                };
                let list = read_list(buffered(open(file)), separator)?;
                let count = tapewise::model::units::count(list.names.len(), "name");
                self.names = Some((name.to_owned(), list.names));
                (format!("list of {count}"), "names")
            }
            _ => {
                let recognised = source.requests(block_bytes)?.recognised;
                self.requests = Some((file, name.to_owned()));
                (recognised, "requests")
            }
        };
        self.tapes.clear();
        Ok(Answer::Read { recognised, kind })
    }

    fn place(
        &mut self,
        drive: &str,
        batches: Vec<Wanted>,
        notices: Vec<String>,
    ) -> Fallible<Answer> {
        let cartridge = Cartridge::new(profile::find(drive)?)?;
        self.tapes.clear();
        let several = batches.len() > 1;
        let mut tapes = Vec::new();
        for (title, batch) in batches {
            let batch = Arc::new(batch);
            let of = |error: PlaceError| {
                if several {
                    format!("{title}: {error}")
                } else {
                    error.to_string()
                }
            };
            let place = |end| {
                let placement = Placement {
                    end,
                    ..Placement::default()
                };
                cartridge.place(batch.clone(), &placement)
            };
            let placed = if several {
                // The next tape needs the drive.
                match place(EndLocation::Unloaded) {
                    Err(PlaceError::UnloadUnknown { .. }) => place(EndLocation::Rewound),
                    placed => placed,
                }
            } else {
                place(EndLocation::Anywhere)
            };
            let placed = placed.map_err(of)?;
            tapes.push(Tape {
                title: title.clone(),
                files: placed.batch.requests.len(),
                bytes: placed.bytes(),
                provenance: placed.provenance.clone(),
                measured: placed.source != PositionSource::Nominal,
            });
            self.tapes.push(Ordered {
                title,
                placed,
                found: BTreeMap::new(),
                seed: 1,
            });
        }
        Ok(Answer::Placed { tapes, notices })
    }

    /// What is wanted of each tape that has any of it, and what was odd.
    fn batches(
        &self,
        block_bytes: Option<u64>,
        ignore_missing: bool,
        open: &dyn Fn(u32) -> Reader,
    ) -> Fallible<(Vec<Wanted>, Vec<String>)> {
        let mut notices = self.notices.clone();
        if let Some((file, name)) = &self.requests {
            if !self.volumes.is_empty() {
                return Err(format!(
                    "{name} has blocks of its own, and there is an index: start again with one of them"
                )
                .into());
            }
            let batch = source(*file, name, open)?.requests(block_bytes)?;
            notices.extend(batch.notices.iter().cloned());
            return Ok((vec![("the tape".to_owned(), batch)], notices));
        }
        if self.volumes.is_empty() {
            return Err("drop an LTFS index (XML or .schema) or a CSV of requests first".into());
        }
        let assumed = LtfsLayout::assumed();
        let layout = match block_bytes {
            Some(bytes) => assumed.with_block_size(bytes),
            None => assumed,
        };
        let share = match &self.names {
            None => everything(&self.volumes),
            Some((list, names)) => {
                let listed = Listed {
                    list,
                    names,
                    ignore_missing,
                    matching: &Matching::default(),
                };
                share(&self.volumes, &listed, None)?
            }
        };
        notices.extend(share.notices);
        let mut batches = Vec::new();
        for (volume, files) in self.volumes.iter().zip(&share.files) {
            if files.is_empty() {
                continue;
            }
            let batch = volume.batch_of(files, Vec::new(), &layout)?;
            notices.extend(batch.notices.iter().cloned());
            batches.push((volume.title().to_owned(), batch));
        }
        Ok((batches, notices))
    }

    fn order(&mut self, tape: usize, order: &str, seed: u64) -> Fallible<Answer> {
        let algorithm = algorithm(order)?;
        let count = self.tapes.len();
        let tape = self.tapes.get_mut(tape);
        let tape = tape.ok_or_else(|| format!("there is no tape {count}"))?;
        let effort = Effort {
            seed,
            ..Effort::usual()
        };
        let found = if algorithm == Algorithm::Best {
            tape.placed.search(&Goal::default(), &effort)?
        } else {
            tape.placed.order(algorithm, &effort)?
        };
        let totals = &found.plan.totals;
        let metres = tape.placed.problem.tape().geometry.metres_per_lpos;
        let answer = Order {
            title: found.origin.title().to_owned(),
            total_us: found.total().0,
            worst_us: found.worst.0,
            bound_us: found.bound.map(|bound| bound.0),
            optimal: found.optimal,
            locate_us: totals.locate.0,
            read_us: totals.read.0,
            tape_m: metres.map(|metres| totals.distance_lpos as f64 * metres),
            wrap_changes: totals.wrap_changes,
        };
        tape.seed = seed;
        tape.found.insert(algorithm.name(), found);
        Ok(Answer::Order(Box::new(answer)))
    }

    fn found(&self, tape: usize, order: &str) -> Fallible<(&Ordered, &Found)> {
        let ordered = self.tapes.get(tape).ok_or("there is no such tape")?;
        let found = ordered.found.get(algorithm(order)?.name());
        Ok((ordered, found.ok_or("this order was not asked for yet")?))
    }

    fn rota(&self, drives: usize) -> Answer {
        let best = Algorithm::Best.name();
        let times: Vec<TapeTime> = self
            .tapes
            .iter()
            .map(|tape| {
                tape.found
                    .get(best)
                    .map_or(NO_TIME, |found| time(tape, found))
            })
            .collect();
        let rota = rota(&times, drives);
        let turns = rota.turns.iter().map(|turn| Turn {
            tape: turn.tape,
            drive: turn.drive + 1,
            begin_us: turn.begin.0,
            read_us: turn.read.0,
        });
        Answer::Rota {
            turns: turns.collect(),
            end_us: rota.end.0,
            optimal: rota.optimal,
        }
    }
}

fn buffered(reader: Reader) -> BufReader<Reader> {
    BufReader::with_capacity(AT_ONCE, reader)
}

fn source(
    file: u32,
    name: &str,
    open: &dyn Fn(u32) -> Reader,
) -> Fallible<Source<BufReader<Reader>>> {
    Ok(Source::recognise(name, buffered(open(file)), None)?)
}

const NO_TIME: TapeTime = TapeTime {
    until_read: Micros::ZERO,
    until_free: Micros::ZERO,
};

/// How long a tape keeps a drive busy in its order.
fn time(tape: &Ordered, found: &Found) -> TapeTime {
    let mount_s = tape.placed.profile.handling.mount_s.as_ref();
    let mount = Micros::from_secs_f64(mount_s.map_or(0.0, |known| known.value));
    let last = found.plan.steps.last();
    let finish = last.filter(|step| step.action == Action::Finish);
    let until_free = finish.map_or(Micros::ZERO, |step| step.duration);
    TapeTime {
        until_read: mount + found.total() - until_free,
        until_free,
    }
}

impl Ordered {
    /// The order as the command line writes it.
    fn write(&self, found: &Found, format: &str, from: &str, into: &str) -> Fallible<Answer> {
        let mut text = Vec::new();
        let order = self.placed.reading_order(&found.plan).into_iter();
        let requests: Vec<_> = order.map(|at| &self.placed.batch.requests[at]).collect();
        let ids = || requests.iter().map(|request| request.id.as_bytes());
        let ending = match format {
            "list" => {
                write_list(&mut text, ids(), Separator::Newline)?;
                "txt"
            }
            "csv" => {
                write_csv(&mut text, requests.iter().copied())?;
                "csv"
            }
            "json" => {
                let effort = Effort {
                    seed: self.seed,
                    ..Effort::usual()
                };
                self.placed.document(found, &effort).to_writer(&mut text)?;
                "json"
            }
            "script" | "powershell" => {
                let options = ScriptOptions {
                    source: from.as_bytes().to_vec(),
                    destination: into.as_bytes().to_vec(),
                    comments: vec![format!("order {}", found.origin.versioned())],
                };
                // Several requests may be parts of one file, which is copied once.
                let mut seen = HashSet::new();
                let files = requests.iter().map(|request| request.copied_as());
                let files = files.filter(|file| seen.insert(*file)).map(str::as_bytes);
                if format == "script" {
                    write_script(&mut text, files, &options)?;
                    "sh"
                } else {
                    write_powershell(&mut text, files, &options)?;
                    "ps1"
                }
            }
            other => return Err(format!("there is no format {other}").into()),
        };
        Ok(Answer::Text {
            name: format!("{}.{ending}", self.title.replace(['/', '\\'], "_")),
            text: String::from_utf8_lossy(&text).into_owned(),
        })
    }
}

fn algorithm(name: &str) -> Fallible<Algorithm> {
    let mut all = Algorithm::ALL.into_iter();
    let found = all.find(|algorithm| algorithm.name() == name);
    Ok(found.ok_or_else(|| format!("there is no order {name}"))?)
}

fn drives() -> Answer {
    let profiles = profile::names().filter_map(|name| profile::find(name).ok());
    let profiles = profiles.filter(|profile| is_placed(profile.clone()));
    let drives = profiles.map(|profile| Drive {
        name: profile.name.clone(),
        title: profile.title.clone(),
    });
    Answer::Drives {
        drives: drives.collect(),
    }
}

/// Whether requests can be placed on this drive's tapes: not on those of a library, nor of a drive whose layout nobody
/// knows.
fn is_placed(profile: Profile) -> bool {
    let one = "id,start_block,block_count\none,0,1\n".as_bytes();
    let batch = Source::recognise("one", one, None).and_then(|one| one.requests(Some(1024)));
    let placed = Cartridge::new(profile).map(|cartridge| {
        batch.is_ok_and(|batch| cartridge.place(batch, &Placement::default()).is_ok())
    });
    placed.unwrap_or(false)
}
