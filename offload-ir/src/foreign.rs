//! Functions that a target has no code for: inline assembly of another machine, and functions of headers that are there to
//! be refused. A call graph over the files of a module tells which kernels come to them.

use std::collections::{BTreeMap, BTreeSet};

use offload_workgroup::ir::{Symbol, defined_function, global_name, global_symbol};

use crate::inline_assembly::{AsmCalls, Place};

/// What functions of our headers call that have no code for a target: the rest of the name says what they are of.
const LACKING: &str = "__offload_lacks_";

/// What a function does that a target has no code for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignCode {
    /// The function.
    pub function: String,
    /// The construct.
    pub what: ForeignConstruct,
    /// File and line, if the module has line tables.
    pub place: Option<Place>,
}

/// A construct that a target has no code for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForeignConstruct {
    /// The text for another machine's assembler.
    Assembly(String),
    /// What the headers declare for the sake of others, as `textures`.
    Lacking(String),
}

/// The foreign code of `module`; `is_foreign` tells texts for another machine's assembler.
pub fn foreign_code(module: &str, is_foreign: impl Fn(&str) -> bool) -> Vec<ForeignCode> {
    let lacking = lacking_functions(module);
    if lacking.is_empty() && !module.contains(" asm ") {
        return Vec::new();
    }
    let calls = AsmCalls::new(module);
    let mut found = Vec::new();
    let mut current = "";
    for line in module.lines() {
        if line.starts_with("define ") {
            current = defined_function(line).unwrap_or_default();
            continue;
        }
        if !line.starts_with("  ") {
            continue;
        }
        let construct = match calls.template(line) {
            Some(template) if is_foreign(&template) => ForeignConstruct::Assembly(template),
            Some(_) => continue,
            None => match lacking_construct(line, &lacking) {
                Some(construct) if !lacking.contains_key(current) => construct,
                _ => continue,
            },
        };
        let function = current.to_string();
        found.push(ForeignCode { function, what: construct, place: calls.place(line) });
    }
    found
}

fn lacking_construct(line: &str, lacking: &BTreeMap<&str, &str>) -> Option<ForeignConstruct> {
    if lacking.is_empty() || !line.contains("call ") {
        return None;
    }
    let what = lacking.get(global_name(line)?)?;
    Some(ForeignConstruct::Lacking(what.replace('_', " ")))
}

/// The functions of headers that have no code here, with what they are of: calls of them have places in the user's files.
fn lacking_functions(module: &str) -> BTreeMap<&str, &str> {
    let mut functions = BTreeMap::new();
    if !module.contains(LACKING) {
        return functions;
    }
    let mut current = "";
    for line in module.lines() {
        if line.starts_with("define ") {
            current = defined_function(line).unwrap_or_default();
        } else if line.starts_with("  ")
            && let Some(what) = global_name(line).and_then(|name| name.strip_prefix(LACKING))
        {
            functions.insert(current, what);
        }
    }
    functions
}

/// Who mentions whom in the files of a module. What a file keeps to itself is none of another's.
#[derive(Debug, Default)]
pub struct References<'m> {
    mentioned: BTreeMap<Node<'m>, BTreeSet<Node<'m>>>,
    files: Vec<BTreeSet<&'m str>>,
}

/// A global of one of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Node<'m> {
    /// The file that keeps it to itself.
    file: Option<usize>,
    name: &'m str,
}

impl<'m> References<'m> {
    /// The calls and addresses in `modules`, the files of one kernel module.
    pub fn new(modules: &'m [String]) -> References<'m> {
        let mut references = References::default();
        for module in modules {
            let own = module.lines().filter(|line| is_own(line)).filter_map(global_name);
            let mut names = BTreeSet::new();
            names.extend(own);
            references.files.push(names);
        }
        for (file, module) in modules.iter().enumerate() {
            references.add(file, module);
        }
        references
    }

    fn add(&mut self, file: usize, module: &'m str) {
        let mut current = None;
        for line in module.lines() {
            let mut text = line;
            if line.starts_with("define ") || line.starts_with('@') {
                current = global_name(line).map(|name| self.node(file, name));
                text = global_symbol(line).map_or("", |symbol| symbol.rest);
            }
            let Some(from) = current else { continue };
            while let Some(Symbol { name, rest }) = global_symbol(text) {
                let node = self.node(file, name);
                self.mentioned.entry(from).or_default().insert(node);
                text = rest;
            }
            // A variable is one line.
            if line == "}" || line.starts_with('@') {
                current = None;
            }
        }
    }

    /// The global that `name` is in a file.
    fn node<'n>(&self, file: usize, name: &'n str) -> Node<'n> {
        let is_own = self.files.get(file).is_some_and(|own| own.contains(name));
        Node { file: is_own.then_some(file), name }
    }

    /// The first of `goals` that `kernel` of a file comes to, by file and name.
    pub fn first_reached<'g>(
        &self,
        file: usize,
        kernel: &str,
        goals: &'g [(usize, ForeignCode)],
    ) -> Option<&'g ForeignCode> {
        let goals_at = goals.iter().map(|(file, code)| (self.node(*file, &code.function), code));
        let mut codes = BTreeMap::new();
        for (node, code) in goals_at {
            codes.entry(node).or_insert(code);
        }
        let mut open = vec![self.node(file, kernel)];
        let mut reached = BTreeSet::new();
        while let Some(node) = open.pop() {
            if !reached.insert(node) {
                continue;
            }
            if let Some(code) = codes.get(&node).copied() {
                return Some(code);
            }
            open.extend(self.mentioned.get(&node).into_iter().flatten().copied());
        }
        None
    }
}

