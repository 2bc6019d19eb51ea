//! Stage requests.

use super::files::{LIVE_AT, file_at};
use super::requests::submit;
use super::{Database, Row, Transaction, all, one, params, run};
use crate::catalogue::{
    FileId, MostOpen, NewRecall, NewStage, RequestId, RequestState, Result, Stage, StagedFile,
    Stages, Submitted, Terms, WantedFile,
};

/// Files whose recalls have no answer, and that their stages have not cancelled.
const OPEN: &str = "SELECT count(*) FROM stage_file JOIN request ON request.id = stage_file.request \
    WHERE stage_file.ended_ns IS NULL AND request.done_ns IS NULL";

/// Those of one user's stages.
const OPEN_OF_USER: &str = "SELECT count(*) FROM stage JOIN stage_file ON stage_file.stage = stage.id \
    JOIN request ON request.id = stage_file.request \
    WHERE stage.user_name = ?1 AND stage_file.ended_ns IS NULL AND request.done_ns IS NULL";

/// Who holds the pins of a stage.
fn holder(id: &str) -> String {
    format!("stage {id}")
}

/// What a wanted file is, when it is asked for.
enum Found {
    /// It lies in the cache.
    Here(FileId),
    /// It lies on tape.
    OnTape(FileId),
    /// It cannot be had.
    Refused(Option<FileId>, String),
}

fn find(transaction: &Transaction<'_>, wanted: &WantedFile) -> Result<Found> {
    let paths = match &wanted.paths {
        Ok(paths) => paths,
        Err(why) => return Ok(Found::Refused(None, why.clone())),
    };
    for path in paths {
        let Some(file) = file_at(transaction, LIVE_AT, path)? else {
            continue;
        };
        let sql = "SELECT bytes = 0, EXISTS (SELECT 1 FROM cached WHERE cached.file = file.id) \
            FROM file WHERE id = ?1";
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let (is_empty, is_here) = one(transaction, sql, [file], row)?.unwrap_or_default();
        return Ok(match (is_empty, is_here) {
            (true, _) => {
                let why = "the file is empty: there is nothing to bring from tape";
                Found::Refused(Some(file), why.to_owned())
            }
            (false, true) => Found::Here(file),
            (false, false) => Found::OnTape(file),
        });
    }
    for path in paths {
        let with = |byte: u8| [path.as_slice(), &[byte]].concat();
        let sql =
            "SELECT EXISTS (SELECT 1 FROM file WHERE state = 'live' AND path > ?1 AND path < ?2)";
        let below = params![with(b'/'), with(b'/' + 1)];
        if one(transaction, sql, below, |row| row.get(0))? == Some(true) {
            let why = "this is a directory: ask for the files in it";
            return Ok(Found::Refused(None, why.to_owned()));
        }
    }
    Ok(Found::Refused(
        None,
        "the archive has no such file".to_owned(),
    ))
}

/// The recall of a file into the cache that other stages wait for, or a new one for these.
fn recall(
    transaction: &Transaction<'_>,
    terms: Terms,
    file: FileId,
    at_ns: i64,
) -> Result<RequestId> {
    let sql = "SELECT request.id FROM stage_file JOIN request ON request.id = stage_file.request \
        WHERE stage_file.file = ?1 AND request.done_ns IS NULL LIMIT 1";
    if let Some(shared) = one(transaction, sql, [file], |row| row.get(0))? {
        return Ok(shared);
    }
    let recall = NewRecall {
        file,
        terms,
        destination: None,
    };
    submit(transaction, &recall, at_ns)
}

