//! Kernels of the target `host`: from a function of one work-item to one that runs a work-group.
//!
//! ```text
//! with_entries     what calls a kernel of C, C++ or C++ for OpenCL with its arguments (`entry`)
//! inline_waiting   everything that can wait is to be inlined into the work-item's function (clang does it)
//! run_groups       the function becomes blocks (`function`); atomic operations on local memory need no lock
//!                  (`exclusive`)
//!                  the blocks are cut at each wait, and at each round of the loops that
//!                  go on for several work-items at once (`loops`)
//!                  stores that data decides need no branch (`stores`)
//!                  what is equal for all work-items, or cheap to compute again (`facts`, `state`)
//!                  what is used after a wait that was made before it (`liveness`, `memory`)
//!                  pieces, and places in the frame for what outlives one (`plan`)
//!                  for each piece a loop over the work-items (`group`, `piece`)
//!                  and one for rows in which no work-item meets an edge (`edges`)
//! ```
//!
//! A piece is what a work-item does from one wait, or the start, to the next. Every piece tells which one is next, and
//! OpenCL demands that all work-items of a group agree; so no shape of control flow is special
//! (Karrenberg and Hack, "Improving Performance of OpenCL on CPUs", CC 2012).

mod conflicts;
mod dominators;
mod edges;
mod entry;
mod exclusive;
mod facts;
mod flow;
mod function;
mod group;
mod inline;
mod interleaved;
mod liveness;
mod loops;
mod mathematics;
mod memory;
mod numbered;
mod piece;
mod plan;
mod state;
mod stores;
mod text;
mod validity;

use std::collections::BTreeSet;
use std::fmt::Write;

pub(crate) use self::entry::with_entries;
pub(crate) use self::inline::inline_waiting;
pub(crate) use self::validity::Validity;

use self::exclusive::LocalMemory;
use self::function::Function;
use self::group::{Run, run_function};
pub(crate) use self::interleaved::{Interleaved, with_others, without_others};
use self::numbered::{Numbered, Numbers};
use self::plan::Plan;
use self::text::without_invariance;
use super::rewrite::local_arrays;
use super::{Kernel, global_name, reaching};
use crate::error::{Error, Result};
use crate::ir::types::Types;

/// The function that one work-item of kernel `K` runs is called this and `K`; its argument is the argument array.
pub(crate) const WORK_ITEM_PREFIX: &str = "__offload_work_item_";
/// What a barrier calls.
pub(crate) const WAIT: &str = "__offload_wait";

/// A copy of `module` in which the functions of work-items are replaced by functions that run work-groups, for a CPU
/// with vectors of `widest` bits. Transformations are applied as far as `validity` permits.
///
/// # Errors
/// A kernel that waits in a function that calls itself or is called through a pointer, or that has an instruction
/// that OpenCL C has no words for.
pub(crate) fn run_groups(
    module: &str,
    kernels: &[&Kernel],
    widest: u32,
    validity: Validity,
) -> Result<String> {
    let types = Types::of(module);
    let waiting = reaching(module, |name| name == WAIT);
    let numbered = Numbered::of(module);
    let local_arrays = local_arrays(module);
    let mut numbers = numbered.free;
    let (mut out, mut metadata) = (String::with_capacity(module.len()), String::new());
    let mut rest = module.lines();
    while let Some(line) = rest.next() {
        let name = if line.starts_with("define ") { global_name(line).map(|(name, _)| name) } else { None };
        let kernel = name.and_then(|name| name.strip_prefix(WORK_ITEM_PREFIX));
        let Some(kernel) = kernel else {
            if name.is_some_and(|name| waiting.contains(name)) {
                // Inlined wherever it was called.
                rest.by_ref().take_while(|line| *line != "}").for_each(drop);
            } else {
                let line = without_invariance(line);
                // Not every CPU's code generator knows the convention; nobody calls such a function.
                let line = if name.is_some() { line.replacen(" spir_kernel ", " ", 1) } else { line };
                let _ = writeln!(out, "{line}");
            }
            continue;
        };
        let body: Vec<&str> =
            std::iter::once(line).chain(rest.by_ref().take_while(|line| *line != "}")).collect();
        refuse_calls(kernel, &body, &waiting)?;
        let failed = |why: String| failure(kernel, &why);
        let mut function = Function::parse(&body, &types).map_err(failed)?;
        let known = kernels.iter().copied().find(|known| known.name == kernel);
        if validity == Validity::Assumed {
            exclusive::mark(&mut function, &LocalMemory { arrays: &local_arrays, kernel: known });
            loops::cut(&mut function);
            stores::always(&mut function, &types);
        }
        let plan = Plan::new(&function, &types, &local_arrays, validity).map_err(failed)?;
        let run = Run {
            kernel,
            required_work_group: known.and_then(|kernel| kernel.required_work_group),
            attributes: numbers.attributes,
            first_node: numbers.node,
            lines: &numbered.lines,
            vector_bits: widest,
        };
        let text = run_function(&plan, &run);
        out.push_str(&text.function);
        metadata.push_str(&text.metadata);
        let group = function.attributes.as_deref().map(|own| numbered.group(own)).unwrap_or_default();
        let _ = writeln!(metadata, "{}", run_attributes(group, &plan, numbers.attributes));
        numbers = Numbers { attributes: numbers.attributes.saturating_add(1), node: text.next_node };
    }
    out.push_str(&metadata);
    Ok(mathematics::with_vectors(&out, widest))
}

fn failure(kernel: &str, why: &str) -> Error {
    Error::new(format!("kernel `{kernel}` cannot be compiled for `host`: {why}"))
}

/// What can wait and is still called was not inlined.
fn refuse_calls(kernel: &str, body: &[&str], waiting: &BTreeSet<String>) -> Result<()> {
    for line in body.iter().skip(1) {
        let mut rest = *line;
        while let Some((name, tail)) = global_name(rest) {
            let direct = name == WAIT && line.contains("call ");
            if waiting.contains(name) && !direct {
                let why = format!(
                    "its function `{name}` can come to a barrier and calls itself, or is called through a pointer"
                );
                let hint = "call functions with barriers by their name, and without recursion, which OpenCL C does not allow";
                return Err(failure(kernel, &why).with_hint(hint));
            }
            rest = tail;
        }
    }
    Ok(())
}

/// The group of attributes `number`: for which processor a function of `group` is compiled, and how.
///
/// No others: what LLVM has found of one work-item need not hold for a group.
fn run_attributes(group: &str, plan: &Plan<'_>, number: u64) -> String {
    let words = group.find('"').and_then(|at| group.get(at..)).unwrap_or_default();
    let interleaving = plan.interleaving.attribute();
    format!("attributes #{number} = {{ nounwind{interleaving} {words} }}")
}

#[cfg(test)]
mod tests;
