//! Instrumentation of the target `host`: every access of memory tells where it goes before it happens.
//!
//! ```text
//!   call void @__offload_access(ptr %14, i64 4, ptr @__offload_site_3), !dbg !37
//!   %15 = load float, ptr %14, align 4, !dbg !37
//! @__offload_site_3 = private constant <{ i32, i32, [16 x i8] }> <{ i32 4, i32 0, [16 x i8] c"kernels/blas.cl\00" }>
//! ```
//!
//! A site has a line, 1 for a write and 0 for a read, and a file. What variables of a function are loaded and stored is left
//! out. Functions that are not in the module (mathematics, copies of work-groups) tell nothing; those of vectors and atomic
//! ones are known by their names.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::global_name;

/// What an instruction does with memory, in IR's words.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Access<'a> {
    pointer: &'a str,
    /// An element type and a number of elements: the pointer is that many of the type's size before the access.
    offset: Option<(String, &'a str)>,
    size: Size<'a>,
    kind: AccessKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum AccessKind {
    Read,
    Write,
}

/// How many bytes are accessed.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Size<'a> {
    OfType(String),
    /// An operand.
    Bytes(&'a str),
}

/// A copy of `module` in which the functions of kernels tell of each access.
pub(crate) fn with_accesses(module: &str) -> String {
    let nodes = Nodes::of(module);
    let mut sites = Sites::default();
    let mut out = String::with_capacity(module.len().saturating_mul(2));
    let (mut variables, mut is_told) = (BTreeSet::new(), false);
    for line in module.lines() {
        if line.starts_with("define ") {
            variables.clear();
            // Those of the shim, and around kernels.
            is_told = global_name(line).is_some_and(|(name, _)| !name.starts_with("__offload_"));
        }
        variables.extend(line.split_once(" = alloca ").map(|(name, _)| name.trim()));
        if is_told && let Some(place) = debug_location(line) {
            for access in accesses(line).into_iter().filter(|access| !is_variable(access, &variables)) {
                let site = sites.number(Site { place: nodes.place(place), kind: access.kind });
                tell(&mut out, &access, Told { site, location: place });
            }
        }
        out.push_str(line);
        out.push('\n');
    }
    out.push_str(&sites.text());
    out
}

fn is_variable(access: &Access<'_>, variables: &BTreeSet<&str>) -> bool {
    access.pointer.starts_with('@') || variables.contains(access.pointer)
}

/// Where the call that tells of an access belongs.
#[derive(Clone, Copy, Debug)]
struct Told<'a> {
    site: usize,
    /// The number of a `DILocation`, as functions with debug information need it.
    location: &'a str,
}

fn tell(out: &mut String, access: &Access<'_>, told: Told<'_>) {
    let mut pointer = access.pointer.to_string();
    let Told { site, location } = told;
    // Writing to a String does not fail.
    if let Some((ty, index)) = &access.offset {
        pointer = format!("%offload.access.{}", out.len());
        let _ = writeln!(
            out,
            "  {pointer} = getelementptr {ty}, ptr {}, i64 {index}, !dbg !{location}",
            access.pointer
        );
    }
    let size = match &access.size {
        Size::OfType(ty) => format!("ptrtoint (ptr getelementptr ({ty}, ptr null, i64 1) to i64)"),
        Size::Bytes(operand) => (*operand).to_string(),
    };
    let _ = writeln!(
        out,
        "  call void @__offload_access(ptr {pointer}, i64 {size}, ptr @__offload_site_{site}), !dbg !{location}"
    );
}

/// The number of the `DILocation` of an instruction.
fn debug_location(line: &str) -> Option<&str> {
    let rest = line.split_once(", !dbg !")?.1;
    rest.split(|c: char| !c.is_ascii_digit()).next().filter(|number| !number.is_empty())
}

/// What the instruction in `line` reads and writes.
fn accesses(line: &str) -> Vec<Access<'_>> {
    let text = line.trim_start();
    let text = match text.split_once(" = ") {
        Some((name, rest)) if name.starts_with('%') => rest,
        _ => text,
    };
    let words = |text: &'_ str| -> usize {
        let mut rest = text;
        for word in ["tail ", "musttail ", "notail ", "atomic ", "weak ", "volatile "] {
            rest = rest.strip_prefix(word).unwrap_or(rest);
        }
        text.len().saturating_sub(rest.len())
    };
    let text = text.get(words(text)..).unwrap_or_default();
    let (opcode, rest) = text.split_once(' ').unwrap_or((text, ""));
    let rest = rest.get(words(rest)..).unwrap_or_default();
    match opcode {
        "load" => load(rest).into_iter().collect(),
        "store" => store(rest).into_iter().collect(),
        "atomicrmw" | "cmpxchg" => exchange(rest).into_iter().collect(),
        "call" => call(rest),
        _ => Vec::new(),
    }
}

