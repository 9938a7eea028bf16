//! Numbers of a module: attribute groups and metadata nodes. They stand at its end, and are read once.

use std::collections::BTreeMap;

/// The numbered lines of a module.
#[derive(Debug)]
pub(crate) struct ModuleNumbers<'a> {
    /// The attributes of each group, by its number.
    groups: BTreeMap<&'a str, &'a str>,
    /// The lines of source locations, by their node.
    pub(crate) lines: BTreeMap<String, u32>,
    /// The first unused numbers.
    pub(crate) free: FreeNumbers,
}

/// Numbers that the module does not use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FreeNumbers {
    pub(crate) attributes: u64,
    pub(crate) node: u64,
}

impl<'a> ModuleNumbers<'a> {
    pub(crate) fn new(module: &'a str) -> ModuleNumbers<'a> {
        let free = FreeNumbers { attributes: 0, node: 0 };
        let mut numbers = ModuleNumbers { groups: BTreeMap::new(), lines: BTreeMap::new(), free };
        for line in module.lines() {
            if let Some(group) = line.strip_prefix("attributes #") {
                numbers.add_group(group);
            } else if line.starts_with('!') {
                numbers.add_node(line);
            }
        }
        numbers
    }

    fn add_group(&mut self, text: &'a str) {
        let Some((number, braces)) = text.split_once(" = {") else { return };
        if let Some(used) = leading_number(number) {
            self.free.attributes = self.free.attributes.max(used.saturating_add(1));
        }
        self.groups.insert(number, braces.trim_end_matches('}').trim());
    }

    fn add_node(&mut self, line: &str) {
        if let Some(used) = line.strip_prefix('!').and_then(leading_number) {
            self.free.node = self.free.node.max(used.saturating_add(1));
        }
        if let Some((node, location)) = line.split_once(" = !DILocation(line: ")
            && let Some(number) = leading_number(location)
        {
            self.lines.insert(node.to_string(), u32::try_from(number).unwrap_or(0));
        }
    }

    /// The attributes of a group.
    pub(crate) fn group(&self, number: &str) -> &'a str {
        self.groups.get(number).copied().unwrap_or_default()
    }
}

fn leading_number(text: &str) -> Option<u64> {
    text.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}
