//! Whose requests somebody sees.

use crate::access::Who;
use crate::problem::Problem;
use crate::service::Service;
use tapewise_archive::catalogue::Stage;

/// A stage of somebody who asks for it, or of anybody for whoever may see all.
pub(crate) fn visible(service: &Service, who: &Who, id: &str) -> Result<Stage, Problem> {
    let catalogue = &service.archive.catalogue;
    let owner = catalogue.stage_owner(id)?;
    let owner = owner.filter(|owner| *owner == who.name || who.watches().is_ok());
    let owner = owner.ok_or_else(Problem::no_stage)?;
    catalogue.stage(&owner, id)?.ok_or_else(Problem::no_stage)
}
