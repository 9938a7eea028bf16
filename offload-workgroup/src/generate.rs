//! Work-group generation: the function of one work-item becomes a function that runs a work-group.
//!
//! ```text
//! ir::function        the work-item function as blocks, cut at each barrier
//! local_atomics       atomic operations on local memory become plain ones
//! loop_interchange    implicit barriers at the headers of loops that are interchanged with the work-item loop
//! if_conversion       unpredictable stores under a condition become unconditional
//! sub_groups          the size of sub-groups as a constant, and implicit barriers in loops of kernels with such functions
//! values              uniform values, and values that are rematerialised
//! liveness,           values and private variables that are live across a barrier
//! private_memory
//! plan                parallel regions, and the layout of the context
//! work_group, region  a work-item loop for each parallel region
//! vector_region       vectors of work-items for regions with divergent loops
//! versioning          a version of the loop for rows in which comparisons are invariant
//! ```
//!
//! A parallel region is what a work-item executes from one barrier, or the start, to the next. Every region determines its
//! successor at run time, and OpenCL requires that all work-items of a group agree; so no shape of control flow is special
//! (Karrenberg and Hack, "Improving Performance of OpenCL on CPUs", CC 2012).

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

use crate::analysis::control_flow::ControlFlowGraph;
use crate::analysis::values::Values;
use crate::codegen::plan::Plan;
use crate::codegen::wide_vectors;
use crate::codegen::work_group::{WorkGroupContext, WorkGroupText, write_work_group_function};
use crate::error::{Error, Result};
use crate::ir::function::{BarrierScope, Function, Scheduling, Terminator};
use crate::ir::line::without_invariant_load;
use crate::ir::numbering::{FreeNumbers, ModuleNumbers};
use crate::ir::vocabulary::unknown_word;
use crate::ir::{Symbol, Types, defined_function, functions_reaching, global_symbol};
use crate::kernel::Kernel;
use crate::options::{Options, Validity};
use crate::transforms::local_atomics::{self, LocalMemory};
use crate::transforms::loop_interchange::Loops;
use crate::transforms::thread_local::{local_arrays, thread_local_definition};
use crate::transforms::{if_conversion, loop_interchange, sign_extensions, sub_groups, vector_math};
use crate::{WARP_SIZE, WORK_ITEM_PREFIX, is_barrier};

