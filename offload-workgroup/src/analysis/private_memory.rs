//! The private arrays and variables of a work-item: which keep their content over a wait, and what is reached through
//! them.

use std::collections::{BTreeMap, BTreeSet};

use super::flow::Flow;
use super::function::{End, Function, Instruction, Kind, Lifetime, operands};

/// What is known of a function's private memory.
#[derive(Debug)]
pub(super) struct PrivateMemory<'f> {
    /// Every variable, by its name.
    pub(super) variables: BTreeSet<&'f str>,
    /// Those whose content is used after a wait that was written before it.
    pub(super) kept: BTreeSet<&'f str>,
    /// Those whose address goes where it is not followed.
    escaped: BTreeSet<&'f str>,
    /// For each value that is an address: the variables into which it can point.
    roots: BTreeMap<&'f str, BTreeSet<&'f str>>,
}

impl<'f> PrivateMemory<'f> {
    pub(super) fn of(function: &'f Function, flow: &Flow) -> PrivateMemory<'f> {
        let roots = roots(function);
        let variables: BTreeSet<&str> = allocas(function).collect();
        let mut memory = PrivateMemory { variables, kept: BTreeSet::new(), escaped: BTreeSet::new(), roots };
        for instruction in function.instructions() {
            let gone = memory.escaping(instruction);
            memory.escaped.extend(gone);
        }
        let (before, after) = (memory.touched_before(function, flow), memory.used_after(function, flow));
        for (number, block) in function.blocks.iter().enumerate() {
            if matches!(block.end, End::Wait { .. })
                && let (Some(before), Some(after)) = (before.get(number), after.get(number))
            {
                let used =
                    |variable: &&&str| after.contains(**variable) || memory.escaped.contains(**variable);
                let kept: Vec<&str> = before.iter().filter(used).copied().collect();
                memory.kept.extend(kept);
            }
        }
        memory
    }

    /// Whether what is read or written through the operands of `instruction` can be memory that all work-items of a
    /// loop use in turn.
    pub(super) fn shares(&self, instruction: &Instruction) -> bool {
        let once = |variable: &&'f str| !self.kept.contains(*variable);
        // An address that was not followed can be anywhere.
        self.escaped.iter().any(once) || self.of_operands(instruction).iter().any(once)
    }

    fn of_operands(&self, instruction: &Instruction) -> BTreeSet<&'f str> {
        let sets = instruction.operands().filter_map(|operand| self.roots.get(operand));
        sets.flatten().copied().collect()
    }

    /// The variables whose address `instruction` gives away.
    fn escaping(&self, instruction: &Instruction) -> BTreeSet<&'f str> {
        let all = self.of_operands(instruction);
        let known = instruction.is_note() || passes_on(instruction) || instruction.kind == Kind::Load;
        let compares = instruction.line.contains("icmp ");
        let copies = ["@llvm.memcpy.", "@llvm.memmove.", "@llvm.memset."];
        let copies = copies.iter().any(|name| instruction.line.contains(name));
        if all.is_empty() || known || compares || copies {
            return BTreeSet::new();
        }
        if instruction.kind != Kind::Store {
            return all;
        }
        let text = instruction.line.plain();
        let stored = operands(&text).first().and_then(|value| value.rsplit_once('%')).map(|(_, name)| name);
        stored.and_then(|name| self.roots.get(name)).cloned().unwrap_or_default()
    }

    /// At the end of each block: the variables that may hold something.
    fn touched_before(&self, function: &'f Function, flow: &Flow) -> Vec<BTreeSet<&'f str>> {
        let mut known = vec![BTreeSet::new(); function.blocks.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for (number, block) in function.blocks.iter().enumerate() {
                let mut now: BTreeSet<&str> = BTreeSet::new();
                for (other, set) in known.iter().enumerate() {
                    if flow.successors(other).contains(&number) {
                        now.extend(set);
                    }
                }
                for instruction in &block.instructions {
                    match instruction.kind {
                        Kind::Lifetime(_) => self.remove_unescaped(instruction, &mut now),
                        _ => now.extend(self.of_operands(instruction)),
                    }
                }
                replace(&mut known, number, now, &mut changed);
            }
        }
        known
    }

    /// At the end of each block: the variables that are used later.
    fn used_after(&self, function: &'f Function, flow: &Flow) -> Vec<BTreeSet<&'f str>> {
        let count = function.blocks.len();
        let (mut starts, mut ends) = (vec![BTreeSet::new(); count], vec![BTreeSet::new(); count]);
        let mut changed = true;
        while changed {
            changed = false;
            for (number, block) in function.blocks.iter().enumerate().rev() {
                let mut now: BTreeSet<&str> = BTreeSet::new();
                for next in flow.successors(number) {
                    now.extend(starts.get(*next).into_iter().flatten());
                }
                replace(&mut ends, number, now.clone(), &mut changed);
                for instruction in block.instructions.iter().rev() {
                    match instruction.kind {
                        Kind::Lifetime(Lifetime::Start) => self.remove(instruction, &mut now),
                        Kind::Lifetime(Lifetime::End) | Kind::Debug => {}
                        _ => now.extend(self.of_operands(instruction)),
                    }
                }
                replace(&mut starts, number, now, &mut changed);
            }
        }
        ends
    }

    /// As [`PrivateMemory::remove`], but for variables that are accessed through addresses that are not followed.
    fn remove_unescaped(&self, instruction: &Instruction, set: &mut BTreeSet<&'f str>) {
        for variable in self.of_operands(instruction) {
            if !self.escaped.contains(variable) {
                set.remove(variable);
            }
        }
    }

    fn remove(&self, instruction: &Instruction, set: &mut BTreeSet<&'f str>) {
        for variable in self.of_operands(instruction) {
            set.remove(variable);
        }
    }
}

fn replace<'f>(known: &mut [BTreeSet<&'f str>], number: usize, now: BTreeSet<&'f str>, changed: &mut bool) {
    if let Some(known) = known.get_mut(number)
        && *known != now
    {
        *known = now;
        *changed = true;
    }
}

fn allocas(function: &Function) -> impl Iterator<Item = &str> {
    let allocas = function.instructions().filter(|instruction| instruction.kind == Kind::Alloca);
    allocas.filter_map(|instruction| instruction.result.as_deref())
}

/// Follows addresses until nothing changes.
fn roots(function: &Function) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut roots: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    roots.extend(allocas(function).map(|name| (name, BTreeSet::from([name]))));
    if roots.is_empty() {
        return roots;
    }
    let mut grown = true;
    while grown {
        grown = false;
        for instruction in function.instructions().filter(|instruction| passes_on(instruction)) {
            let Some(result) = instruction.result.as_deref() else { continue };
            let incoming = instruction.incoming.iter().flat_map(|incoming| incoming.value.values());
            let sets = instruction.operands().chain(incoming).filter_map(|operand| roots.get(operand));
            let found: BTreeSet<&str> = sets.flatten().copied().collect();
            let known = roots.get(result).map_or(0, BTreeSet::len);
            if found.len() > known {
                roots.insert(result, found);
                grown = true;
            }
        }
    }
    roots
}

/// Whether the result of `instruction` is an address that one of its operands was.
fn passes_on(instruction: &Instruction) -> bool {
    const WORDS: [&str; 7] = [
        "getelementptr ",
        "select ",
        "freeze ",
        "addrspacecast ",
        "insertelement ",
        "extractelement ",
        "shufflevector ",
    ];
    let text = instruction.line.plain();
    instruction.kind == Kind::Phi || WORDS.iter().any(|word| text.starts_with(word))
}