/// Whether a line defines what only its module sees.
fn is_own(line: &str) -> bool {
    let definition = match line.strip_prefix("define ") {
        Some(rest) => rest,
        None if line.starts_with('@') => line.split_once(" = ").map_or("", |(_, rest)| rest),
        None => return false,
    };
    definition.starts_with("internal ") || definition.starts_with("private ")
}

/// `module`, in which `functions` end the kernel: nothing that becomes part of an image calls them.
pub fn without_bodies(module: &str, functions: &BTreeSet<String>) -> String {
    const TRAP: &str = "declare void @llvm.trap()";
    let mut out = String::with_capacity(module.len());
    let mut lines = module.lines();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        if defined_function(line).is_some_and(|name| functions.contains(name)) {
            lines.by_ref().take_while(|line| *line != "}").for_each(drop);
            out.push_str("  call void @llvm.trap()\n  unreachable\n}\n");
        }
    }
    if !module.lines().any(|line| line.starts_with(TRAP)) {
        out.push_str(TRAP);
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = r#"
@table = internal constant [1 x ptr] [ptr @pointed]
define amdgpu_kernel void @direct() {
  call void asm sideeffect "bar.sync 0;", ""() #3
}
define amdgpu_kernel void @deep() {
  call void @other()
}
define amdgpu_kernel void @plain() {
  call void asm sideeffect "s_nop 0", ""() #3
  call void @own()
}
define amdgpu_kernel void @pointing() {
  %1 = load ptr, ptr @table
}
define internal void @pointed() {
  call void @other()
}
define internal void @own() {
  ret void
}
define amdgpu_kernel void @textured() {
  %1 = call float @_Z5tex2D()
}
define linkonce_odr float @_Z5tex2D() {
  call void @__offload_lacks_textures()
  ret float 0
}
declare void @__offload_lacks_textures()
"#;
    const SECOND: &str = r#"
define void @other() {
  call void @own()
}
define internal void @own() {
  call void asm sideeffect "bar.sync 1;", ""() #3
}
"#;

    fn code() -> Vec<(usize, ForeignCode)> {
        let mut all = Vec::new();
        for (file, text) in [FIRST, SECOND].into_iter().enumerate() {
            let found = foreign_code(text, |template| template.starts_with("bar"));
            all.extend(found.into_iter().map(|code| (file, code)));
        }
        all
    }

    #[test]
    fn kernels_come_to_foreign_code_through_calls_tables_and_other_files() {
        let texts = [FIRST, SECOND].map(str::to_string);
        let references = References::new(&texts);
        let all = code();
        assert_eq!(all.len(), 3, "{all:?}");
        let reached = |kernel| references.first_reached(0, kernel, &all).map(|code| code.what.clone());
        let barrier = |number| Some(ForeignConstruct::Assembly(format!("bar.sync {number};")));
        assert_eq!(reached("direct"), barrier(0));
        assert_eq!(reached("deep"), barrier(1));
        assert_eq!(reached("pointing"), barrier(1));
        assert_eq!(reached("textured"), Some(ForeignConstruct::Lacking("textures".to_string())));
        // The function of this name in its own file.
        assert_eq!(reached("plain"), None);
    }

    #[test]
    fn functions_without_code_end_the_kernel() {
        let text = without_bodies(FIRST, &["own".to_string()].into());
        assert!(text.contains("define internal void @own() {\n  call void @llvm.trap()\n  unreachable\n}\n"));
        assert_eq!(text.matches("declare void @llvm.trap()").count(), 1);
        assert_eq!(without_bodies(&text, &["own".to_string()].into()), text);
    }
}