/// A copy of `module` in which each work-item function is replaced by a work-group function, and `__local` arrays and the
/// state of work-items are thread-local.
///
/// `kernels` describes those of the module's kernels that have local arguments or a required size of work-groups; others
/// may be left out. Functions that can reach a barrier are removed: [`prepare_work_items`](crate::prepare_work_items) and
/// LLVM's inliner must have run before.
///
/// # Errors
/// A kernel has a barrier in a function that is recursive or called through a pointer, so that it was not inlined; or an
/// instruction that OpenCL C has no source for, such as `invoke`.
pub fn generate_work_groups(module: &str, kernels: &[Kernel], options: &Options) -> Result<String> {
    let types = Types::new(module);
    let with_barrier = functions_reaching(module, is_barrier);
    let numbered = ModuleNumbers::new(module);
    let local_arrays = local_arrays(module);
    let has_sub_groups = sub_groups::has_size_variable(module);
    let may_declare_variants = vector_math::may_declare_variants(module);
    let mut numbers = numbered.free;
    let mut known_kernels = HashMap::new();
    known_kernels.extend(kernels.iter().map(|kernel| (kernel.name.as_str(), kernel)));
    let mut out = String::with_capacity(module.len());
    let mut metadata = String::new();
    let mut rest = module.lines();
    while let Some(line) = rest.next() {
        let name = defined_function(line);
        let Some(kernel) = name.and_then(|name| name.strip_prefix(WORK_ITEM_PREFIX)) else {
            if name.is_some_and(|name| with_barrier.contains(name)) {
                // Inlined into every caller.
                rest.by_ref().take_while(|line| *line != "}").for_each(drop);
                continue;
            }
            if let Some(definition) = thread_local_definition(line) {
                let _ = writeln!(out, "{definition}");
                continue;
            }
            let line = without_invariant_load(line);
            // Not every CPU's code generator knows the convention, and such a function has no caller.
            let line = if name.is_some() { line.replacen(" spir_kernel ", " ", 1) } else { line };
            let _ = writeln!(out, "{line}");
            continue;
        };
        let mut body = vec![line];
        body.extend(rest.by_ref().take_while(|line| *line != "}"));
        let known = known_kernels.get(kernel).copied();
        let warp_size = known.and_then(|kernel| kernel.required_sub_group).unwrap_or(WARP_SIZE);
        let constants = sub_groups::with_constant_size(&body, warp_size);
        let body: Vec<&str> = constants.iter().map(|line| line.as_ref()).collect();
        refuse_barrier_calls(kernel, &body, &with_barrier)?;
        refuse_unknown_attributes(kernel, &body, &numbered)?;
        let context = WorkGroupContext {
            kernel,
            required_work_group: known.and_then(|kernel| kernel.required_work_group),
            usual_work_group: known.and_then(|kernel| kernel.usual_work_group),
            has_versions: options.divergent_loops,
            warp_size,
            has_sub_groups,
            attributes: numbers.attributes,
            first_node: numbers.node,
            lines: &numbered.lines,
            vector_bits: options.vector_bits,
            // Functions of the library have variants only if the module can keep them.
            has_vector_regions: options.divergent_loops && may_declare_variants,
            types: &types,
        };
        let input =
            KernelInput { known, body: &body, local_arrays: &local_arrays, numbered: &numbered, context };
        let mut text = input.write(options.validity)?;
        if text.has_scalar_loops {
            let context = WorkGroupContext { has_vector_regions: false, ..context };
            text = KernelInput { context, ..input }.write(options.validity)?;
        }
        out.push_str(&text.function);
        metadata.push_str(&text.metadata);
        numbers = FreeNumbers { attributes: numbers.attributes.saturating_add(1), node: text.next_node };
    }
    out.push_str(&metadata);
    Ok(vector_math::declare_vector_variants(out, options.vector_bits))
}

/// A kernel, and what its work-group function depends on.
#[derive(Clone, Copy)]
struct KernelInput<'a> {
    known: Option<&'a Kernel>,
    /// The lines of its work-item function without the closing brace.
    body: &'a [&'a str],
    local_arrays: &'a BTreeSet<&'a str>,
    numbered: &'a ModuleNumbers<'a>,
    context: WorkGroupContext<'a>,
}

/// The work-group function of a kernel.
struct KernelText {
    function: String,
    metadata: String,
    next_node: u64,
    /// Whether divergent loops have become neither vectors nor chunks.
    has_scalar_loops: bool,
}

impl KernelInput<'_> {
    fn write(&self, validity: Validity) -> Result<KernelText> {
        let KernelInput { known, body, local_arrays, numbered, context } = *self;
        let WorkGroupContext { kernel, types, .. } = context;
        let parsed = Function::parse(body, types);
        let mut function = parsed.map_err(|error| refusal(kernel, &error.with_line(&numbered.lines)))?;
        if function.scheduling == Scheduling::Independent && has_aligned_barriers(&function) {
            function.scheduling = Scheduling::Lockstep;
        }
        let validity = match function.scheduling {
            Scheduling::Lockstep => validity,
            // No rule of OpenCL C on barriers applies.
            Scheduling::Independent if validity == Validity::Assumed => Validity::RaceFree,
            Scheduling::Independent => validity,
        };
        let mut has_divergent_loops = false;
        if let Some(required) = context.required_work_group
            && validity != Validity::Checked
        {
            sign_extensions::fold(&mut function, required);
        }
        if validity != Validity::Checked {
            local_atomics::mark(&mut function, &LocalMemory { arrays: local_arrays, kernel: known });
        }
        if validity == Validity::Assumed {
            // Most small kernels have no loop, and no need of the analyses.
            if function.has_backward_branch() {
                let loops = if context.has_vector_regions { Loops::Uniform } else { Loops::All };
                has_divergent_loops = loop_interchange::insert_barriers(&mut function, loops);
                if_conversion::convert_unpredictable_stores(&mut function, types);
            }
        }
        sub_groups::insert_loop_barriers(&mut function);
        let plan =
            Plan::new(&function, types, local_arrays, validity).map_err(|why| refusal(kernel, &why))?;
        let text = write_work_group_function(&plan, &context);
        let group = function.attributes.as_deref().map(|own| numbered.group(own)).unwrap_or_default();
        let attributes = work_group_attributes(group, &plan, &context, &text);
        let mut metadata = text.metadata;
        let _ = writeln!(metadata, "{attributes}");
        Ok(KernelText {
            function: text.function,
            metadata,
            next_node: text.next_node,
            has_scalar_loops: has_divergent_loops && !text.has_vector_regions,
        })
    }
}

