//! Making a linked module ready for the step that inlines everything that can wait.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::WORK_ITEM_PREFIX;
use super::mathematics::Calls;
use super::numbered::{Numbered, Numbers};
use crate::ir::global_name;
use crate::ir::rewrite::is_unset;

/// What all functions of ours start with.
const OWN: &str = "__offload_";

/// A copy of `module` in which the functions in `waiting` are inlined, and only work-items and our own functions are
/// visible.
///
/// - Variables of a group may be written by others whenever a work-item waits: they are visible, so that nothing is
///   concluded from what is not in the module yet.
/// - Mathematical functions are not inlined: see [`super::mathematics`].
/// - Where a work-item is does not change while it runs: such loads are marked.
pub(crate) fn inline_waiting(module: &str, waiting: &BTreeSet<String>) -> String {
    let numbered = Numbered::of(module);
    let mut numbers = numbered.free;
    let empty = numbers.node;
    let mut groups: BTreeMap<String, u64> = BTreeMap::new();
    let mut out = String::with_capacity(module.len());
    let calls = Calls::of(module);
    for line in module.lines() {
        let line = match line.strip_prefix("define ") {
            Some(_) => definition(line, waiting, &mut groups, &mut numbers),
            None if line.starts_with('@') => visible(line),
            None if is_state_load(line) => format!("{line}, !invariant.load !{empty}"),
            None if calls_waiting(line, waiting) => without_restrict(line),
            None => line.to_string(),
        };
        let _ = writeln!(out, "{}", calls.renamed(line));
    }
    for (group, number) in groups {
        let _ = writeln!(out, "{}", inlining_group(numbered.group(&group), number));
    }
    let _ = writeln!(out, "!{empty} = !{{}}");
    out
}

fn is_state_load(line: &str) -> bool {
    line.starts_with("  %") && line.contains(" = load i64, ptr ") && line.contains("ptr @__offload_state_")
}

fn definition(
    line: &str,
    waiting: &BTreeSet<String>,
    groups: &mut BTreeMap<String, u64>,
    numbers: &mut Numbers,
) -> String {
    let name = global_name(line).map(|(name, _)| name).unwrap_or_default();
    if name.starts_with(WORK_ITEM_PREFIX) {
        return line.to_string();
    }
    let line = if name.starts_with(OWN) { line.to_string() } else { internal(line) };
    if !waiting.contains(name) {
        return line;
    }
    let line = without_restrict(&line);
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

/// The `define` line of a function that nobody else sees.
fn internal(line: &str) -> String {
    const LINKAGES: [&str; 6] = ["internal ", "private ", "linkonce ", "linkonce_odr ", "weak ", "weak_odr "];
    let rest = line.strip_prefix("define ").unwrap_or(line);
    if LINKAGES.iter().any(|linkage| rest.starts_with(linkage)) {
        return line.to_string();
    }
    let words = ["dso_local ", "hidden ", "protected ", "local_unnamed_addr "];
    let (head, tail) = rest.split_once('@').unwrap_or((rest, ""));
    let head = words.iter().fold(head.to_string(), |head, word| head.replace(word, ""));
    format!("define internal {head}@{tail}")
}

/// Whether a line calls a function that can come to a barrier.
fn calls_waiting(line: &str, waiting: &BTreeSet<String>) -> bool {
    line.contains(" call ") && global_name(line).is_some_and(|(name, _)| waiting.contains(name))
}

/// A line without the promises of `restrict`: those are of one work-item, and what others write behind a barrier must be
/// seen.
fn without_restrict(line: &str) -> String {
    line.replace(" noalias ", " ")
}

/// A variable that others could write.
fn visible(line: &str) -> String {
    let is_state = line.starts_with("@__offload_state_");
    let is_local = line.split_once("global ").is_some_and(|(_, value)| is_unset(value));
    match line.contains(" = internal global ") && (is_state || is_local) {
        true => line.replacen(" = internal global ", " = hidden global ", 1),
        false => line.to_string(),
    }
}

/// A group of attributes as the one with these words, but for functions that are inlined.
fn inlining_group(words: &str, number: u64) -> String {
    let unwanted = ["noinline", "optnone", "alwaysinline"];
    let kept: Vec<&str> = words.split(' ').filter(|word| !unwanted.contains(word)).collect();
    format!("attributes #{number} = {{ alwaysinline {} }}", kept.join(" "))
}
