//! The text of a part, whose attributes and metadata are numbered in the order in which it mentions them.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::fmt::Write;

use super::entities::{EntityKind, Module, Text};
use super::references::Referent;

/// Writes a part.
pub(super) struct PartWriter<'p, 'm> {
    module: &'p Module<'m>,
    out: String,
    attributes: Numbers,
    nodes: Numbers,
    /// Nodes of debug information that the included variables have.
    variable_nodes: HashSet<u64>,
}

/// New numbers, in the order in which they are asked for.
#[derive(Default)]
struct Numbers {
    new: HashMap<u64, u64>,
    unwritten: VecDeque<u64>,
}

impl Numbers {
    fn number(&mut self, old: u64) -> u64 {
        let next = self.new.len() as u64;
        *self.new.entry(old).or_insert_with(|| {
            self.unwritten.push_back(old);
            next
        })
    }
}

impl<'p, 'm> PartWriter<'p, 'm> {
    /// The text of the part with the entities `included`.
    pub(super) fn write(module: &'p Module<'m>, included: &BTreeSet<usize>) -> String {
        let mut writer = PartWriter {
            module,
            out: String::new(),
            attributes: Numbers::default(),
            nodes: Numbers::default(),
            variable_nodes: HashSet::new(),
        };
        for line in &module.head {
            writer.out.push_str(line);
            writer.out.push('\n');
        }
        for entity in included.iter().filter_map(|number| module.entities.get(*number)) {
            if entity.kind != EntityKind::Function && entity.kind != EntityKind::Declaration {
                let nodes = entity.text.references.iter().filter_map(|reference| match reference.referent {
                    Referent::Node(number) => Some(number),
                    _ => None,
                });
                writer.variable_nodes.extend(nodes);
            }
            if entity.kind == EntityKind::Copied {
                // Several parts have it, and are linked.
                writer.write_internal(&entity.text);
            } else {
                writer.write_text(&entity.text);
            }
        }
        writer.write_numbered();
        writer.out
    }

    fn write_internal(&mut self, text: &Text<'_>) {
        let start = self.out.len();
        self.write_text(text);
        let line = self.out.split_off(start);
        let line = match line.split_once(" = hidden ") {
            Some((name, rest)) => format!("{name} = internal {rest}"),
            None => line,
        };
        self.out.push_str(&line);
    }

    /// Writes a text with new numbers.
    fn write_text(&mut self, text: &Text<'_>) {
        let mut written = 0;
        for reference in &text.references {
            let (sigil, number) = match reference.referent {
                Referent::Global(_) => continue,
                Referent::Node(number) => ('!', self.nodes.number(number)),
                Referent::Attributes(number) => ('#', self.attributes.number(number)),
            };
            self.out.push_str(text.text.get(written..reference.start).unwrap_or_default());
            let _ = write!(self.out, "{sigil}{number}");
            written = reference.end;
        }
        self.out.push_str(text.text.get(written..).unwrap_or_default());
        if !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    /// Writes the attribute groups and metadata that the text so far mentions.
    fn write_numbered(&mut self) {
        let module = self.module;
        while let Some(old) = self.attributes.unwritten.pop_front() {
            let new = self.attributes.number(old);
            let group = module.attributes.get(&old).copied().unwrap_or("{}");
            let _ = writeln!(self.out, "attributes #{new} = {group}");
        }
        for named in &module.named {
            self.write_text(named);
        }
        let mut lists_of_variables = HashSet::new();
        while let Some(old) = self.nodes.unwritten.pop_front() {
            let new = self.nodes.number(old);
            let Some(node) = module.nodes.get(&old) else { continue };
            let _ = write!(self.out, "!{new} = ");
            lists_of_variables.extend(variables_of_unit(node));
            if lists_of_variables.contains(&old) {
                self.write_included(node);
            } else {
                self.write_text(node);
            }
        }
    }

    /// Writes the list of a compilation unit's variables with those alone that the part has: others lead to everything.
    fn write_included(&mut self, list: &Text<'_>) {
        let mut kept = Vec::new();
        for reference in &list.references {
            if let Referent::Node(number) = reference.referent
                && self.variable_nodes.contains(&number)
            {
                kept.push(format!("!{}", self.nodes.number(number)));
            }
        }
        let _ = writeln!(self.out, "!{{{}}}", kept.join(", "));
    }
}

/// The list of variables of a compilation unit: `globals: !4`.
fn variables_of_unit(node: &Text<'_>) -> Option<u64> {
    if !node.text.starts_with("distinct !DICompileUnit(") {
        return None;
    }
    let (_, list) = node.text.split_once(" globals: !")?;
    list.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}
