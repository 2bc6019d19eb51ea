//! Stage requests.

use super::files::directories_among;
use super::requests::submit_live;
use super::rows::check_path;
use super::{Database, Row, Transaction, Value, all, enter, many, one, params, run};
use crate::catalogue::{
    FileId, NewRecall, NewStage, OpenFiles, RequestId, RequestState, Result, Stage, StageInBrief,
    StagedFile, Stages, Submitted, Terms, WantedFile, why_no_file,
};
use std::collections::{BTreeMap, HashMap};

/// Files whose recalls have no answer, and that their stages have not cancelled, of each user. SQLite joins in this order,
/// so that it begins with the recalls that are open and not with all files that were ever staged.
const OPEN: &str = "SELECT stage.user_name, count(*) \
    FROM request CROSS JOIN stage_file CROSS JOIN stage WHERE request.done_ns IS NULL \
    AND stage_file.request = request.id AND stage_file.ended_ns IS NULL AND stage.id = stage_file.stage \
    GROUP BY stage.user_name";

/// Who holds the pins of a stage.
fn holder(id: &str) -> String {
    format!("stage {id}")
}

/// A live file that is wanted.
struct Live {
    file: FileId,
    is_empty: bool,
    is_here: bool,
    /// The recall into the cache that other stages wait for.
    shared: Option<RequestId>,
}

/// The live files among these paths.
fn live(transaction: &Transaction<'_>, paths: &[&[u8]]) -> Result<HashMap<Vec<u8>, Live>> {
    let sql = "SELECT path, id, bytes = 0, EXISTS (SELECT 1 FROM cached WHERE cached.file = file.id), \
        (SELECT min(request.id) FROM stage_file JOIN request ON request.id = stage_file.request \
        WHERE stage_file.file = file.id AND request.done_ns IS NULL) \
        FROM file WHERE state = 'live' AND path IN ({many})";
    let mut live = HashMap::new();
    many(transaction, sql, &[], paths, |row| {
        let file = Live {
            file: row.get(1)?,
            is_empty: row.get(2)?,
            is_here: row.get(3)?,
            shared: row.get(4)?,
        };
        live.insert(row.get(0)?, file);
        Ok(())
    })?;
    Ok(live)
}

/// What comes of a wanted file.
enum Fate {
    /// It lies in the cache.
    Here(FileId),
    /// It lies on tape, and others have asked for it.
    Joins(FileId, RequestId),
    /// It lies on tape: the recall of this place in a list brings it.
    Asks(FileId, usize),
    /// It cannot be had.
    Refused(Option<FileId>, String),
}

/// What comes of the files of a stage, and the recalls that it needs.
fn fates(transaction: &Transaction<'_>, stage: &NewStage) -> Result<(Vec<Fate>, Vec<NewRecall>)> {
    let paths = stage
        .files
        .iter()
        .flat_map(|wanted| wanted.paths.iter().flatten());
    let paths: Vec<&[u8]> = paths.map(Vec::as_slice).collect();
    let live = live(transaction, &paths)?;
    let missing: Vec<&[u8]> = paths
        .into_iter()
        .filter(|&path| !live.contains_key(path))
        .collect();
    let directories = directories_among(transaction, &missing)?;
    let (mut recalls, mut asked) = (Vec::new(), HashMap::new());
    let fate = |wanted: &WantedFile| {
        let paths = match &wanted.paths {
            Ok(paths) => paths,
            Err(why) => return Fate::Refused(None, why.clone()),
        };
        let Some(found) = paths.iter().find_map(|path| live.get(path)) else {
            let why = why_no_file(paths, &directories);
            return Fate::Refused(None, why.to_owned());
        };
        let file = found.file;
        match found.shared {
            _ if found.is_empty => {
                let why = "the file is empty: there is nothing to bring from tape";
                Fate::Refused(Some(file), why.to_owned())
            }
            _ if found.is_here => Fate::Here(file),
            Some(shared) => Fate::Joins(file, shared),
            None => {
                let place = *asked.entry(file).or_insert_with(|| {
                    let terms = Terms {
                        user: stage.user.clone(),
                        activity: wanted.activity.clone(),
                        ..Terms::default()
                    };
                    let destination = None;
                    recalls.push(NewRecall {
                        file,
                        terms,
                        destination,
                    });
                    recalls.len() - 1
                });
                Fate::Asks(file, place)
            }
        }
    };
    let fates = stage.files.iter().map(fate).collect();
    Ok((fates, recalls))
}

