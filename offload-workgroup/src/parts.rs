//! Division of a module into parts that are compiled apart.
//!
//! A part has some kernels with everything that they reach. After an edit of one kernel the others' parts are the same
//! bytes, and so are their results in a cache: a part is chosen by the name of a kernel, and its metadata and attributes are
//! numbered by what is in it. Kernels that reach the same variable of the program are in one part. What several kernels call
//! is in the part of each: after LLVM has inlined it, little is left that a linker has to fold.
//!
//! A module with anything else that parts would share stays whole: comdats, aliases, constructors, or assembly.

mod entities;
mod numbering;
mod references;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use self::entities::{EntityKind, Module, RUNTIME_PREFIX};
use self::numbering::PartWriter;
use crate::WORK_ITEM_PREFIX;
use crate::ir::defined_function;

/// The prefix of the table of argument sizes of a kernel.
const ARGUMENTS_PREFIX: &str = "__offload_args_";

/// The least number of parts, a power of two: fewer save less than starting compilers costs.
const MIN_PARTS: usize = 4;

/// A part of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModulePart {
    /// The names of its kernels.
    pub kernels: BTreeSet<String>,
    /// LLVM IR.
    pub text: String,
}

/// The number of kernels and lines of a part, about: smaller ones cost more to start compilers for than they save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartSize {
    /// Kernels.
    pub kernels: usize,
    /// Lines of functions.
    pub lines: usize,
}

/// The parts of a linked `module`, or `None` if it is compiled as a whole: because it is not much larger than a part, or has
/// what parts cannot share.
///
/// Each kernel is a work-item function, as [`add_work_item_functions`](crate::add_work_item_functions) writes it.
pub fn split_module(module: &str, size: PartSize) -> Option<Vec<ModulePart>> {
    if is_small(module, size) {
        return None;
    }
    let module = Module::parse(module)?;
    let count = module.kernels.len().div_ceil(size.kernels).max(module.lines.div_ceil(size.lines));
    // The number of parts, and with it what is in them, changes with few edits.
    let count = count.min(module.kernels.len()).checked_next_power_of_two()?;
    if count < MIN_PARTS {
        return None;
    }
    let components = components(&module);
    let mut parts: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    for kernels in components {
        let Some(first) = kernels.first() else { continue };
        let part = name_hash(first).checked_rem(u64::try_from(count).ok()?)?;
        parts.entry(part).or_default().extend(kernels);
    }
    if parts.len() < 2 {
        return None;
    }
    let mut texts = Vec::new();
    for (number, kernels) in parts.into_values().enumerate() {
        let included = reachable(&module, &kernels, number == 0);
        let text = PartWriter::write(&module, &included);
        let kernels = kernels.into_iter().map(str::to_string).collect();
        texts.push(ModulePart { kernels, text });
    }
    Some(texts)
}

/// Whether a module has too few lines and functions for [`MIN_PARTS`] parts. Most have, and need not be parsed.
fn is_small(module: &str, size: PartSize) -> bool {
    let mut lines: usize = 0;
    let mut functions: usize = 0;
    for line in module.lines() {
        lines = lines.saturating_add(1);
        functions = functions.saturating_add(usize::from(line.starts_with("define ")));
    }
    // The count of parts is rounded up, so that more than half of them are enough.
    let most = MIN_PARTS / 2;
    lines <= size.lines.saturating_mul(most) && functions <= size.kernels.saturating_mul(most)
}

/// A copy of `module` whose functions of the runtime are internal: every part has them.
pub fn hide_runtime(module: &str) -> String {
    let mut out = String::with_capacity(module.len());
    for line in module.lines() {
        let rest = line
            .strip_prefix("define hidden ")
            .filter(|_| defined_function(line).is_some_and(|name| name.starts_with(RUNTIME_PREFIX)));
        match rest {
            Some(rest) => {
                out.push_str("define internal ");
                out.push_str(rest);
            }
            None => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

/// FNV-1a (<https://datatracker.ietf.org/doc/html/draft-eastlake-fnv>), with its bits mixed.
fn name_hash(name: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in name.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash ^ (hash >> 32)
}

/// The kernels in groups that share no variable, each in the order of names.
fn components<'m>(module: &Module<'m>) -> Vec<BTreeSet<&'m str>> {
    let users = shared_variable_users(module);
    let mut sets = DisjointSets::new(module.entities.len());
    for number in &users {
        let Some(entity) = module.entities.get(*number) else { continue };
        for other in module.mentioned(entity).filter(|other| users.contains(other)) {
            sets.join(*number, other);
        }
    }
    let mut components: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for kernel in &module.kernels {
        let Some(entity) = module.work_item(kernel) else { continue };
        components.entry(sets.find(entity)).or_default().insert(kernel);
    }
    components.into_values().collect()
}

/// The entities from which a variable is reached that all launches share.
fn shared_variable_users(module: &Module<'_>) -> HashSet<usize> {
    let mut users: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut open = Vec::new();
    for (number, entity) in module.entities.iter().enumerate() {
        if entity.kind == EntityKind::SharedVariable {
            open.push(number);
        }
        for other in module.mentioned(entity) {
            users.entry(other).or_default().push(number);
        }
    }
    let mut reaching = HashSet::new();
    while let Some(number) = open.pop() {
        if reaching.insert(number) {
            open.extend(users.get(&number).into_iter().flatten());
        }
    }
    reaching
}

/// Everything that the kernels and the runtime reach; with `is_first` also what is for the whole image.
fn reachable(module: &Module<'_>, kernels: &[&str], is_first: bool) -> BTreeSet<usize> {
    let mut open = Vec::new();
    for kernel in kernels {
        open.extend(module.work_item(kernel));
        open.extend(module.number(&format!("{ARGUMENTS_PREFIX}{kernel}")));
    }
    for (number, entity) in module.entities.iter().enumerate() {
        let is_runtime =
            entity.name.starts_with(RUNTIME_PREFIX) && !entity.name.starts_with(WORK_ITEM_PREFIX);
        let is_of_image = entity.kind == EntityKind::Exported && !entity.name.starts_with(ARGUMENTS_PREFIX);
        if is_runtime && entity.kind == EntityKind::Function || is_first && is_of_image {
            open.push(number);
        }
    }
    let mut included = BTreeSet::new();
    while let Some(number) = open.pop() {
        if included.insert(number) {
            open.extend(module.entities.get(number).into_iter().flat_map(|entity| module.mentioned(entity)));
        }
    }
    included
}

/// Disjoint sets of numbers, with path halving (Tarjan and van Leeuwen, 1984).
struct DisjointSets(Vec<usize>);

impl DisjointSets {
    fn new(count: usize) -> DisjointSets {
        DisjointSets((0..count).collect())
    }

    fn parent(&self, number: usize) -> usize {
        self.0.get(number).copied().unwrap_or(number)
    }

    fn find(&mut self, mut number: usize) -> usize {
        while self.parent(number) != number {
            let above = self.parent(self.parent(number));
            if let Some(parent) = self.0.get_mut(number) {
                *parent = above;
            }
            number = above;
        }
        number
    }

    fn join(&mut self, one: usize, other: usize) {
        let root = self.find(one);
        let other = self.find(other);
        if let Some(parent) = self.0.get_mut(other) {
            *parent = root;
        }
    }
}

#[cfg(test)]
mod tests;
