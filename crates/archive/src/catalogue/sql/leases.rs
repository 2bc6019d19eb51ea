//! Leases.

use super::writes::{close, open_write_on};
use super::{Database, Row, ToValue, Transaction, Value, all, new_row, one, params, run, search};
use crate::catalogue::{
    Catalogue, CatalogueError, Claim, Holder, Lease, Leases, OutOfUse, RequestId, Resource, Result,
    Wanted,
};
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

const LEASE: &str = "SELECT epoch, drive, volume, host, process, run, until_ns FROM lease";

fn lease_of(row: &Row<'_>) -> Result<Lease> {
    Ok(Lease {
        epoch: row.get(0)?,
        drive: row.get(1)?,
        volume: row.get(2)?,
        holder: Holder {
            host: row.get(3)?,
            process: row.get(4)?,
            run: row.get(5)?,
        },
        until_ns: row.get(6)?,
    })
}

const OUT_OF_USE: &str = "SELECT resource, name, outage, why, since_ns FROM out_of_use";

fn out_of_use_of(row: &Row<'_>) -> Result<OutOfUse> {
    Ok(OutOfUse {
        resource: row.get(0)?,
        name: row.get(1)?,
        outage: row.get(2)?,
        why: row.get(3)?,
        since_ns: row.get(4)?,
    })
}

/// Fails where a lease is not in force any more. A catalogue that was restored may give an epoch again, but to another
/// run.
pub fn must_hold(transaction: &Transaction<'_>, lease: &Lease) -> Result<()> {
    let epoch = lease.epoch;
    let sql = "SELECT 1 FROM lease WHERE epoch = ?1 AND run = ?2";
    let found = one(transaction, sql, params![epoch, lease.holder.run], |_| {
        Ok(())
    })?;
    found.ok_or(CatalogueError::LeaseLost { epoch })
}

/// Ends a lease: what it had begun waits again, and what it was writing is given up.
fn end(transaction: &Transaction<'_>, lease: &Lease) -> Result<()> {
    let sql =
        "UPDATE request SET state = 'queued', lease = NULL WHERE lease = ?1 AND done_ns IS NULL";
    run(transaction, sql, [lease.epoch])?;
    if let Some(volume) = lease.volume
        && let Some(write) = open_write_on(transaction, volume)?
    {
        close(transaction, write)?;
    }
    run(
        transaction,
        "DELETE FROM lease WHERE epoch = ?1",
        [lease.epoch],
    )?;
    Ok(())
}

/// The leases that there are.
struct Standing {
    /// Those whose time is not over.
    in_force: Vec<Lease>,
    /// Those whose time is over, and which nobody has ended yet.
    over: Vec<Lease>,
    /// What a lease that is made or renewed now notes: all leases up to this time have ended, once `over` has.
    looked_ns: i64,
}

/// Looks at the leases from where the last one who did so has ended those that were over.
///
/// A snapshot that a report has open keeps the rows of all leases that were given back since. To look at them all would
/// take longer with each claim. The queries are planned each time: while the server believes that the table is small,
/// it reads all of it.
fn standing(transaction: &Transaction<'_>, at_ns: i64) -> Result<Standing> {
    let mut looked_ns = 0;
    let sql = "SELECT coalesce(max(looked_ns), 0) FROM lease WHERE until_ns > ?1";
    search(transaction, sql, [at_ns], |row| {
        looked_ns = row.get(0)?;
        Ok(ControlFlow::Break(()))
    })?;
    let mut leases = Vec::new();
    let sql = format!("{LEASE} WHERE until_ns > ?1");
    search(transaction, &sql, [looked_ns], |row| {
        leases.push(lease_of(row)?);
        Ok(ControlFlow::Continue(()))
    })?;
    let (in_force, over) = leases.into_iter().partition(|lease| lease.until_ns > at_ns);
    Ok(Standing {
        in_force,
        over,
        // No lease is behind this time, even if the clock was set back.
        looked_ns: looked_ns.max(at_ns),
    })
}