fn begin(transaction: &Transaction<'_>, stage: &NewStage, at_ns: i64) -> Result<()> {
    let sql = "INSERT INTO stage (id, user_name, repeat_key, asked_hash, created_ns) VALUES (?1, ?2, ?3, ?4, ?5)";
    let NewStage { id, user, .. } = stage;
    let params = params![id, user, stage.repeat_key, stage.asked_hash, at_ns];
    run(transaction, sql, params)?;
    for wanted in &stage.files {
        check_path(transaction, wanted.spelling.as_bytes())?;
    }
    let (fates, recalls) = fates(transaction, stage)?;
    let requests = submit_live(transaction, &recalls, at_ns)?;
    let (mut files, mut pins) = (Vec::new(), BTreeMap::new());
    for (wanted, fate) in stage.files.iter().zip(&fates) {
        let (file, request, refused) = match fate {
            Fate::Here(file) => (Some(*file), None, None),
            Fate::Joins(file, request) => (Some(*file), Some(*request), None),
            Fate::Asks(file, place) => (Some(*file), Some(requests[*place]), None),
            Fate::Refused(file, why) => (*file, None, Some(why.as_str())),
        };
        let ended_ns = request.is_none().then_some(at_ns);
        files.push([
            Value::Text(id),
            Value::Text(&wanted.spelling),
            number(file.map(|FileId(file)| file)),
            number(request.map(|RequestId(request)| request)),
            Value::Integer(wanted.lifetime_ns),
            refused.map_or(Value::Null, Value::Text),
            number(ended_ns),
        ]);
        if let (Some(file), None) = (file, refused) {
            let until_ns = ended_ns.map(|now| now.saturating_add(wanted.lifetime_ns));
            // Of several spellings of a file the longest counts.
            let pinned = pins.entry(file).or_insert(until_ns);
            *pinned = until_ns.max(*pinned);
        }
    }
    let columns = [
        "stage",
        "spelling",
        "file",
        "request",
        "lifetime_ns",
        "refused",
        "ended_ns",
    ];
    enter(transaction, "stage_file", columns, &files)?;
    let holder = holder(id);
    let pins = pins.into_iter();
    let pin =
        |(FileId(file), until_ns)| [Value::Integer(file), Value::Text(&holder), number(until_ns)];
    let pins: Vec<_> = pins.map(pin).collect();
    enter(transaction, "pin", ["file", "holder", "until_ns"], &pins)
}

fn number(number: Option<i64>) -> Value<'static> {
    number.map_or(Value::Null, Value::Integer)
}

/// The files of a stage: how far each is for it, why it failed, and when it came to an end.
const FILES: &str = "(SELECT spelling, stage_file.file, request, started_ns, \
    CASE WHEN request IS NULL THEN CASE WHEN refused IS NULL THEN 'delivered' ELSE 'failed' END \
    WHEN ended_ns IS NOT NULL THEN 'cancelled' ELSE request.state END AS state, \
    CASE WHEN request IS NULL THEN refused WHEN ended_ns IS NULL THEN request.reason END AS reason, \
    coalesce(ended_ns, done_ns) AS done_ns \
    FROM stage_file LEFT JOIN request ON request.id = stage_file.request WHERE stage = ?1) AS staged";

fn files(transaction: &Transaction<'_>, id: &str) -> Result<Vec<StagedFile>> {
    let columns = "spelling, file, request, state, reason, started_ns, done_ns";
    let sql = format!("SELECT {columns} FROM {FILES} ORDER BY spelling");
    all(transaction, &sql, [id], |row| {
        Ok(StagedFile {
            spelling: row.get(0)?,
            file: row.get(1)?,
            request: row.get(2)?,
            state: row.get(3)?,
            reason: row.get(4)?,
            started_ns: row.get(5)?,
            done_ns: row.get(6)?,
        })
    })
}

/// How many files of a stage have each state.
fn counts(transaction: &Transaction<'_>, id: &str) -> Result<HashMap<RequestState, usize>> {
    let sql = format!("SELECT state, count(*) FROM {FILES} GROUP BY state");
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get::<u64>(1)? as usize));
    Ok(all(transaction, &sql, [id], row)?.into_iter().collect())
}

/// The recalls that a stage waits for, by its files' spelling.
fn open_of(transaction: &Transaction<'_>, id: &str) -> Result<Vec<(RequestId, RequestState)>> {
    let sql = format!("SELECT request, state FROM {FILES} WHERE done_ns IS NULL ORDER BY spelling");
    all(transaction, &sql, [id], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })
}

/// The first files of a stage that failed, and why.
fn failed_of(
    transaction: &Transaction<'_>,
    id: &str,
    most: usize,
) -> Result<Vec<(String, String)>> {
    let sql = format!(
        "SELECT spelling, reason FROM {FILES} WHERE state = 'failed' AND reason IS NOT NULL ORDER BY spelling LIMIT ?2"
    );
    let params = params![id, most as u64];
    all(transaction, &sql, params, |row| {
        Ok((row.get(0)?, row.get(1)?))
    })
}