fn load(rest: &str) -> Option<Access<'_>> {
    let (ty, rest) = rest.split_once(", ptr ")?;
    Some(Access { pointer: operand(rest)?, offset: None, size: of_type(ty), kind: AccessKind::Read })
}

fn store(rest: &str) -> Option<Access<'_>> {
    let (_, pointer) = rest.rsplit_once(", ptr ")?;
    let size = of_type(leading_type(rest));
    Some(Access { pointer: operand(pointer)?, offset: None, size, kind: AccessKind::Write })
}

/// `add ptr %p, i32 %v seq_cst`, `ptr %p, i32 %a, i32 %b seq_cst seq_cst`
fn exchange(rest: &str) -> Option<Access<'_>> {
    let (pointer, values) = rest.split_once("ptr ")?.1.split_once(", ")?;
    let size = of_type(leading_type(values));
    Some(Access { pointer, offset: None, size, kind: AccessKind::Write })
}

fn call(rest: &str) -> Vec<Access<'_>> {
    let Some((name, rest)) = global_name(rest) else { return Vec::new() };
    let args: Vec<&str> = arguments(rest).iter().filter_map(|arg| arg.split(' ').next_back()).collect();
    let known = |pointer, size, kind| Access { pointer, offset: None, size, kind };
    let copies = ["llvm.memcpy.", "llvm.memmove."].iter().any(|prefix| name.starts_with(prefix));
    match args.as_slice() {
        [to, from, size, ..] if copies => vec![
            known(from, Size::Bytes(size), AccessKind::Read),
            known(to, Size::Bytes(size), AccessKind::Write),
        ],
        [to, _, size, ..] if name.starts_with("llvm.memset.") => {
            vec![known(to, Size::Bytes(size), AccessKind::Write)]
        }
        [pointer, ..] if name.starts_with("_Z") && name.contains("atomic_") && pointer.starts_with('%') => {
            let wide = ["Vl", "Vm", "Vd", "Atomicl", "Atomicm", "Atomicd"].iter().any(|ty| name.contains(ty));
            vec![known(pointer, of_type(if wide { "i64" } else { "i32" }), AccessKind::Write)]
        }
        [.., index, pointer] => vector(name, index, pointer).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// `vload4` and `vstore4` of a type that is no `half`, which another type's function converts.
fn vector<'a>(name: &str, index: &'a str, pointer: &'a str) -> Option<Access<'a>> {
    let (kind, rest) = match (name.split_once("vload"), name.split_once("vstore")) {
        (Some((_, rest)), _) => (AccessKind::Read, rest),
        (_, Some((_, rest))) => (AccessKind::Write, rest),
        _ => return None,
    };
    let count: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let element = match name.chars().next_back()? {
        'c' | 'h' => "i8",
        's' | 't' => "i16",
        'i' | 'j' => "i32",
        'l' | 'm' => "i64",
        'f' => "float",
        'd' => "double",
        _ => return None,
    };
    let ty = (!count.is_empty()).then(|| format!("[{count} x {element}]"))?;
    Some(Access { pointer, offset: Some((ty.clone(), index)), size: Size::OfType(ty), kind })
}

fn of_type(ty: &str) -> Size<'static> {
    Size::OfType(ty.to_string())
}

/// The operand that `text` starts with.
fn operand(text: &str) -> Option<&str> {
    text.split([',', ' ']).next().filter(|operand| operand.starts_with(['%', '@']))
}

/// The type that `text` starts with.
fn leading_type(text: &str) -> &str {
    let mut depth = 0i32;
    let end = text.find(|c| {
        depth = match c {
            '<' | '{' | '[' | '(' => depth.saturating_add(1),
            '>' | '}' | ']' | ')' => depth.saturating_sub(1),
            _ => depth,
        };
        c == ' ' && depth == 0
    });
    text.get(..end.unwrap_or(text.len())).unwrap_or(text)
}

/// `(ptr align 4 %2, i64 16)` without its parentheses, cut at commas that are in none.
fn arguments(text: &str) -> Vec<&str> {
    let Some(text) = text.strip_prefix('(') else { return Vec::new() };
    let (mut depth, mut start, mut found) = (0i32, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            ',' | ')' if depth == 0 => {
                found.extend(text.get(start..at).map(str::trim).filter(|arg| !arg.is_empty()));
                start = at.saturating_add(1);
                if c == ')' {
                    break;
                }
            }
            '(' | '<' | '{' | '[' => depth = depth.saturating_add(1),
            ')' | '>' | '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    found
}

/// Where an access stands in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    line: u32,
    file: String,
}

