//! Requests.

use super::files::retire;
use super::tally::tally;
use super::waiting::sorted;
use super::{Database, Row, ToValue, Transaction, Value, all, enter, many, one, params, run};
use crate::catalogue::{
    Answer, Begun, BegunMount, CatalogueError, FileId, FileState, NewRecall, Newest, OpenRecalls,
    RecallQueue, Request, RequestId, RequestKind, RequestState, Requests, Result, Tally, Terms,
    VolumeId, VolumeQueue, VolumeWait,
};
use crate::placement::Asked;
use std::collections::{HashMap, HashSet};
use tapewise_sim::mounts::Owner;

pub(super) const REQUEST: &str = "SELECT id, kind, file, user_name, priority, deadline_ns, place, state, reason, \
    created_ns, started_ns, done_ns, cause, activity FROM request";

pub(super) fn request_of(row: &Row<'_>) -> Result<Request> {
    Ok(Request {
        id: row.get(0)?,
        kind: row.get(1)?,
        file: row.get(2)?,
        terms: Terms {
            user: row.get(3)?,
            priority: row.get(4)?,
            deadline_ns: row.get(5)?,
            activity: row.get(13)?,
        },
        place: row.get(6)?,
        state: row.get(7)?,
        reason: row.get(8)?,
        created_ns: row.get(9)?,
        started_ns: row.get(10)?,
        done_ns: row.get(11)?,
        cause: row.get(12)?,
    })
}

/// Recalls on the list of failures.
pub(super) const LISTED: &str = "state = 'failed' AND kind = 'recall' AND settled_ns IS NULL";

/// Recalls that are held back: every stage that still wants them is.
const HELD: &str = "(SELECT wanted.request FROM stage JOIN stage_file AS wanted ON wanted.stage = stage.id \
    WHERE stage.held = 1 AND wanted.ended_ns IS NULL AND wanted.request IS NOT NULL \
    AND NOT EXISTS (SELECT 1 FROM stage_file AS other JOIN stage AS free ON free.id = other.stage \
    WHERE other.request = wanted.request AND other.ended_ns IS NULL AND free.held = 0))";

fn request(transaction: &Transaction<'_>, id: RequestId) -> Result<Request> {
    let found = one(
        transaction,
        &format!("{REQUEST} WHERE id = ?1"),
        [id],
        request_of,
    )?;
    found.ok_or(CatalogueError::NoRequest(id))
}

/// A request that nobody has answered yet.
fn unanswered(transaction: &Transaction<'_>, id: RequestId) -> Result<Request> {
    let request = request(transaction, id)?;
    if request.done_ns.is_some() {
        return Err(CatalogueError::Answered {
            request: id,
            state: request.state.name(),
        });
    }
    Ok(request)
}

/// Enters recalls of live files.
pub(super) fn submit(
    transaction: &Transaction<'_>,
    recalls: &[NewRecall],
    at_ns: i64,
) -> Result<Vec<RequestId>> {
    let files: Vec<FileId> = recalls.iter().map(|recall| recall.file).collect();
    let mut states: HashMap<FileId, FileState> = HashMap::new();
    let sql = "SELECT id, state FROM file WHERE id IN ({many})";
    many(transaction, sql, &[], &files, |row| {
        states.insert(row.get(0)?, row.get(1)?);
        Ok(())
    })?;
    for file in files {
        match states.get(&file) {
            None => return Err(CatalogueError::NoFile(file)),
            Some(FileState::Live) => {}
            Some(state) => {
                let state = state.name();
                return Err(CatalogueError::NotLive { file, state });
            }
        }
    }
    submit_live(transaction, recalls, at_ns)
}

