//! What recalls wait for: volumes, or that one is put into use again, or nothing.

use super::rows::{SEGMENT, segment};
use super::{Transaction, all, many, params};
use crate::catalogue::{
    FileId, Outage, RecallQueue, Request, Result, VolumeId, VolumeQueue, Waiting,
};
use crate::record::Segment;
use std::collections::{BTreeMap, HashMap};
use tapewise_sim::mounts::Owner;

/// A segment of a whole copy.
struct CopySegment {
    volume: VolumeId,
    label: String,
    number: u32,
    zstd_bytes: Option<u64>,
    segment: Segment,
}

/// What is known of a file that a recall asks for.
#[derive(Default)]
struct Known {
    bytes: u64,
    /// It is empty, or lies in the cache.
    is_at_hand: bool,
    /// Where its whole copies lie, by volume and in file order; `None` if there is none. Copies on volumes that are out of
    /// use are left out.
    places: Option<Vec<CopySegment>>,
    /// A disabled volume with a part of a copy that is on no broken one.
    disabled: Option<String>,
}

impl Known {
    /// Leaves out copies of which a part is on a volume that is out of use.
    fn leave_out(&mut self, out_of_use: &HashMap<String, Outage>) {
        let Some(places) = self.places.as_mut().filter(|places| !places.is_empty()) else {
            return;
        };
        let mut out: BTreeMap<u32, (Outage, String)> = BTreeMap::new();
        for place in places.iter() {
            if let Some(&outage) = out_of_use.get(&place.label) {
                let worst = out
                    .entry(place.number)
                    .or_insert_with(|| (outage, place.label.clone()));
                if outage == Outage::Broken {
                    worst.0 = outage;
                }
            }
        }
        places.retain(|place| !out.contains_key(&place.number));
        if places.is_empty() {
            self.places = None;
        }
        let mut disabled = out
            .into_values()
            .filter(|(outage, _)| *outage == Outage::Disabled);
        self.disabled = disabled.next().map(|(_, label)| label);
    }
}

/// Volumes that are out of use, by label.
fn out_of_use(transaction: &Transaction<'_>) -> Result<HashMap<String, Outage>> {
    let sql = "SELECT name, outage FROM out_of_use WHERE resource = 'volume'";
    let found = all(transaction, sql, params![], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })?;
    Ok(found.into_iter().collect())
}

/// Requests whose files are looked up together, and forgotten before the next ones are.
const PORTION: usize = 10_000;

/// What is known of the files of some requests.
fn known(transaction: &Transaction<'_>, requests: &[Request]) -> Result<HashMap<FileId, Known>> {
    let mut files: Vec<FileId> = requests.iter().map(|request| request.file).collect();
    files.sort_unstable();
    files.dedup();
    let mut known: HashMap<FileId, Known> = HashMap::new();
    let sql = "SELECT id, bytes, bytes = 0 OR EXISTS (SELECT 1 FROM cached WHERE cached.file = file.id) \
        FROM file WHERE id IN ({many})";
    many(transaction, sql, &[], &files, |row| {
        let file = known.entry(row.get(0)?).or_default();
        (file.bytes, file.is_at_hand) = (row.get(1)?, row.get(2)?);
        Ok(())
    })?;
    // A copy that is nothing but holes has no segment.
    let sql = format!(
        "SELECT copy.file, volume.id, volume.label, copy.number, copy.zstd_bytes, {SEGMENT} \
        FROM copy LEFT JOIN segment ON segment.copy = copy.id LEFT JOIN volume ON volume.id = segment.volume \
        WHERE copy.file IN ({{many}}) AND copy.state = 'whole' \
        ORDER BY copy.file, volume.label, copy.number, segment.file_offset"
    );
    many(transaction, &sql, &[], &files, |row| {
        let file = known.entry(row.get(0)?).or_default();
        let places = file.places.get_or_insert_default();
        let Some(volume) = row.get(1)? else {
            return Ok(());
        };
        let place = CopySegment {
            volume,
            label: row.get(2)?,
            number: row.get(3)?,
            zstd_bytes: row.get(4)?,
            segment: segment(row, 5)?,
        };
        places.push(place);
        Ok(())
    })?;
    let out_of_use = out_of_use(transaction)?;
    if !out_of_use.is_empty() {
        known
            .values_mut()
            .for_each(|file| file.leave_out(&out_of_use));
    }
    Ok(known)
}

/// Recalls by what they wait for.
pub(super) fn sorted(transaction: &Transaction<'_>, requests: &[Request]) -> Result<RecallQueue> {
    let mut queue = RecallQueue::default();
    let mut volumes: BTreeMap<(String, VolumeId), Vec<Waiting>> = BTreeMap::new();
    for some in requests.chunks(PORTION) {
        let known = known(transaction, some)?;
        for request in some {
            let one = (request.id, request.file);
            let nothing = Known::default();
            let known = known.get(&request.file).unwrap_or(&nothing);
            match &known.places {
                _ if known.is_at_hand => queue.at_hand.push(one),
                None => match &known.disabled {
                    Some(label) => queue.disabled.push((request.id, label.clone())),
                    None => queue.stranded.push(one),
                },
                // Whole and nowhere: nothing but holes.
                Some(places) if places.is_empty() => queue.at_hand.push(one),
                Some(places) => wait_for(&mut volumes, request, known.bytes, places),
            }
        }
    }
    let volumes = volumes.into_iter();
    let volumes = volumes.map(|((label, volume), waiting)| VolumeQueue {
        volume,
        label,
        waiting,
    });
    queue.volumes = volumes.collect();
    Ok(queue)
}

/// Lets a request wait for the volumes on which its file lies.
fn wait_for(
    volumes: &mut BTreeMap<(String, VolumeId), Vec<Waiting>>,
    request: &Request,
    file_bytes: u64,
    places: &[CopySegment],
) {
    for place in places {
        let waiting = volumes
            .entry((place.label.clone(), place.volume))
            .or_default();
        match waiting.last_mut() {
            Some(last)
                if last.request == request.id && last.goes_on(place.number, &place.segment) =>
            {
                last.segments.push(place.segment);
            }
            _ => waiting.push(Waiting {
                request: request.id,
                file: request.file,
                number: place.number,
                owner: Owner {
                    activity: request.terms.activity.clone(),
                    user: request.terms.user.clone(),
                },
                place: request.place.clone(),
                priority: request.terms.priority,
                deadline_ns: request.terms.deadline_ns,
                created_ns: request.created_ns,
                file_bytes,
                zstd_bytes: place.zstd_bytes,
                segments: vec![place.segment],
            }),
        }
    }
}
