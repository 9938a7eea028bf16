//! The task: which parts run, and the table at the end.

mod alone;
mod cuda;
mod faults;
mod large;
mod load;
mod machine;
mod packs;
mod plan;
mod project;
mod quick;
mod rows;
mod schedulers;
mod servers;
mod templates;
mod tiers;

use std::process::ExitCode;

use self::machine::Machine;
use self::plan::{Part, Plan};
use self::rows::Rows;
use offload_tests::error::Result;
use offload_tests::workspace::Workspace;

pub(super) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let plan = Plan::parse(args)?;
    let machine = Machine::prepare(workspace, &plan)?;
    let mut rows = Rows::default();
    for part in &plan.parts {
        match part {
            Part::Quick => quick::run(&machine, &mut rows)?,
            Part::Tiers => tiers::run(&machine, &mut rows)?,
            Part::Cuda => cuda::run(&machine, &mut rows)?,
            Part::Templates => templates::run(&machine, &mut rows)?,
            Part::Large => large::run(&machine, &mut rows)?,
            Part::Faults => faults::run(&machine, &mut rows)?,
            Part::Schedulers => schedulers::buildgrid(&machine, &mut rows)?,
            Part::Nativelink => schedulers::nativelink(&machine, &mut rows)?,
            Part::Packs => packs::run(&machine, &mut rows)?,
            Part::Load => load::run(&machine, &mut rows)?,
        }
    }
    Ok(rows.print())
}