fn end_expired(transaction: &Transaction<'_>, at_ns: i64) -> Result<usize> {
    let over = standing(transaction, at_ns)?.over;
    for lease in &over {
        end(transaction, lease)?;
    }
    Ok(over.len())
}

/// What stands in the way of a claim because a person wants it so.
fn outage(transaction: &Transaction<'_>, wanted: &Wanted<'_>) -> Result<Option<OutOfUse>> {
    let sql = format!(
        "{OUT_OF_USE} WHERE (resource = 'host' AND name = ?1) OR (resource = 'drive' AND name = ?2) \
        OR (resource = 'volume' AND name = (SELECT label FROM volume WHERE id = ?3)) LIMIT 1"
    );
    let params = params![wanted.holder.host, wanted.drive, wanted.volume];
    one(transaction, &sql, params, out_of_use_of)
}

fn claim(transaction: &Transaction<'_>, wanted: &Wanted<'_>, at_ns: i64) -> Result<Claim> {
    let at_ns = transaction.now_ns(at_ns)?;
    let Standing {
        mut in_force,
        over,
        looked_ns,
    } = standing(transaction, at_ns)?;
    for lease in &over {
        end(transaction, lease)?;
    }
    let Wanted {
        drive,
        volume,
        holder,
        for_ns,
    } = *wanted;
    if let Some(id) = volume {
        super::volume_rows::volume(transaction, id)?;
    }
    if let Some(found) = outage(transaction, wanted)? {
        return Ok(Claim::OutOfUse(found));
    }
    in_force.retain(|lease| lease.drive == drive || (volume.is_some() && lease.volume == volume));
    in_force.sort_by_key(|lease| lease.drive != drive);
    for other in in_force {
        if other.drive != drive || other.holder != *holder {
            return Ok(Claim::Taken(other));
        }
        end(transaction, &other)?;
    }
    let until_ns = looked_ns.saturating_add(for_ns);
    let sql = "INSERT INTO lease (drive, volume, host, process, run, until_ns, looked_ns) \
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) RETURNING epoch";
    let params = params![
        drive,
        volume,
        holder.host,
        holder.process,
        holder.run,
        until_ns,
        looked_ns
    ];
    Ok(Claim::Got(Lease {
        epoch: new_row(transaction, sql, params)?.unsigned_abs(),
        drive: drive.to_owned(),
        volume,
        holder: holder.clone(),
        until_ns,
    }))
}

/// Requests that one statement begins with: each statement is a journey to the server and back.
const AT_ONCE: usize = 50;

/// Begins with those of some requests that wait.
fn take(
    transaction: &Transaction<'_>,
    lease: &Lease,
    requests: &[RequestId],
    at_ns: i64,
) -> Result<Vec<RequestId>> {
    let ids: Vec<String> = (3..3 + AT_ONCE).map(|at| format!("?{at}")).collect();
    let sql = format!(
        "UPDATE request SET state = 'started', started_ns = ?2, lease = ?1 \
        WHERE state = 'queued' AND id IN ({}) RETURNING id",
        ids.join(", ")
    );
    let mut begun: HashSet<RequestId> = HashSet::new();
    for some in requests.chunks(AT_ONCE) {
        let mut values = vec![lease.epoch.to_value()?, Value::Integer(at_ns)];
        // The statement always has the same number of parameters: some stand there twice.
        values.extend(
            some.iter()
                .cycle()
                .take(AT_ONCE)
                .map(|id| Value::Integer(id.0)),
        );
        transaction.rows(&sql, &values, &mut |row| {
            begun.insert(row.get(0)?);
            Ok(ControlFlow::Continue(()))
        })?;
    }
    let taken = requests.iter().copied();
    Ok(taken.filter(|id| begun.remove(id)).collect())
}

impl<D: Database> Leases for D {
    fn claim(&self, wanted: &Wanted<'_>, at_ns: i64) -> Result<Claim> {
        self.write(|transaction| claim(transaction, wanted, at_ns))
    }

