//! Places of the source, as constants of an image.
//!
//! ```text
//! @__offload_site_3 = private constant <{ i32, i32, i32, [16 x i8] }> <{ i32 4, i32 0, i32 4, [16 x i8] c"kernels/blas.cl\00" }>
//! ```
//!
//! A site has a line, a number for what happens there, the alignment of an access or the bits of an operation, and a file.

use std::collections::BTreeMap;
use std::fmt::Write;

/// What a kernel does at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Access(AccessKind),
    Wait,
    Arithmetic(Arithmetic),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AccessKind {
    Read,
    /// Of a structure, or a part of memory.
    Copy,
    Write,
    Atomic,
    /// An atomic operation that reads nothing.
    AtomicWrite,
    /// A copy that all work-items of a group ask for together.
    GroupRead,
    GroupWrite,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Arithmetic {
    Add,
    Sub,
    Mul,
}

impl Kind {
    /// As `offload-rt/src/host/checks/site.rs` reads it.
    fn number(self) -> u32 {
        match self {
            Kind::Access(AccessKind::Read) => 0,
            Kind::Access(AccessKind::Copy) => 9,
            Kind::Access(AccessKind::Write) => 1,
            Kind::Access(AccessKind::Atomic) => 2,
            Kind::Access(AccessKind::AtomicWrite) => 10,
            Kind::Access(AccessKind::GroupRead) => 3,
            Kind::Access(AccessKind::GroupWrite) => 4,
            Kind::Wait => 5,
            Kind::Arithmetic(Arithmetic::Add) => 6,
            Kind::Arithmetic(Arithmetic::Sub) => 7,
            Kind::Arithmetic(Arithmetic::Mul) => 8,
        }
    }
}

impl Arithmetic {
    pub(super) fn word(self) -> &'static str {
        match self {
            Arithmetic::Add => "add",
            Arithmetic::Sub => "sub",
            Arithmetic::Mul => "mul",
        }
    }
}

/// Where something stands in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    line: u32,
    file: String,
}

/// A module's debug information, by number.
pub(super) struct Nodes<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Nodes<'a> {
    pub(super) fn of(module: &'a str) -> Nodes<'a> {
        let node = |line: &'a str| line.strip_prefix('!')?.split_once(" = ");
        Nodes(module.lines().filter_map(node).fold(BTreeMap::new(), |mut nodes, (number, node)| {
            nodes.insert(number, node.strip_prefix("distinct ").unwrap_or(node));
            nodes
        }))
    }

    /// The name that a node gives a variable.
    pub(super) fn name(&self, number: &str) -> Option<&'a str> {
        field(self.0.get(number)?, "name")
    }

    pub(super) fn place(&self, location: &str) -> Place {
        let node = self.0.get(location).copied().unwrap_or_default();
        let line = field(node, "line").and_then(|line| line.parse().ok()).unwrap_or(0);
        let scope = field(node, "scope").and_then(|scope| self.0.get(scope.strip_prefix('!')?));
        let file = scope.and_then(|scope| self.0.get(field(scope, "file")?.strip_prefix('!')?));
        // A name with an escape has fewer bytes than its text: nobody calls a kernel so.
        let name = file.and_then(|file| field(file, "filename")).filter(|name| !name.contains('\\'));
        let name = name.map(|name| name.strip_prefix("./").unwrap_or(name)).unwrap_or_default();
        Place { line, file: name.to_string() }
    }
}

/// A field of a node: `12` of `line: 12`, `a.cl` of `filename: "a.cl"`.
fn field<'n>(node: &'n str, key: &str) -> Option<&'n str> {
    let (_, rest) =
        node.split_once(&format!("({key}: ")).or_else(|| node.split_once(&format!(", {key}: ")))?;
    match rest.strip_prefix('"') {
        Some(text) => text.split('"').next(),
        None => rest.split([',', ')']).next(),
    }
}

/// The number of the `DILocation` of an instruction.
pub(super) fn debug_location(line: &str) -> Option<&str> {
    let rest = line.split_once(", !dbg !")?.1;
    rest.split(|c: char| !c.is_ascii_digit()).next().filter(|number| !number.is_empty())
}

/// What stands before something that is told.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Site {
    pub(super) place: Place,
    pub(super) kind: Kind,
    pub(super) align: u64,
}

/// All of them, each once.
#[derive(Debug, Default)]
pub(super) struct Sites(BTreeMap<Site, usize>);

impl Sites {
    pub(super) fn number(&mut self, site: Site) -> usize {
        let next = self.0.len();
        *self.0.entry(site).or_insert(next)
    }

    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        for (Site { place, kind, align }, number) in &self.0 {
            let size = place.file.len().saturating_add(1);
            let kind = kind.number();
            // A string as IR writes it stands in IR already.
            let _ = writeln!(
                out,
                "@__offload_site_{number} = private constant <{{ i32, i32, i32, [{size} x i8] }}> <{{ i32 {}, i32 {kind}, i32 {align}, [{size} x i8] c\"{}\\00\" }}>",
                place.line, place.file
            );
        }
        out
    }
}

/// Names of variables, as C strings, each once.
#[derive(Debug, Default)]
pub(super) struct Texts(BTreeMap<String, usize>);

impl Texts {
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