/// A module's debug information, by number.
struct Nodes<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Nodes<'a> {
    fn of(module: &'a str) -> Nodes<'a> {
        let node = |line: &'a str| line.strip_prefix('!')?.split_once(" = ");
        Nodes(module.lines().filter_map(node).fold(BTreeMap::new(), |mut nodes, (number, node)| {
            nodes.insert(number, node.strip_prefix("distinct ").unwrap_or(node));
            nodes
        }))
    }

    fn place(&self, location: &str) -> Place {
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

/// What stands before each access.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Site {
    place: Place,
    kind: AccessKind,
}

/// All of them, each once.
#[derive(Debug, Default)]
struct Sites(BTreeMap<Site, usize>);

impl Sites {
    fn number(&mut self, site: Site) -> usize {
        let next = self.0.len();
        *self.0.entry(site).or_insert(next)
    }

    fn text(&self) -> String {
        let mut out = String::new();
        for (Site { place, kind }, number) in &self.0 {
            let size = place.file.len().saturating_add(1);
            let kind = u32::from(*kind == AccessKind::Write);
            // A string as IR writes it stands in IR already.
            let _ = writeln!(
                out,
                "@__offload_site_{number} = private constant <{{ i32, i32, [{size} x i8] }}> <{{ i32 {}, i32 {kind}, [{size} x i8] c\"{}\\00\" }}>",
                place.line, place.file
            );
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pointer, size and kind of what a line accesses.
    fn found(line: &str) -> Vec<(String, String, AccessKind)> {
        let size = |size: &Size<'_>| match size {
            Size::OfType(ty) => ty.clone(),
            Size::Bytes(operand) => (*operand).to_string(),
        };
        accesses(line).iter().map(|it| (it.pointer.to_string(), size(&it.size), it.kind)).collect()
    }

    #[test]
    fn instructions_are_known_by_what_they_access() {
        use AccessKind::{Read, Write};
        for (line, pointer, size, kind) in [
            ("  %15 = load float, ptr %14, align 4, !dbg !37, !tbaa !39", "%14", "float", Read),
            ("  %1 = load volatile <4 x i32>, ptr %p, align 16, !dbg !1", "%p", "<4 x i32>", Read),
            ("  store <4 x float> %28, ptr %26, align 16, !dbg !49", "%26", "<4 x float>", Write),
            ("  store { i32, [2 x i8] } %0, ptr %a.b, align 4", "%a.b", "{ i32, [2 x i8] }", Write),
            ("  store ptr %0, ptr %5, align 8", "%5", "ptr", Write),
            ("  %o = atomicrmw volatile add ptr %p, i64 %v seq_cst, align 8", "%p", "i64", Write),
            ("  %o = cmpxchg ptr %p, i32 %a, i32 %b seq_cst seq_cst, align 4", "%p", "i32", Write),
            (
                "  %32 = call i32 @_Z14_cl_atomic_addPU8CLglobalVii(ptr noundef %31, i32 noundef 2) #5, !dbg !54",
                "%31",
                "i32",
                Write,
            ),
            (
                "  %3 = call <3 x float> @_Z10_cl_vload3mPU8CLglobalKf(i64 noundef %1, ptr noundef %2) #5",
                "%2",
                "[3 x float]",
                Read,
            ),
        ] {
            assert_eq!(found(line), [(pointer.to_string(), size.to_string(), kind)], "{line}");
        }
        let copy =
            "  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %2, ptr align 4 %1, i64 12, i1 false), !dbg !3";
        assert_eq!(
            found(copy),
            [("%1".to_string(), "12".to_string(), Read), ("%2".to_string(), "12".to_string(), Write)]
        );
        for line in ["  %4 = add i32 %1, %2", "  call void @f(ptr %p)", "  br label %1", "  ret void"] {
            assert!(found(line).is_empty(), "{line}");
        }
    }

    #[test]
    fn accesses_are_told_with_their_place() {
        let module = "define void @f(ptr %0) #0 !dbg !4 {\n\
            \x20 %2 = alloca ptr, align 8\n\
            \x20 store ptr %0, ptr %2, align 8, !dbg !5\n\
            \x20 %3 = load ptr, ptr %2, align 8, !dbg !5\n\
            \x20 %4 = load float, ptr %3, align 4, !dbg !5\n\
            \x20 store float %4, ptr %3, align 4\n}\n\
            define void @__offload_work_item_f(ptr %0) !dbg !4 {\n  %2 = load ptr, ptr %0, !dbg !5\n}\n\
            !3 = !DIFile(filename: \"./kernels/a.cl\", directory: \".\")\n\
            !4 = distinct !DISubprogram(name: \"f\", scope: !3, file: !3, line: 7)\n\
            !5 = !DILocation(line: 8, column: 3, scope: !4)\n";
        let told = with_accesses(module);
        assert_eq!(told.matches("call void @__offload_access(").count(), 1, "{told}");
        let size = "ptrtoint (ptr getelementptr (float, ptr null, i64 1) to i64)";
        let call = format!(
            "  call void @__offload_access(ptr %3, i64 {size}, ptr @__offload_site_0), !dbg !5\n  %4 = load float"
        );
        assert!(told.contains(&call), "{told}");
        let site = "@__offload_site_0 = private constant <{ i32, i32, [13 x i8] }> <{ i32 8, i32 0, [13 x i8] c\"kernels/a.cl\\00\" }>\n";
        assert!(told.ends_with(site), "{told}");
    }
}