    fn take(&self, lease: &Lease, requests: &[RequestId], at_ns: i64) -> Result<Vec<RequestId>> {
        self.write(|transaction| {
            must_hold(transaction, lease)?;
            take(transaction, lease, requests, at_ns)
        })
    }

    fn renew(&self, holder: &Holder, for_ns: i64, at_ns: i64) -> Result<Vec<Lease>> {
        let renew = "UPDATE lease SET until_ns = ?2, looked_ns = ?3 WHERE epoch = ?1";
        self.write(|transaction| {
            let Standing {
                in_force,
                over,
                looked_ns,
            } = standing(transaction, transaction.now_ns(at_ns)?)?;
            let until_ns = looked_ns.saturating_add(for_ns);
            let mut renewed = Vec::new();
            // Movers that have nothing to do claim nothing, and renew: they end what others have left.
            for lease in over.into_iter().chain(in_force) {
                if lease.holder.run == holder.run {
                    let until_ns = lease.until_ns.max(until_ns);
                    run(
                        transaction,
                        renew,
                        params![lease.epoch, until_ns, looked_ns],
                    )?;
                    renewed.push(Lease { until_ns, ..lease });
                } else if lease.until_ns <= looked_ns {
                    end(transaction, &lease)?;
                }
            }
            renewed.sort_by(|one, other| one.drive.cmp(&other.drive));
            Ok(renewed)
        })
    }

    fn give_back(&self, lease: &Lease) -> Result<bool> {
        self.write(|transaction| match must_hold(transaction, lease) {
            Err(CatalogueError::LeaseLost { .. }) => Ok(false),
            held => {
                held?;
                end(transaction, lease)?;
                Ok(true)
            }
        })
    }

    fn new_epoch(&self) -> Result<u64> {
        self.write(|transaction| {
            let epoch = transaction.last_number("lease", "epoch")? + 1;
            transaction.set_last_number("lease", "epoch", epoch)?;
            Ok(epoch.unsigned_abs())
        })
    }

    fn skip_epochs(&self, lease: &Lease, up_to: u64) -> Result<()> {
        self.write(|transaction| {
            must_hold(transaction, lease)?;
            let last = transaction.last_number("lease", "epoch")?;
            transaction.set_last_number("lease", "epoch", last.max(up_to.cast_signed()))
        })
    }

    fn end_expired(&self, at_ns: i64) -> Result<usize> {
        self.write(|transaction| end_expired(transaction, transaction.now_ns(at_ns)?))
    }

    fn leases(&self) -> Result<Vec<Lease>> {
        let sql = format!("{LEASE} ORDER BY drive");
        self.read(|transaction| all(transaction, &sql, params![], lease_of))
    }

    fn under(&self, lease: &Lease) -> Arc<dyn Catalogue> {
        self.bound_to(lease)
    }

    fn take_out_of_use(&self, what: &OutOfUse) -> Result<()> {
        let sql = "INSERT INTO out_of_use (resource, name, outage, why, since_ns) VALUES (?1, ?2, ?3, ?4, ?5) \
            ON CONFLICT (resource, name) DO UPDATE SET outage = ?3, why = ?4, since_ns = ?5";
        let params = params![
            what.resource,
            what.name,
            what.outage,
            what.why,
            what.since_ns
        ];
        self.write(|transaction| run(transaction, sql, params).map(|_| ()))
    }

    fn put_into_use(&self, resource: Resource, name: &str) -> Result<bool> {
        let sql = "DELETE FROM out_of_use WHERE resource = ?1 AND name = ?2";
        self.write(|transaction| Ok(run(transaction, sql, params![resource, name])? > 0))
    }

    fn out_of_use(&self) -> Result<Vec<OutOfUse>> {
        let sql = format!("{OUT_OF_USE} ORDER BY resource, name");
        self.read(|transaction| all(transaction, &sql, params![], out_of_use_of))
    }
}