fn begin(transaction: &Transaction<'_>, stage: &NewStage, at_ns: i64) -> Result<()> {
    let sql = "INSERT INTO stage (id, user_name, repeat_key, asked_hash, created_ns) VALUES (?1, ?2, ?3, ?4, ?5)";
    let NewStage { id, user, .. } = stage;
    let params = params![id, user, stage.repeat_key, stage.asked_hash, at_ns];
    run(transaction, sql, params)?;
    for wanted in &stage.files {
        let (file, request, refused) = match find(transaction, wanted)? {
            Found::Here(file) => (Some(file), None, None),
            Found::OnTape(file) => {
                let terms = Terms {
                    user: user.clone(),
                    activity: wanted.activity.clone(),
                    ..Terms::default()
                };
                let request = recall(transaction, terms, file, at_ns)?;
                (Some(file), Some(request), None)
            }
            Found::Refused(file, why) => (file, None, Some(why)),
        };
        let ended_ns = request.is_none().then_some(at_ns);
        let sql = "INSERT INTO stage_file (stage, spelling, file, request, lifetime_ns, refused, ended_ns) \
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let (spelling, lifetime_ns) = (&wanted.spelling, wanted.lifetime_ns);
        let params = params![id, spelling, file, request, lifetime_ns, refused, ended_ns];
        run(transaction, sql, params)?;
        if let (Some(file), None) = (file, &refused) {
            let until_ns = request.is_none().then(|| at_ns.saturating_add(lifetime_ns));
            let sql = "INSERT INTO pin (file, holder, until_ns) VALUES (?1, ?2, ?3) \
                ON CONFLICT (file, holder) DO UPDATE SET until_ns = CASE \
                WHEN excluded.until_ns > pin.until_ns OR excluded.until_ns IS NULL THEN excluded.until_ns \
                ELSE pin.until_ns END";
            run(transaction, sql, params![file, holder(id), until_ns])?;
        }
    }
    Ok(())
}

fn files(transaction: &Transaction<'_>, id: &str) -> Result<Vec<StagedFile>> {
    let sql = "SELECT spelling, stage_file.file, refused, ended_ns, \
        request.state, request.reason, request.started_ns, request.done_ns, request.id \
        FROM stage_file LEFT JOIN request ON request.id = stage_file.request \
        WHERE stage = ?1 ORDER BY spelling";
    all(transaction, sql, [id], |row| {
        let refused: Option<String> = row.get(2)?;
        let ended_ns: Option<i64> = row.get(3)?;
        let recall: Option<RequestState> = row.get(4)?;
        let (state, reason) = match (ended_ns, recall, refused) {
            (Some(_), Some(_), _) => (RequestState::Cancelled, None),
            (None, Some(state), _) => (state, row.get(5)?),
            (_, None, Some(why)) => (RequestState::Failed, Some(why)),
            (_, None, None) => (RequestState::Delivered, None),
        };
        let done_ns: Option<i64> = row.get(7)?;
        Ok(StagedFile {
            spelling: row.get(0)?,
            file: row.get(1)?,
            request: row.get(8)?,
            state,
            reason,
            started_ns: row.get(6)?,
            done_ns: ended_ns.or(done_ns),
        })
    })
}

/// Cancels a file for a stage, unless it has come to an end.
fn cancel(transaction: &Transaction<'_>, id: &str, spelling: &str, at_ns: i64) -> Result<()> {
    let sql = "SELECT stage_file.request, stage_file.file FROM stage_file \
        JOIN request ON request.id = stage_file.request \
        WHERE stage = ?1 AND spelling = ?2 AND ended_ns IS NULL AND request.done_ns IS NULL";
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let found: Option<(RequestId, FileId)> = one(transaction, sql, params![id, spelling], row)?;
    let Some((request, file)) = found else {
        return Ok(());
    };
    let sql = "UPDATE stage_file SET ended_ns = ?3 WHERE stage = ?1 AND spelling = ?2";
    run(transaction, sql, params![id, spelling, at_ns])?;
    // Another spelling of the same stage may still want it.
    let sql = "DELETE FROM pin WHERE file = ?1 AND holder = ?2 AND NOT EXISTS (SELECT 1 FROM stage_file \
        WHERE stage = ?3 AND file = ?1 AND ended_ns IS NULL)";
    run(transaction, sql, params![file, holder(id), id])?;
    let sql = "UPDATE request SET state = 'cancelled', done_ns = ?2 WHERE id = ?1 AND NOT EXISTS \
        (SELECT 1 FROM stage_file WHERE request = ?1 AND ended_ns IS NULL)";
    run(transaction, sql, params![request, at_ns])?;
    Ok(())
}

