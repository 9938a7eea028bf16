//! Metadata attachments of a function (<https://llvm.org/docs/LangRef.html#metadata>).

use std::collections::BTreeMap;

/// The metadata nodes of a module: `!13` to its operands.
pub(crate) type Nodes<'a> = BTreeMap<&'a str, &'a str>;

/// The metadata that a `define` line attaches to its function.
pub(crate) struct Attachments<'a> {
    /// What follows the function's name.
    rest: &'a str,
    nodes: &'a Nodes<'a>,
}

impl<'a> Attachments<'a> {
    pub(crate) fn new(rest: &'a str, nodes: &'a Nodes<'a>) -> Attachments<'a> {
        Attachments { rest, nodes }
    }

    /// The operands of the node of this kind.
    pub(crate) fn operands(&self, kind: &str) -> Option<&'a str> {
        let node = self.rest.split_once(&format!("!{kind} !"))?.1;
        self.nodes.get(node.split([' ', '{']).next()?).copied()
    }
}
