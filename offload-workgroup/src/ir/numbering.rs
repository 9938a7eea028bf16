//! What a module has numbers for: groups of attributes, and nodes of metadata. They stand at its end, and are read once.

use std::collections::BTreeMap;

/// The numbered lines of a module.
#[derive(Debug)]
pub(super) struct Numbered<'a> {
    /// What is in the braces of each group of attributes, by its number.
    groups: BTreeMap<&'a str, &'a str>,
    /// The lines of source locations, by their node.
    pub(super) lines: BTreeMap<String, u32>,
    /// Behind all that are in use.
    pub(super) free: Numbers,
}

/// Numbers that the module does not use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    pub(super) attributes: u64,
    pub(super) node: u64,
}

impl<'a> Numbered<'a> {
    pub(super) fn of(module: &'a str) -> Numbered<'a> {
        let free = Numbers { attributes: 0, node: 0 };
        let mut numbered = Numbered { groups: BTreeMap::new(), lines: BTreeMap::new(), free };
        for line in module.lines() {
            if let Some(group) = line.strip_prefix("attributes #") {
                numbered.add_group(group);
            } else if line.starts_with('!') {
                numbered.add_node(line);
            }
        }
        numbered
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

    /// What is in the braces of a group of attributes.
    pub(super) fn group(&self, number: &str) -> &'a str {
        self.groups.get(number).copied().unwrap_or_default()
    }
}

fn leading_number(text: &str) -> Option<u64> {
    text.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}