fn refusal(kernel: &str, why: &str) -> Error {
    Error::new(format!("kernel `{kernel}` cannot be compiled for the CPU: {why}"))
}

/// Whether all work-items of a block execute the same sequence of barriers, which are those of the block alone: no branch
/// that differs between them decides about one.
fn has_aligned_barriers(function: &Function) -> bool {
    if function.has_barrier_of(BarrierScope::Warp) || function.has_barrier_of(BarrierScope::Lanes) {
        return false;
    }
    let cfg = ControlFlowGraph::new(function, Validity::Checked);
    let values = Values::new(function, &cfg);
    let mut divergent = BTreeSet::new();
    for (number, block) in function.blocks.iter().enumerate() {
        if values.is_divergent(&block.terminator) {
            divergent.extend(cfg.divergent_region(number));
        }
    }
    function.blocks.iter().enumerate().all(|(number, block)| match block.terminator {
        Terminator::Barrier { .. } | Terminator::Return => !divergent.contains(&number),
        Terminator::Branch(_) => true,
    })
}

/// Refuses calls of functions that can reach a barrier: the inliner has left them.
fn refuse_barrier_calls(kernel: &str, body: &[&str], with_barrier: &BTreeSet<String>) -> Result<()> {
    for line in body.iter().skip(1) {
        let mut text = *line;
        while let Some(Symbol { name, rest }) = global_symbol(text) {
            let is_barrier_call = is_barrier(name) && line.contains("call ");
            if with_barrier.contains(name) && !is_barrier_call {
                let why = format!(
                    "its function `{name}` can reach a barrier, and is recursive or called through a pointer"
                );
                let hint = "call functions with barriers by their name, and without recursion, which OpenCL C does not allow";
                return Err(refusal(kernel, &why).with_hint(hint));
            }
            text = rest;
        }
    }
    Ok(())
}

/// Refuses what no list has of the attribute groups of a function and its calls.
fn refuse_unknown_attributes(kernel: &str, body: &[&str], module: &ModuleNumbers<'_>) -> Result<()> {
    let mut seen = BTreeSet::new();
    for line in body {
        for rest in line.split(" #").skip(1) {
            let number = rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
            if !seen.insert(number) {
                continue;
            }
            if let Some(unknown) = unknown_word(module.group(number)) {
                let why = format!("it has {unknown}, in the attribute group #{number}");
                return Err(refusal(kernel, &why));
            }
        }
    }
    Ok(())
}

/// The attribute group `number`: the processor and the options of `group`.
///
/// Attributes that LLVM has inferred of one work-item need not hold for a group.
fn work_group_attributes(
    group: &str,
    plan: &Plan<'_>,
    context: &WorkGroupContext<'_>,
    text: &WorkGroupText,
) -> String {
    let number = context.attributes;
    let strings = group.find('"').and_then(|at| group.get(at..)).unwrap_or_default();
    let interleaving = plan.interleaving.attribute();
    let denormals = denormals(group);
    let width = wide_vectors::attribute(plan, context.vector_bits, text);
    format!("attributes #{number} = {{ nounwind{interleaving}{denormals} {width}{strings} }}")
}

/// The attribute that says how denormal numbers are treated: a string until LLVM 22.
fn denormals(group: &str) -> String {
    let value = group.split_once("denormal_fpenv(").and_then(|(_, rest)| rest.split_once(')'));
    value.map_or(String::new(), |(value, _)| format!(" denormal_fpenv({value})"))
}

#[cfg(test)]
mod tests;
