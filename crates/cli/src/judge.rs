//! `tapewise order --judge`: the drive's own estimate of our order, beside our prediction.

use crate::commands::drive::READY_LIMIT;
use crate::device;
use crate::error::CliError;
use crate::units;
use tapewise::rao::head_block;
use tapewise::{Batch, Found, Location, Placed};
use tapewise_formats::rao_batch::number_name;
use tapewise_model::Micros;
use tapewise_order::Action;
use tapewise_plot::Table;
use tapewise_scsi::commands::{
    AccessOrder, AccessOrderProcess, GenerateAccessOrder, OrderedSegment, ReceiveAccessOrder,
    ReceiveAccessOrderLimits, Segment,
};
use tapewise_scsi::question::require;
use tapewise_scsi::{Command, TapeDrive, hex};

/// A read of an order.
pub struct Asked {
    id: String,
    segment: Segment,
    /// What we predict of the way to it; none where no profile places it.
    locate: Option<Micros>,
}

/// Asks a drive to leave an order as it is and to estimate its times (PROCESS 001b), and prints
/// what it answers beside what we predict.
///
/// # Errors
/// Refused, where the drive does not say that it has the commands; bad input, where the order is
/// longer than the drive's lists; what the drive answers.
pub fn judge(name: &str, head: Location, asked: &[Asked]) -> Result<String, CliError> {
    let head = head_block(head).map_err(|error| CliError::of_drive_order("--judge", error))?;
    if asked.is_empty() {
        return Err(CliError::input("--judge: there is nothing to read"));
    }
    let start = Segment {
        name: *b"start\0\0\0\0\0",
        partition: head.partition,
        first: head.block,
        last: head.block,
    };
    let mut segments = vec![start];
    segments.extend(asked.iter().map(|asked| asked.segment));
    let mut drive = device::tape_for_use(name)?;
    let answer = ask(&mut drive, &segments).map_err(|error| error.of(name))?;
    let is_emulated = device::way(name)? == device::Way::Emulated;
    Ok(text(asked, &answer, is_emulated))
}

/// The requests in the order of their blocks, where no profile places them: the drive's estimate can
/// be had all the same.
pub fn sorted(batch: &Batch) -> Vec<Asked> {
    let extents = batch
        .requests
        .iter()
        .flat_map(|request| request.extents.iter().map(|extent| (&request.id, extent)));
    let mut extents: Vec<_> = extents.collect();
    extents.sort_by_key(|(_, extent)| (extent.partition.unwrap_or(0), extent.start_block));
    (1..)
        .zip(extents)
        .map(|(number, (id, extent))| Asked {
            id: id.clone(),
            segment: Segment {
                name: number_name(number),
                partition: extent.partition.unwrap_or(0),
                first: extent.start_block,
                last: extent.end_block(),
            },
            locate: None,
        })
        .collect()
}

/// The reads in our order, named by their place in it.
pub fn ordered(placed: &Placed, found: &Found) -> Vec<Asked> {
    let visits = placed.problem.visits();
    let mut before = Micros::ZERO;
    let reads = found
        .plan
        .steps
        .iter()
        .filter(|step| step.action == Action::Read);
    (1..)
        .zip(reads)
        .map(|(number, step)| {
            let visit = &visits[step.visit as usize];
            let segment = &visit.extents[step.extent as usize];
            let request = placed.owners[visit.requests[0] as usize].0;
            let locate = step.begin - before;
            before = step.begin + step.duration;
            Asked {
                id: placed.batch.requests[request].id.clone(),
                segment: Segment {
                    name: number_name(number),
                    partition: segment.partition(),
                    first: segment.first_block,
                    last: segment.last_block,
                },
                locate: Some(locate),
            }
        })
        .collect()
}

/// Probes, then asks.
fn ask(drive: &mut TapeDrive, segments: &[Segment]) -> Result<AccessOrder, CliError> {
    drive.wait_until_ready(READY_LIMIT)?;
    let generate = GenerateAccessOrder::new(AccessOrderProcess::Estimate, segments);
    let receive = ReceiveAccessOrder {
        segments: segments.len(),
    };
    require(drive, generate.name(), GenerateAccessOrder::CODE)?;
    require(drive, receive.name(), ReceiveAccessOrder::CODE)?;
    let limits = ReceiveAccessOrderLimits.send(drive.transport())?;
    let most = usize::from(limits.most_segments);
    if segments.len() > most {
        return Err(CliError::input(format!(
            "--judge: the order has {} with the place of the head, the drive takes {most}",
            units::count(segments.len(), "segment")
        )));
    }
    generate.send(drive.transport())?;
    Ok(receive.send(drive.transport())?)
}

fn text(asked: &[Asked], answer: &AccessOrder, is_emulated: bool) -> String {
    let columns = ["read", "file", "blocks", "we predict", "bytes 2-4", ""];
    let mut table = Table::new("the drive's estimate of this order (RAO)", &columns);
    for (number, asked) in (1..).zip(asked) {
        let own = |told: &&OrderedSegment| told.segment == asked.segment;
        let told = answer.segments.iter().find(own);
        let raw = told.map_or("not told".to_owned(), |told| hex::plain(&told.raw_time));
        let rest = told.map(|told| hex::plain(&told.rest));
        table.row([
            format!("{number}"),
            asked.id.clone(),
            format!("{} to {}", asked.segment.first, asked.segment.last),
            asked
                .locate
                .map_or("-".to_owned(), |locate| locate.to_string()),
            raw,
            rest.unwrap_or_default(),
        ]);
    }
    let returned = answer.segments.iter().map(|told| told.segment);
    let kept = returned.filter(|told| asked.iter().any(|asked| asked.segment == *told));
    if !kept.eq(asked.iter().map(|asked| asked.segment)) {
        table.note("the drive did not return the order as it was sent");
    }
    table.note(format!(
        "process {}, status {}, {} returned. Beside each read stand our prediction of the way to it, and bytes 2-4, which may be the drive's estimate",
        answer.process,
        answer.status,
        units::count(answer.segments.len(), "segment")
    ));
    table.note(if is_emulated {             "an emulated drive: its answer is our own stand-in and says nothing of any drive; it \
             leaves these bytes zero"
         } else {             "no public text that we know explains these bytes, so tapewise shows them as they came, in hex. To send us the whole answer, run `tapewise drive show access-order DEVICE --hex` right after this"
         });
    crate::output::table(&table)
}
