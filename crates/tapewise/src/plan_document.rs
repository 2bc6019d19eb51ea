//! A plan as the JSON contract has it.

use crate::effort::Effort;
use crate::found::Found;
use crate::location::{EndLocation, Location};
use crate::place::Placed;
use tapewise_formats::notice::Notice;
use tapewise_formats::plan_json::{
    PLAN_FORMAT, PLAN_VERSION, PlanAction, PlanDocument, PlanPlace, PlanPositions, PlanProfile,
    PlanServed, PlanStep, PlanTotals,
};
use tapewise_model::PositionSource;
use tapewise_order::{Action, Algorithm, Objective, Step};

impl Placed {
    /// The plan of an order as the JSON contract has it. A bound that is not known yet is looked for
    /// with this effort.
    pub fn document(&self, found: &Found, effort: &Effort) -> PlanDocument {
        document(self, found, effort)
    }
}

fn document(placed: &Placed, found: &Found, effort: &Effort) -> PlanDocument {
    let (batch, problem) = (&placed.batch, &placed.problem);
    let extents = || problem.visits().iter().flat_map(|visit| &visit.extents);
    let volumes = || batch.requests.iter().map(|request| &request.volume);
    PlanDocument {
        format: PLAN_FORMAT.to_owned(),
        version: PLAN_VERSION,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        seed: effort.seed,
        algorithm: found.origin.versioned(),
        objective: found.origin.objective().name().to_owned(),
        cut_short: found.cut_short,
        profile: PlanProfile {
            name: placed.profile.name.clone(),
            status: placed.profile.status.to_string(),
        },
        model: problem.tape().model.name().to_owned(),
        positions: PlanPositions {
            source: source_name(placed.source).to_owned(),
            error_lpos: extents()
                .map(|extent| u64::from(extent.start.error_lpos))
                .max(),
            note: placed.provenance.clone(),
        },
        head: location(placed.placement.head),
        end: end(placed.placement.end),
        block_size: batch.block_size,
        volume: volumes().next().cloned().flatten(),
        totals: totals(placed, found, effort),
        wear: Some(placed.wear_document(&found.plan.totals)),
        steps: found
            .plan
            .steps
            .iter()
            .enumerate()
            .map(|(at, s)| step(placed, at, s))
            .collect(),
        notices: batch
            .notices
            .iter()
            .map(|text| Notice {
                code: "input".to_owned(),
                line: None,
                text: text.clone(),
            })
            .collect(),
    }
}

fn totals(placed: &Placed, found: &Found, effort: &Effort) -> PlanTotals {
    let batch = &placed.batch;
    let totals = &found.plan.totals;
    let metres = placed.problem.tape().geometry.metres_per_lpos;
    let bound = found
        .bound
        .or_else(|| placed.order(Algorithm::Best, effort).ok()?.bound);
    let is_shortest = found.origin.objective() == Objective::Total && bound == Some(found.total());
    let extents = batch.requests.iter().flat_map(|request| &request.extents);
    PlanTotals {
        requests: batch.requests.len() as u64,
        extents: batch.extents() as u64,
        bytes: extents
            .filter_map(|extent| batch.bytes(extent))
            .fold(0, u64::saturating_add),
        locate_us: totals.locate.0 as u64,
        read_us: totals.read.0 as u64,
        total_us: totals.total.0 as u64,
        worst_us: found.worst.0 as u64,
        bound_us: bound.map(|bound| bound.0 as u64),
        optimal: found.optimal || is_shortest,
        // Rounded to millimetres, so that the text is the same on every machine.
        distance_m: metres.map(|m| (totals.distance_lpos as f64 * m * 1e3).round() / 1e3),
        distance_lpos: totals.distance_lpos,
        wrap_changes: totals.wrap_changes,
    }
}

fn source_name(source: PositionSource) -> &'static str {
    match source {
        PositionSource::Exact | PositionSource::Recorded => "recorded",
        PositionSource::EndOfWrapTable => "end-of-wrap",
        PositionSource::Probed => "probed",
        PositionSource::KeyPoints => "key-points",
        PositionSource::Timed => "timed",
        PositionSource::Nominal => "nominal",
    }
}

fn location(location: Location) -> PlanPlace {
    match location {
        Location::BeginningOfTape => PlanPlace {
            at: "bot".to_owned(),
            ..PlanPlace::default()
        },
        Location::Block { partition, block } => PlanPlace {
            at: "block".to_owned(),
            partition,
            block: Some(block),
            ..PlanPlace::default()
        },
        Location::Physical(at) => PlanPlace {
            at: "position".to_owned(),
            wrap: Some(u32::from(at.wrap)),
            lpos: Some(u64::from(at.lpos)),
            ..PlanPlace::default()
        },
    }
}

fn end(end: EndLocation) -> PlanPlace {
    match end {
        EndLocation::Anywhere => PlanPlace {
            at: "anywhere".to_owned(),
            ..PlanPlace::default()
        },
        EndLocation::Rewound => location(Location::BeginningOfTape),
        EndLocation::Unloaded => PlanPlace {
            at: "unloaded".to_owned(),
            ..PlanPlace::default()
        },
        EndLocation::At(at) => location(at),
    }
}

fn step(placed: &Placed, at: usize, step: &Step) -> PlanStep {
    let batch = &placed.batch;
    let visit = &placed.problem.visits()[step.visit as usize];
    let read = &visit.extents[step.extent as usize];
    let reads = step.action == Action::Read;
    let target = if step.action == Action::Locate {
        step.to
    } else {
        step.from
    };
    let serves = visit.requests.iter().map(|&request| {
        let (owner, first_extent) = placed.owners[request as usize];
        let extent = first_extent + step.extent as usize;
        let request = &batch.requests[owner];
        PlanServed {
            id: request.id.clone(),
            extent: extent as u64,
            bytes: if reads {
                batch.bytes(&request.extents[extent]).unwrap_or(0)
            } else {
                0
            },
        }
    });
    PlanStep {
        n: at as u64 + 1,
        action: match step.action {
            Action::Locate => PlanAction::Locate,
            Action::ReadThrough => PlanAction::ReadThrough,
            Action::Read => PlanAction::Read,
            Action::Finish => PlanAction::Finish,
        },
        serves: serves.collect(),
        partition: read.partition(),
        start_block: read.first_block,
        block_count: if reads { read.blocks() } else { 0 },
        bytes: if reads { read.bytes } else { 0 },
        wrap: u32::from(target.wrap),
        lpos: u64::from(target.lpos),
        end_wrap: u32::from(step.to.wrap),
        end_lpos: u64::from(step.to.lpos),
        begin_us: step.begin.0 as u64,
        duration_us: step.duration.0 as u64,
    }
}