/// Cancels files for a stage, unless they have come to an end.
fn cancel(transaction: &Transaction<'_>, id: &str, spellings: &[String], at_ns: i64) -> Result<()> {
    let sql = "UPDATE stage_file SET ended_ns = ?2 WHERE stage = ?1 AND ended_ns IS NULL \
        AND EXISTS (SELECT 1 FROM request WHERE id = stage_file.request AND done_ns IS NULL) \
        AND spelling IN ({many}) RETURNING file, request";
    let (mut files, mut requests) = (Vec::<FileId>::new(), Vec::<RequestId>::new());
    let of_all = [Value::Text(id), Value::Integer(at_ns)];
    many(transaction, sql, &of_all, spellings, |row| {
        files.push(row.get(0)?);
        requests.push(row.get(1)?);
        Ok(())
    })?;
    // Another spelling of the same stage may still want it.
    let sql = "DELETE FROM pin WHERE holder = ?1 AND NOT EXISTS (SELECT 1 FROM stage_file \
        WHERE stage = ?2 AND file = pin.file AND ended_ns IS NULL) AND file IN ({many}) RETURNING file";
    let of_all = [Value::Text(&holder(id)), Value::Text(id)];
    many(transaction, sql, &of_all, &files, |_| Ok(()))?;
    let sql = "UPDATE request SET state = 'cancelled', done_ns = ?1 WHERE NOT EXISTS \
        (SELECT 1 FROM stage_file WHERE stage_file.request = request.id AND ended_ns IS NULL) AND id IN ({many}) RETURNING id";
    many(
        transaction,
        sql,
        &[Value::Integer(at_ns)],
        &requests,
        |_| Ok(()),
    )
}

/// Takes a stage out, when nothing waits for it any more.
fn forget(transaction: &Transaction<'_>, id: &str) -> Result<()> {
    let sql = "DELETE FROM pin WHERE holder = ?1 AND file IN (SELECT file FROM stage_file WHERE stage = ?2)";
    run(transaction, sql, params![holder(id), id])?;
    run(transaction, "DELETE FROM stage WHERE id = ?1", [id])?;
    Ok(())
}

/// Stages that ended before a time, all of their files, and that keep none in the cache now.
const ENDED: &str = "SELECT id FROM stage WHERE created_ns <= ?1 AND NOT EXISTS (SELECT 1 FROM stage_file \
    LEFT JOIN request ON request.id = stage_file.request WHERE stage = stage.id \
    AND (coalesce(stage_file.ended_ns, request.done_ns, ?1 + 1) > ?1 OR EXISTS (SELECT 1 FROM pin \
    WHERE pin.file = stage_file.file AND holder = 'stage ' || stage.id AND until_ns > ?2)))";

impl<D: Database> Stages for D {
    fn begin_stage(&self, stage: &NewStage, limits: &[OpenFiles], at_ns: i64) -> Result<Submitted> {
        self.write(|transaction| {
            let sql = "SELECT id, asked_hash FROM stage WHERE user_name = ?1 AND repeat_key = ?2";
            let key = params![stage.user, stage.repeat_key];
            let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
            let before: Option<(String, Vec<u8>)> = one(transaction, sql, key, row)?;
            match before {
                Some((id, hash)) if hash == stage.asked_hash => {
                    return Ok(Submitted::Repeated(id));
                }
                Some(_) => return Ok(Submitted::OtherContents),
                None => {}
            }
            let wanted = stage.files.len() as u64;
            let is_exceeded = |limit: &&OpenFiles| limit.open.saturating_add(wanted) > limit.most;
            if let Some(&limit) = limits.iter().find(is_exceeded) {
                return Ok(Submitted::TooMany(limit));
            }
            begin(transaction, stage, at_ns)?;
            Ok(Submitted::New)
        })
    }

    fn open_files(&self) -> Result<HashMap<String, u64>> {
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let found = self.read(|transaction| all(transaction, OPEN, params![], row))?;
        Ok(found.into_iter().collect())
    }

    fn stage(&self, user: &str, id: &str) -> Result<Option<Stage>> {
        self.read(|transaction| {
            let sql = "SELECT created_ns, held = 1 FROM stage WHERE id = ?1 AND user_name = ?2";
            let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
            let Some((created_ns, is_held)) = one(transaction, sql, params![id, user], row)? else {
                return Ok(None);
            };
            Ok(Some(Stage {
                id: id.to_owned(),
                user: user.to_owned(),
                created_ns,
                is_held,
                files: files(transaction, id)?,
            }))
        })
    }

    fn stage_owner(&self, id: &str) -> Result<Option<String>> {
        let sql = "SELECT user_name FROM stage WHERE id = ?1";
        self.read(|transaction| one(transaction, sql, [id], |row| row.get(0)))
    }

