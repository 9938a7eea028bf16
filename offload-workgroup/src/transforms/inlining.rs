//! Preparation of a linked module for LLVM's inliner: functions that can reach a barrier go into their callers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::ir::line::without_metadata;
use crate::ir::numbering::{FreeNumbers, ModuleNumbers};
use crate::ir::{defined_function, functions_reaching, global_name};
use crate::transforms::thread_local::is_uninitialized;
use crate::transforms::vector_math::MathCalls;
use crate::{BARRIER, WORK_ITEM_PREFIX, is_barrier};

/// The prefix of the functions of the runtime.
const RUNTIME_PREFIX: &str = "__offload_";

/// A copy of `module` in which functions that can reach a barrier are `alwaysinline`, and only work-item functions and
/// functions of the runtime are visible.
///
/// LLVM's inliner is to run on it before [`generate_work_groups`](crate::generate_work_groups), without vectorisation and
/// loop unrolling.
///
/// - Variables of a group become visible: other work-items write them at every barrier, so that nothing may be concluded
///   from the stores of the module.
/// - Mathematical functions are renamed, so that they are not inlined: a work-item loop can call their vector variants.
/// - Loads of the state of a work-item are marked as invariant.
/// - Loops around barriers of CUDA lose the hint that asks for unrolling: each copy of a barrier would begin a region of
///   its own, with all that is live there.
pub fn prepare_work_items(module: &str) -> String {
    let with_barrier = functions_reaching(module, is_barrier);
    let independent = functions_reaching(module, |name| is_barrier(name) && name != BARRIER);
    let mut is_independent = false;
    let numbered = ModuleNumbers::new(module);
    let mut numbers = numbered.free;
    let empty = numbers.node;
    let mut groups: BTreeMap<String, u64> = BTreeMap::new();
    let mut out = String::with_capacity(module.len());
    let calls = MathCalls::new(module);
    for line in module.lines() {
        let line = if line.starts_with("define ") {
            is_independent = defined_function(line).is_some_and(|name| independent.contains(name));
            definition(line, &with_barrier, &mut groups, &mut numbers)
        } else if line.starts_with('@') {
            make_visible(line)
        } else if is_state_load(line) {
            format!("{line}, !invariant.load !{empty}")
        } else if calls_barrier_function(line, &with_barrier) {
            without_noalias(line)
        } else if is_independent && line.starts_with("  br ") {
            without_metadata(line, "llvm.loop")
        } else {
            line.to_string()
        };
        let _ = writeln!(out, "{}", calls.rename(line));
    }
    for (group, number) in groups {
        let _ = writeln!(out, "{}", alwaysinline_group(numbered.group(&group), number));
    }
    let _ = writeln!(out, "!{empty} = !{{}}");
    out
}

fn is_state_load(line: &str) -> bool {
    line.starts_with("  %") && line.contains(" = load i64, ptr ") && line.contains("ptr @__offload_state_")
}

/// The `define` line of a function, with the attribute group of functions that are inlined if it can reach a barrier.
fn definition(
    line: &str,
    with_barrier: &BTreeSet<String>,
    groups: &mut BTreeMap<String, u64>,
    numbers: &mut FreeNumbers,
) -> String {
    let name = defined_function(line).unwrap_or_default();
    if name.starts_with(WORK_ITEM_PREFIX) {
        return line.to_string();
    }
    let line = if name.starts_with(RUNTIME_PREFIX) { line.to_string() } else { make_internal(line) };
    if !with_barrier.contains(name) {
        return line;
    }
    let line = without_noalias(&line);
    let Some((before, rest)) = line.rsplit_once(" #") else {
        return line.replacen(") ", ") alwaysinline ", 1);
    };
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (group, tail) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let number = *groups.entry(group.to_string()).or_insert_with(|| {
        let number = numbers.attributes;
        numbers.attributes = number.saturating_add(1);
        number
    });
    format!("{before} #{number}{tail}")
}

/// The `define` line of a function with internal linkage.
fn make_internal(line: &str) -> String {
    const LINKAGES: [&str; 6] = ["internal ", "private ", "linkonce ", "linkonce_odr ", "weak ", "weak_odr "];
    const VISIBILITIES: [&str; 4] = ["dso_local ", "hidden ", "protected ", "local_unnamed_addr "];
    let rest = line.strip_prefix("define ").unwrap_or(line);
    if LINKAGES.iter().any(|linkage| rest.starts_with(linkage)) {
        return line.to_string();
    }
    let (head, tail) = rest.split_once('@').unwrap_or((rest, ""));
    let mut head = head.to_string();
    for word in VISIBILITIES {
        head = head.replace(word, "");
    }
    format!("define internal {head}@{tail}")
}

fn calls_barrier_function(line: &str, with_barrier: &BTreeSet<String>) -> bool {
    line.contains(" call ") && global_name(line).is_some_and(|name| with_barrier.contains(name))
}

/// A line without `noalias`: `restrict` is a promise of one work-item, and stores of others are visible behind a barrier.
fn without_noalias(line: &str) -> String {
    line.replace(" noalias ", " ")
}

/// The definition of a variable, with external linkage if it is state or local memory.
fn make_visible(line: &str) -> String {
    let is_state = line.starts_with("@__offload_state_");
    let is_local = line.split_once("global ").is_some_and(|(_, value)| is_uninitialized(value));
    if line.contains(" = internal global ") && (is_state || is_local) {
        line.replacen(" = internal global ", " = hidden global ", 1)
    } else {
        line.to_string()
    }
}

/// An attribute group with these words, but for functions that are inlined.
fn alwaysinline_group(words: &str, number: u64) -> String {
    const CONFLICTING: [&str; 3] = ["noinline", "optnone", "alwaysinline"];
    let kept: Vec<&str> = words.split(' ').filter(|word| !CONFLICTING.contains(word)).collect();
    format!("attributes #{number} = {{ alwaysinline {} }}", kept.join(" "))
}