/// Takes a stage out, when nothing waits for it any more.
fn forget(transaction: &Transaction<'_>, id: &str) -> Result<()> {
    let sql = "DELETE FROM pin WHERE holder = ?1 AND file IN (SELECT file FROM stage_file WHERE stage = ?2)";
    run(transaction, sql, params![holder(id), id])?;
    run(transaction, "DELETE FROM stage WHERE id = ?1", [id])?;
    Ok(())
}

/// Stages that ended before a time, all of their files.
const ENDED: &str = "SELECT id FROM stage WHERE created_ns <= ?1 AND NOT EXISTS (SELECT 1 FROM stage_file \
    LEFT JOIN request ON request.id = stage_file.request WHERE stage = stage.id \
    AND coalesce(stage_file.ended_ns, request.done_ns, ?1 + 1) > ?1)";

impl<D: Database> Stages for D {
    fn begin_stage(&self, stage: &NewStage, most: MostOpen, at_ns: i64) -> Result<Submitted> {
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
            let all: Option<u64> = one(transaction, OPEN, params![], |row| row.get(0))?;
            let of_user = one(transaction, OPEN_OF_USER, params![stage.user], |row| {
                row.get(0)
            })?;
            for (open, most) in [(all, most.all), (of_user, most.of_user)] {
                let open = open.unwrap_or_default();
                if open.saturating_add(stage.files.len() as u64) > most {
                    return Ok(Submitted::TooMany { open, most });
                }
            }
            begin(transaction, stage, at_ns)?;
            Ok(Submitted::New)
        })
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

    fn stages(&self, user: Option<&str>, limit: usize) -> Result<Vec<Stage>> {
        self.read(|transaction| {
            let sql = "SELECT id, user_name, created_ns, held = 1 FROM stage WHERE user_name = coalesce(?1, user_name) \
                ORDER BY created_ns DESC, id LIMIT ?2";
            let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
            let newest = params![user, limit as u64];
            let found: Vec<(String, String, i64, bool)> = all(transaction, sql, newest, row)?;
            let stages = found.into_iter().map(|(id, user, created_ns, is_held)| {
                let files = files(transaction, &id)?;
                Ok(Stage {
                    id,
                    user,
                    created_ns,
                    is_held,
                    files,
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
        self.write(|transaction| {
            for spelling in spellings {
                cancel(transaction, id, spelling, at_ns)?;
            }
            Ok(())
        })
    }

    fn delete_stage(&self, id: &str, at_ns: i64) -> Result<()> {
        self.write(|transaction| {
            let sql = "SELECT spelling FROM stage_file WHERE stage = ?1";
            let spellings: Vec<String> = all(transaction, sql, [id], |row| row.get(0))?;
            for spelling in spellings {
                cancel(transaction, id, &spelling, at_ns)?;
            }
            forget(transaction, id)
        })
    }

    fn release_stage(&self, id: &str, files: &[FileId]) -> Result<()> {
        self.write(|transaction| {
            for file in files {
                let sql = "DELETE FROM pin WHERE file = ?1 AND holder = ?2";
                run(transaction, sql, params![file, holder(id)])?;
            }
            Ok(())
        })
    }

    fn release_file(&self, user: &str, file: FileId) -> Result<()> {
        let sql = "DELETE FROM pin WHERE file = ?1 AND holder IN (SELECT 'stage ' || stage.id FROM stage \
            JOIN stage_file ON stage_file.stage = stage.id WHERE stage_file.file = ?1 AND user_name = ?2)";
        self.write(|transaction| run(transaction, sql, params![file, user]).map(|_| ()))
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
            let ended: Vec<String> = all(transaction, ENDED, [ended], |row| row.get(0))?;
            for id in &ended {
                forget(transaction, id)?;
            }
            Ok(ended.len() as u64)
        })
    }
}