/// Enters recalls of files that are known to be live.
pub(super) fn submit_live(
    transaction: &Transaction<'_>,
    recalls: &[NewRecall],
    at_ns: i64,
) -> Result<Vec<RequestId>> {
    if recalls.is_empty() {
        return Ok(Vec::new());
    }
    let last = transaction.last_number("request", "id")?;
    let ids: Vec<RequestId> = (last + 1..).take(recalls.len()).map(RequestId).collect();
    let rows = ids.iter().zip(recalls);
    let rows = rows.map(|(id, recall)| recall_row(id, recall, at_ns));
    let rows: Vec<[Value<'_>; 10]> = rows.collect::<Result<_>>()?;
    enter(transaction, "request", RECALL_ROW, &rows)?;
    transaction.set_last_number("request", "id", last + recalls.len() as i64)?;
    Ok(ids)
}

/// The names of the columns of [`recall_row`].
const RECALL_ROW: [&str; 10] = [
    "id",
    "kind",
    "file",
    "user_name",
    "activity",
    "priority",
    "deadline_ns",
    "place",
    "state",
    "created_ns",
];

/// A new recall as a row.
fn recall_row<'a>(id: &'a RequestId, recall: &'a NewRecall, at_ns: i64) -> Result<[Value<'a>; 10]> {
    let terms = &recall.terms;
    Ok([
        id.to_value()?,
        Value::Text(RequestKind::Recall.name()),
        recall.file.to_value()?,
        Value::Text(&terms.user),
        Value::Text(&terms.activity),
        terms.priority.to_value()?,
        terms.deadline_ns.to_value()?,
        recall.destination.to_value()?,
        Value::Text(RequestState::Queued.name()),
        Value::Integer(at_ns),
    ])
}

/// Takes failures off the list that have the file and the place of a recall: one that brought it there after all, or one
/// of them.
pub(super) fn settle(transaction: &Transaction<'_>, recall: &Request, at_ns: i64) -> Result<()> {
    let sql = format!(
        "UPDATE request SET settled_ns = ?3 WHERE file = ?1 AND place IS NOT DISTINCT FROM ?2 AND {LISTED}"
    );
    let params = params![recall.file, recall.place, at_ns];
    run(transaction, &sql, params).map(|_| ())
}

/// Changes many requests by a statement that returns their numbers; those that it changed.
fn changed(
    transaction: &Transaction<'_>,
    sql: &str,
    requests: &[RequestId],
    at_ns: i64,
) -> Result<HashSet<RequestId>> {
    let mut changed = HashSet::new();
    many(
        transaction,
        sql,
        &[Value::Integer(at_ns)],
        requests,
        |row| {
            changed.insert(row.get(0)?);
            Ok(())
        },
    )?;
    Ok(changed)
}

fn answer(transaction: &Transaction<'_>, id: RequestId, answer: &Answer, at_ns: i64) -> Result<()> {
    let request = unanswered(transaction, id)?;
    let store = request.kind == RequestKind::Store;
    if store && *answer == Answer::Delivered {
        return Err(CatalogueError::LacksCopies {
            request: id,
            file: request.file,
        });
    }
    let (state, failure) = match answer {
        Answer::Delivered => (RequestState::Delivered, None),
        Answer::Failed(failure) => (RequestState::Failed, Some(failure)),
        Answer::Cancelled => (RequestState::Cancelled, None),
    };
    let (reason, cause) = failure
        .map(|failure| (&failure.words, failure.cause))
        .unzip();
    let sql = "UPDATE request SET state = ?2, reason = ?3, cause = ?4, done_ns = ?5 WHERE id = ?1";
    run(transaction, sql, params![id, state, reason, cause, at_ns])?;
    if *answer == Answer::Delivered {
        settle(transaction, &request, at_ns)?;
    }
    let sql = "SELECT 1 FROM file WHERE id = ?1 AND state = 'arriving'";
    let arriving = one(transaction, sql, [request.file], |_| Ok(()))?;
    if store && arriving.is_some() {
        retire(transaction, request.file, at_ns)?;
    }
    Ok(())
}

/// Recalls of a state that are not held back.
fn of_state() -> String {
    format!(
        "{REQUEST} WHERE done_ns IS NULL AND state = ?1 AND kind = 'recall' \
        AND (state = 'started' OR id NOT IN {HELD})"
    )
}

/// The newest request. What comes while more is read is not yet among what is read.
fn newest(transaction: &Transaction<'_>) -> Result<RequestId> {
    let sql = "SELECT coalesce(max(id), 0) FROM request";
    let newest = one(transaction, sql, params![], |row| row.get(0))?;
    Ok(newest.unwrap_or(RequestId(0)))
}

