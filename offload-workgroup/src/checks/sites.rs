//! Sites of checks: constants with the place in the source and the kind of a check.
//!
//! ```text
//! @__offload_site_3 = private constant <{ i32, i32, i32, [16 x i8] }> <{ i32 4, i32 0, i32 4, [16 x i8] c"kernels/blas.cl\00" }>
//! ```
//!
//! A site has a line, the number of a kind, the alignment of an access or the bits of an operation, and a file.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::ir::metadata_field;

/// The kind of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SiteKind {
    Access(AccessKind),
    Barrier,
    Arithmetic(Arithmetic),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AccessKind {
    Read,
    /// A read by a copy of a structure, or of a range of memory.
    Copy,
    Write,
    Atomic,
    /// An atomic operation that only writes.
    AtomicWrite,
    /// A read by a copy that all work-items of a group execute together.
    GroupRead,
    GroupWrite,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Arithmetic {
    Add,
    Sub,
    Mul,
}

impl SiteKind {
    /// The number, as `offload-rt/src/host/checks/site.rs` reads it.
    fn number(self) -> u32 {
        match self {
            SiteKind::Access(AccessKind::Read) => 0,
            SiteKind::Access(AccessKind::Copy) => 9,
            SiteKind::Access(AccessKind::Write) => 1,
            SiteKind::Access(AccessKind::Atomic) => 2,
            SiteKind::Access(AccessKind::AtomicWrite) => 10,
            SiteKind::Access(AccessKind::GroupRead) => 3,
            SiteKind::Access(AccessKind::GroupWrite) => 4,
            SiteKind::Barrier => 5,
            SiteKind::Arithmetic(Arithmetic::Add) => 6,
            SiteKind::Arithmetic(Arithmetic::Sub) => 7,
            SiteKind::Arithmetic(Arithmetic::Mul) => 8,
        }
    }
}

impl Arithmetic {
    /// The last word of the function that checks it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Arithmetic::Add => "add",
            Arithmetic::Sub => "sub",
            Arithmetic::Mul => "mul",
        }
    }
}

/// A line of the source.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SourceLocation {
    line: u32,
    file: String,
}

/// The metadata nodes of a module, by number.
pub(super) struct DebugNodes<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> DebugNodes<'a> {
    pub(super) fn new(module: &'a str) -> DebugNodes<'a> {
        let mut nodes = BTreeMap::new();
        for line in module.lines() {
            if let Some((number, node)) = line.strip_prefix('!').and_then(|line| line.split_once(" = ")) {
                nodes.insert(number, node.strip_prefix("distinct ").unwrap_or(node));
            }
        }
        DebugNodes(nodes)
    }

    /// The name in the node of a variable.
    pub(super) fn variable_name(&self, number: &str) -> Option<&'a str> {
        metadata_field(self.0.get(number)?, "name")
    }

    /// The line of a `DILocation`.
    pub(super) fn source_location(&self, location: &str) -> SourceLocation {
        let node = self.0.get(location).copied().unwrap_or_default();
        let line = metadata_field(node, "line").and_then(|line| line.parse().ok()).unwrap_or(0);
        let file = self.file(node).unwrap_or_default().to_string();
        SourceLocation { line, file }
    }

    fn file(&self, location: &str) -> Option<&'a str> {
        let scope = self.0.get(metadata_field(location, "scope")?.strip_prefix('!')?)?;
        let file = self.0.get(metadata_field(scope, "file")?.strip_prefix('!')?)?;
        let name = metadata_field(file, "filename")?;
        // A name with an escape has fewer bytes than its text. Names of kernels' files have none.
        (!name.contains('\\')).then(|| name.strip_prefix("./").unwrap_or(name))
    }
}

/// The number of the `DILocation` of an instruction.
pub(super) fn debug_location(line: &str) -> Option<&str> {
    let rest = line.split_once(", !dbg !")?.1;
    rest.split(|c: char| !c.is_ascii_digit()).next().filter(|number| !number.is_empty())
}

/// The description of a check.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Site {
    pub(super) location: SourceLocation,
    pub(super) kind: SiteKind,
    pub(super) align: u64,
}

/// The sites of a module, without duplicates.
#[derive(Debug, Default)]
pub(super) struct SiteTable(BTreeMap<Site, usize>);

impl SiteTable {
    pub(super) fn number(&mut self, site: Site) -> usize {
        let next = self.0.len();
        *self.0.entry(site).or_insert(next)
    }

    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        for (Site { location, kind, align }, number) in &self.0 {
            let SourceLocation { line, file } = location;
            let size = file.len().saturating_add(1);
            let kind = kind.number();
            // The name comes from a string of the module, and needs no escapes.
            let _ = writeln!(
                out,
                "@__offload_site_{number} = private constant <{{ i32, i32, i32, [{size} x i8] }}> <{{ i32 {line}, i32 {kind}, i32 {align}, [{size} x i8] c\"{file}\\00\" }}>"
            );
        }
        out
    }
}

/// Names of variables as C strings, without duplicates.
#[derive(Debug, Default)]
pub(super) struct NameTable(BTreeMap<String, usize>);

impl NameTable {
    /// The constant with `name`.
    pub(super) fn constant(&mut self, name: &str) -> String {
        let next = self.0.len();
        format!("@__offload_name_{}", self.0.entry(name.to_string()).or_insert(next))
    }

    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        for (name, number) in &self.0 {
            let size = name.len().saturating_add(1);
            let _ =
                writeln!(out, "@__offload_name_{number} = private constant [{size} x i8] c\"{name}\\00\"");
        }
        out
    }
}