    fn stages_of(&self, request: RequestId) -> Result<Vec<String>> {
        let sql = "SELECT DISTINCT stage FROM stage_file WHERE request = ?1 ORDER BY stage";
        self.read(|transaction| all(transaction, sql, [request], |row| row.get(0)))
    }

    fn stages(&self, user: Option<&str>, limit: usize, most: usize) -> Result<Vec<StageInBrief>> {
        self.read(|transaction| {
            let sql = "SELECT id, user_name, created_ns, held = 1 FROM stage WHERE user_name = coalesce(?1, user_name) \
                ORDER BY created_ns DESC, id LIMIT ?2";
            let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
            let newest = params![user, limit as u64];
            let found: Vec<(String, String, i64, bool)> = all(transaction, sql, newest, row)?;
            let stages = found.into_iter().map(|(id, user, created_ns, is_held)| {
                let files = counts(transaction, &id)?;
                let has = |state| files.contains_key(&state);
                let (mut open, mut failed) = (Vec::new(), Vec::new());
                // Most of a long list ended well, and each question is a journey to the server.
                if has(RequestState::Queued) || has(RequestState::Started) {
                    open = open_of(transaction, &id)?;
                }
                if has(RequestState::Failed) {
                    failed = failed_of(transaction, &id, most)?;
                }
                Ok(StageInBrief {
                    open,
                    failed,
                    files,
                    id,
                    user,
                    created_ns,
                    is_held,
                })
            });
            stages.collect()
        })
    }

    fn prioritise_stage(&self, id: &str, priority: i64) -> Result<()> {
        let sql = "UPDATE request SET priority = ?2 WHERE done_ns IS NULL AND id IN \
            (SELECT request FROM stage_file WHERE stage = ?1 AND ended_ns IS NULL)";
        self.write(|transaction| run(transaction, sql, params![id, priority]).map(|_| ()))
    }

    fn hold_stage(&self, id: &str, is_held: bool) -> Result<()> {
        let sql = "UPDATE stage SET held = ?2 WHERE id = ?1";
        let held = i64::from(is_held);
        self.write(|transaction| run(transaction, sql, params![id, held]).map(|_| ()))
    }

    fn cancel_stage(&self, id: &str, spellings: &[String], at_ns: i64) -> Result<()> {
        self.write(|transaction| cancel(transaction, id, spellings, at_ns))
    }

    fn delete_stage(&self, id: &str, at_ns: i64) -> Result<()> {
        self.write(|transaction| {
            let sql = "SELECT spelling FROM stage_file WHERE stage = ?1";
            let spellings: Vec<String> = all(transaction, sql, [id], |row| row.get(0))?;
            cancel(transaction, id, &spellings, at_ns)?;
            forget(transaction, id)
        })
    }

    fn release_stage(&self, id: &str, files: &[FileId]) -> Result<()> {
        let (sql, holder) = (
            "DELETE FROM pin WHERE holder = ?1 AND file IN ({many})",
            holder(id),
        );
        self.write(|transaction| many(transaction, sql, &[Value::Text(&holder)], files, |_| Ok(())))
    }

    fn release_files(&self, user: &str, files: &[FileId]) -> Result<()> {
        let sql = "DELETE FROM pin WHERE file IN ({many}) AND holder IN (SELECT 'stage ' || stage.id FROM stage \
            JOIN stage_file ON stage_file.stage = stage.id WHERE stage_file.file = pin.file AND user_name = ?1)";
        self.write(|transaction| many(transaction, sql, &[Value::Text(user)], files, |_| Ok(())))
    }

    fn try_to_write(&self) -> Result<()> {
        let sql =
            "INSERT INTO stage (id, user_name, asked_hash, created_ns) VALUES (?1, ?1, ?2, 0)";
        self.write(|transaction| {
            run(transaction, sql, params!["", b"".as_slice()])?;
            forget(transaction, "")
        })
    }

    fn settle_stages(&self, keep_ns: i64, at_ns: i64) -> Result<u64> {
        // Only pins without an end are looked at: those whose lifetime has begun have one.
        let arrived = "UPDATE pin SET until_ns = (SELECT max(done_ns + lifetime_ns) FROM stage_file \
            JOIN request ON request.id = stage_file.request \
            WHERE stage_file.file = pin.file AND holder = 'stage ' || stage) \
            WHERE until_ns IS NULL AND EXISTS (SELECT 1 FROM stage_file \
            JOIN request ON request.id = stage_file.request \
            WHERE stage_file.file = pin.file AND holder = 'stage ' || stage AND request.done_ns IS NOT NULL)";
        self.write(|transaction| {
            run(transaction, arrived, params![])?;
            let ended = at_ns.saturating_sub(keep_ns);
            let ended: Vec<String> =
                all(transaction, ENDED, params![ended, at_ns], |row| row.get(0))?;
            for id in &ended {
                forget(transaction, id)?;
            }
            Ok(ended.len() as u64)
        })
    }
}