/// Recalls of a state that were asked for after a request, by what they wait for.
fn recalls_after(
    transaction: &Transaction<'_>,
    state: RequestState,
    after: RequestId,
) -> Result<RecallQueue> {
    let newest = newest(transaction)?;
    let sql = format!(
        "{} AND id > ?2 AND id <= ?3 ORDER BY created_ns, id",
        of_state()
    );
    let requests = all(transaction, &sql, params![state, after, newest], request_of)?;
    let queue = sorted(transaction, &requests)?;
    Ok(RecallQueue { newest, ..queue })
}

impl<D: Database> Requests for D {
    fn submit(&self, recalls: &[NewRecall], at_ns: i64) -> Result<Vec<RequestId>> {
        self.write(|transaction| submit(transaction, recalls, at_ns))
    }

    fn join(&self, recalls: &[NewRecall], at_ns: i64) -> Result<Vec<RequestId>> {
        self.write(|transaction| {
            let files: Vec<FileId> = recalls.iter().map(|recall| recall.file).collect();
            let sql = "SELECT file, place, id FROM request \
                WHERE file IN ({many}) AND done_ns IS NULL AND kind = 'recall'";
            let mut open: HashMap<(FileId, Option<Vec<u8>>), RequestId> = HashMap::new();
            many(transaction, sql, &[], &files, |row| {
                open.insert((row.get(0)?, row.get(1)?), row.get(2)?);
                Ok(())
            })?;
            let mut new: Vec<NewRecall> = Vec::new();
            let mut places = HashMap::new();
            // The number of an open one, or the place of a new one.
            let joined = recalls.iter().map(|recall| {
                let key = (recall.file, recall.destination.clone());
                match open.get(&key) {
                    Some(&there) => Ok(there),
                    None => Err(*places.entry(key).or_insert_with(|| {
                        new.push(recall.clone());
                        new.len() - 1
                    })),
                }
            });
            let joined: Vec<std::result::Result<RequestId, usize>> = joined.collect();
            let entered = submit(transaction, &new, at_ns)?;
            let joined = joined.into_iter();
            Ok(joined
                .map(|one| one.unwrap_or_else(|place| entered[place]))
                .collect())
        })
    }

    fn request(&self, id: RequestId) -> Result<Request> {
        self.read(|transaction| request(transaction, id))
    }

    fn unanswered(&self) -> Result<Vec<Request>> {
        let sql = format!("{REQUEST} WHERE done_ns IS NULL ORDER BY created_ns, id");
        self.read(|transaction| all(transaction, &sql, params![], request_of))
    }

    fn unanswered_among(&self, requests: &[RequestId]) -> Result<Vec<RequestId>> {
        let sql = "SELECT id FROM request WHERE id IN ({many}) AND done_ns IS NULL";
        let mut open = Vec::new();
        self.read(|transaction| {
            many(transaction, sql, &[], requests, |row| {
                open.push(row.get(0)?);
                Ok(())
            })
        })?;
        Ok(open)
    }

    fn held_back(&self) -> Result<Vec<RequestId>> {
        let sql =
            format!("SELECT id FROM request WHERE state = 'queued' AND id IN {HELD} ORDER BY id");
        self.read(|transaction| all(transaction, &sql, params![], |row| row.get(0)))
    }

