//! The functions, variables and metadata of a module, with what they mention.

use std::collections::{BTreeSet, HashMap};

use super::references::{Reference, Referent, references};
use crate::WORK_ITEM_PREFIX;
use crate::ir::{defined_function, global_name};
use crate::transforms::thread_local::{is_state, is_uninitialized};

/// The prefix of the functions and variables of the runtime.
pub(super) const RUNTIME_PREFIX: &str = "__offload_";

/// A module whose parts can be compiled apart.
pub(super) struct Module<'m> {
    /// Lines about the target, and types.
    pub(super) head: Vec<&'m str>,
    /// Functions and variables, in their order.
    pub(super) entities: Vec<Entity<'m>>,
    numbers: HashMap<&'m str, usize>,
    pub(super) kernels: BTreeSet<&'m str>,
    /// Attribute groups, behind the `=`.
    pub(super) attributes: HashMap<u64, &'m str>,
    /// Named metadata.
    pub(super) named: Vec<Text<'m>>,
    /// Metadata nodes, behind the `=`.
    pub(super) nodes: HashMap<u64, Text<'m>>,
    /// The lines of functions.
    pub(super) lines: usize,
}

/// A text and its references.
pub(super) struct Text<'m> {
    pub(super) text: &'m str,
    pub(super) references: Vec<Reference<'m>>,
}

/// A function or a variable.
pub(super) struct Entity<'m> {
    pub(super) name: &'m str,
    pub(super) kind: EntityKind,
    pub(super) text: Text<'m>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntityKind {
    /// A function with a body.
    Function,
    /// A declaration.
    Declaration,
    /// What each part may have for itself: a constant, state of a work-item, or a `__local` array.
    Copied,
    /// A variable that all launches share.
    SharedVariable,
    /// A constant that the runtime looks up.
    Exported,
}

impl<'m> Module<'m> {
    /// `None` if there is something that parts cannot share.
    pub(super) fn parse(text: &'m str) -> Option<Module<'m>> {
        let mut module = Module {
            head: Vec::new(),
            entities: Vec::new(),
            numbers: HashMap::new(),
            kernels: BTreeSet::new(),
            attributes: HashMap::new(),
            named: Vec::new(),
            nodes: HashMap::new(),
            lines: 0,
        };
        let mut rest = text;
        while !rest.is_empty() {
            let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
            let next = match line.bytes().next() {
                None | Some(b';') => after,
                Some(b'd') if line.starts_with("define ") => {
                    let end = rest.find("\n}\n")?.checked_add(3)?;
                    let (body, after) = rest.split_at_checked(end)?;
                    module.add_function(line, body)?;
                    after
                }
                Some(b'd') if line.starts_with("declare ") => {
                    module.add(global_name(line)?, EntityKind::Declaration, line);
                    after
                }
                Some(b'@') => {
                    module.add(global_name(line)?, variable_kind(line)?, line);
                    after
                }
                Some(b'a') if line.starts_with("attributes #") => {
                    let (number, group) = line.strip_prefix("attributes #")?.split_once(" = ")?;
                    module.attributes.insert(number.parse().ok()?, group);
                    after
                }
                Some(b'!') => {
                    module.add_metadata(line)?;
                    after
                }
                Some(b's' | b't' | b'%') => {
                    let is_known = ["source_filename", "target "].iter().any(|word| line.starts_with(word));
                    if !is_known && !line.starts_with('%') {
                        return None;
                    }
                    module.head.push(line);
                    after
                }
                // Comdats, assembly, and what is not known.
                _ => return None,
            };
            rest = next;
        }
        Some(module)
    }

    fn add_function(&mut self, line: &'m str, body: &'m str) -> Option<()> {
        let name = defined_function(line)?;
        if line.contains(" comdat") {
            return None;
        }
        if let Some(kernel) = name.strip_prefix(WORK_ITEM_PREFIX) {
            self.kernels.insert(kernel);
        }
        self.lines = self.lines.saturating_add(body.bytes().filter(|byte| *byte == b'\n').count());
        self.add(name, EntityKind::Function, body);
        Some(())
    }

    fn add(&mut self, name: &'m str, kind: EntityKind, text: &'m str) {
        self.numbers.insert(name, self.entities.len());
        let text = Text { text, references: references(text) };
        self.entities.push(Entity { name, kind, text });
    }

    fn add_metadata(&mut self, line: &'m str) -> Option<()> {
        let (name, definition) = line.split_once(" = ")?;
        let number = name.strip_prefix('!')?;
        if !number.starts_with(|c: char| c.is_ascii_digit()) {
            self.named.push(Text { text: line, references: references(line) });
            return Some(());
        }
        let references = references(definition);
        // Metadata about functions would keep them all.
        if references.iter().any(|reference| matches!(reference.referent, Referent::Global(_))) {
            return None;
        }
        self.nodes.insert(number.parse().ok()?, Text { text: definition, references });
        Some(())
    }

    pub(super) fn number(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    pub(super) fn work_item(&self, kernel: &str) -> Option<usize> {
        self.number(&format!("{WORK_ITEM_PREFIX}{kernel}"))
    }

    /// The entities that `entity` mentions.
    pub(super) fn mentioned(&self, entity: &Entity<'m>) -> impl Iterator<Item = usize> {
        entity.text.references.iter().filter_map(|reference| match reference.referent {
            Referent::Global(name) => self.number(name),
            _ => None,
        })
    }
}

/// What the variable is that `line` defines; `None` if parts cannot share it.
fn variable_kind(line: &str) -> Option<EntityKind> {
    let (name, definition) = line.strip_prefix('@')?.split_once(" = ")?;
    if name.starts_with("llvm.") {
        return None;
    }
    let mut words = Vec::new();
    let mut rest = definition;
    loop {
        let (word, after) = rest.split_once(' ')?;
        rest = after;
        match word {
            "internal" | "private" | "hidden" | "dso_local" | "unnamed_addr" | "local_unnamed_addr" => {
                words.push(word);
            }
            "external" => return Some(EntityKind::Declaration),
            "constant" => break,
            "global" if is_state(name) || is_uninitialized(rest) => return Some(EntityKind::Copied),
            "global" => return Some(EntityKind::SharedVariable),
            _ => return None,
        }
    }
    if words.iter().any(|word| matches!(*word, "internal" | "private" | "hidden")) {
        return Some(EntityKind::Copied);
    }
    name.starts_with(RUNTIME_PREFIX).then_some(EntityKind::Exported)
}