    fn asked(&self, most: usize) -> Result<Vec<Asked>> {
        let sql = "SELECT request.user_name, request.created_ns, file.id, file.path, file.bytes, file.modified_ns \
            FROM request JOIN file ON file.id = request.file WHERE request.kind = 'recall' \
            ORDER BY request.id DESC LIMIT ?1";
        let row = |row: &Row<'_>| {
            Ok(Asked {
                user: row.get(0)?,
                at_ns: row.get(1)?,
                file: row.get(2)?,
                path: row.get(3)?,
                bytes: row.get(4)?,
                modified_ns: row.get(5)?,
            })
        };
        self.read(|transaction| all(transaction, sql, params![most as u64], row))
    }

    fn open_recalls(&self) -> Result<OpenRecalls> {
        let free = format!("state = 'started' OR id NOT IN {HELD}");
        let sql = format!(
            "SELECT count(*) FILTER (WHERE state = 'queued'), count(*) FILTER (WHERE state = 'started'), \
            min(created_ns) FILTER (WHERE {free}), count(*) FILTER (WHERE NOT ({free})) \
            FROM request WHERE done_ns IS NULL AND kind = 'recall'"
        );
        let row = |row: &Row<'_>| {
            let (waiting, held): (u64, u64) = (row.get(0)?, row.get(3)?);
            Ok(OpenRecalls {
                queued: waiting - held,
                held,
                started: row.get(1)?,
                oldest_ns: row.get(2)?,
            })
        };
        self.read(|transaction| Ok(one(transaction, &sql, params![], row)?.unwrap_or_default()))
    }

    fn tally(&self, last: &Tally) -> Result<Tally> {
        self.read(|transaction| tally(transaction, last))
    }

    fn waits(&self) -> Result<Vec<VolumeWait>> {
        let sql = format!(
            "SELECT volume.label, count(DISTINCT request.id), \
            CAST(sum(segment.bytes) AS BIGINT), min(request.created_ns) \
            FROM request JOIN file ON file.id = request.file AND file.bytes > 0 \
            JOIN copy ON copy.file = request.file AND copy.state = 'whole' \
            JOIN segment ON segment.copy = copy.id JOIN volume ON volume.id = segment.volume \
            WHERE request.done_ns IS NULL AND request.state = 'queued' AND request.kind = 'recall' \
            AND NOT EXISTS (SELECT 1 FROM cached WHERE cached.file = request.file) \
            AND request.id NOT IN {HELD} GROUP BY volume.id ORDER BY volume.label, volume.id"
        );
        let row = |row: &Row<'_>| {
            Ok(VolumeWait {
                label: row.get(0)?,
                recalls: row.get(1)?,
                bytes: row.get(2)?,
                oldest_ns: row.get(3)?,
            })
        };
        self.read(|transaction| all(transaction, &sql, params![], row))
    }

    fn newest(&self, after: RequestId, volume: VolumeId) -> Result<Newest> {
        // SQLite joins in this order: few requests are new, and a volume may have millions of segments.
        let sql = "SELECT 1 FROM request CROSS JOIN copy CROSS JOIN segment \
            WHERE request.id > ?1 AND request.id <= ?2 AND request.state = 'queued' AND request.kind = 'recall' \
            AND copy.file = request.file AND copy.state = 'whole' \
            AND segment.copy = copy.id AND segment.volume = ?3 LIMIT 1";
        self.read(|transaction| {
            let request = newest(transaction)?.max(after);
            let is_wanted = request > after
                && one(
                    transaction,
                    sql,
                    params![after, request, volume],
                    |_| Ok(()),
                )?
                .is_some();
            Ok(Newest { request, is_wanted })
        })
    }

    fn start(&self, requests: &[RequestId], at_ns: i64) -> Result<()> {
        let sql = "UPDATE request SET state = 'started', started_ns = ?1 \
            WHERE id IN ({many}) AND done_ns IS NULL RETURNING id";
        self.write(|transaction| {
            let started = changed(transaction, sql, requests, at_ns)?;
            let left = requests.iter().find(|id| !started.contains(id));
            left.map_or(Ok(()), |id| unanswered(transaction, *id).map(|_| ()))
        })
    }

    fn requeue_started(&self) -> Result<u64> {
        // What a mover has begun is its affair until its lease ends.
        let sql = "UPDATE request SET state = 'queued', lease = NULL WHERE done_ns IS NULL AND state = 'started' \
            AND (lease IS NULL OR lease NOT IN (SELECT epoch FROM lease))";
        self.write(|transaction| Ok(run(transaction, sql, params![])? as u64))
    }

    fn requeue(&self, requests: &[RequestId]) -> Result<()> {
        let sql = "UPDATE request SET state = 'queued', lease = NULL \
            WHERE id IN ({many}) AND state = 'started'";
        self.write(|transaction| many(transaction, sql, &[], requests, |_| Ok(())))
    }

    fn answer(&self, request: RequestId, how: &Answer, at_ns: i64) -> Result<()> {
        self.write(|transaction| answer(transaction, request, how, at_ns))
    }

    fn withdraw(&self, requests: &[RequestId], at_ns: i64) -> Result<Vec<RequestId>> {
        let sql = "UPDATE request SET state = 'cancelled', done_ns = ?1 \
            WHERE id IN ({many}) AND kind = 'recall' AND state = 'queued' RETURNING id";
        self.write(|transaction| {
            let withdrawn = changed(transaction, sql, requests, at_ns)?;
            let is_withdrawn = |id: &&RequestId| withdrawn.contains(*id);
            Ok(requests.iter().filter(is_withdrawn).copied().collect())
        })
    }

    fn recall_queue(&self) -> Result<RecallQueue> {
        self.recalls_after(RequestId(0))
    }

    fn recalls_after(&self, request: RequestId) -> Result<RecallQueue> {
        self.read(|transaction| recalls_after(transaction, RequestState::Queued, request))
    }

    fn recalls_among(&self, requests: &[RequestId]) -> Result<RecallQueue> {
        let sql = format!("{} AND id IN ({{many}})", of_state());
        self.read(|transaction| {
            let state = [Value::Text(RequestState::Queued.name())];
            let mut found: Vec<Request> = Vec::new();
            many(transaction, &sql, &state, requests, |row| {
                found.push(request_of(row)?);
                Ok(())
            })?;
            found.sort_by_key(|request| (request.created_ns, request.id));
            let newest = newest(transaction)?;
            let queue = sorted(transaction, &found)?;
            Ok(RecallQueue { newest, ..queue })
        })
    }

    fn recalls_of(&self, label: &str) -> Result<Option<VolumeQueue>> {
        // SQLite joins in this order: a file has few copies, and a volume may have millions of segments.
        let sql = format!(
            "{} AND EXISTS (SELECT 1 FROM copy CROSS JOIN segment CROSS JOIN volume \
            WHERE copy.file = request.file AND copy.state = 'whole' AND segment.copy = copy.id \
            AND volume.id = segment.volume AND volume.label = ?2) ORDER BY created_ns, id",
            of_state()
        );
        self.read(|transaction| {
            let of_volume = params![RequestState::Queued, label];
            let requests = all(transaction, &sql, of_volume, request_of)?;
            let mut volumes = sorted(transaction, &requests)?.volumes.into_iter();
            Ok(volumes.find(|volume| volume.label == label))
        })
    }

    fn started_recalls(&self) -> Result<RecallQueue> {
        self.read(|transaction| recalls_after(transaction, RequestState::Started, RequestId(0)))
    }

    fn begun(&self) -> Result<Begun> {
        // What is begun together has one time, and one lease where there are leases.
        let sql = "SELECT lease, started_ns, user_name, activity, place, count(*) FROM request \
            WHERE done_ns IS NULL AND state = 'started' AND kind = 'recall' \
            GROUP BY lease, started_ns, user_name, activity, place ORDER BY min(created_ns), min(id)";
        let row = |row: &Row<'_>| {
            let owner = Owner {
                user: row.get(2)?,
                activity: row.get(3)?,
            };
            let place: Option<Vec<u8>> = row.get(4)?;
            let mount: (Option<u64>, Option<i64>) = (row.get(0)?, row.get(1)?);
            let count: u64 = row.get(5)?;
            Ok((mount, owner, place, count))
        };
        let mut seen = HashSet::new();
        let mut begun = Begun::default();
        for ((epoch, started_ns), owner, place, count) in
            self.read(|transaction| all(transaction, sql, params![], row))?
        {
            let alone_ns = started_ns.filter(|_| epoch.is_none());
            if seen.insert((epoch, alone_ns)) {
                begun.mounts.push(BegunMount { epoch, owner });
            }
            if let Some(place) = place {
                *begun.places.entry(place).or_default() += count;
            }
        }
        Ok(begun)
    }
}
