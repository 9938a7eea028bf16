//! Undefined functions in images: one error for all targets, with the caller and its location.

use std::collections::{BTreeMap, BTreeSet};

use offload_format::Target;
use offload_workgroup::ir::functions_reaching;

use crate::compile::Session;
use crate::compile::advice::builtin_names;
use crate::compile::libraries::{self, Lacking};
use crate::compile::steps::action;
use crate::compile::targets::llvm;
use crate::error::{Error, Result};
use crate::fs;
use crate::module::TargetImages;
use crate::targets::{Presence, WantedTarget};

/// A function and the targets that lack it.
pub(super) struct Undefined {
    pub(super) error: Error,
    pub(super) targets: Vec<WantedTarget>,
}

/// What required targets of `results` lack, if all else of them is right; the first function of several.
pub(super) fn find(session: &Session<'_>, results: &[TargetImages]) -> Option<Undefined> {
    let required = results.iter().filter(|result| result.target.presence == Presence::Required);
    let failed = required.filter_map(|result| Some((result.images.as_ref().err()?, &result.target)));
    let mut lacking: BTreeMap<&str, Vec<WantedTarget>> = BTreeMap::new();
    let mut first = None;
    for (error, target) in failed {
        // Another failure comes first.
        let name = error.undefined()?;
        first = first.or(Some((name, error)));
        lacking.entry(name).or_default().push(target.clone());
    }
    let (name, original) = first?;
    let targets = lacking.remove(name).unwrap_or_default();
    let names: Vec<String> = targets.iter().map(|wanted| format!("`{}`", wanted.target)).collect();
    let Call { spelled, place, kernel } = call(session, name, results);
    let mut text = format!("{place}`{spelled}` has no definition for {}", names.join(", "));
    text.push_str(&kernel.map(|kernel| format!("; kernel `{kernel}` calls it")).unwrap_or_default());
    let imports = undefined_imports(session, name, &targets);
    text.push_str(&imports.as_ref().map(|it| it.text.clone()).unwrap_or_default());
    let some_have_it = targets.len() < results.len();
    let of_libdevice = original.hint().filter(|_| name.starts_with("__nv_")).map(str::to_string);
    let imports = imports.map(|it| it.hint);
    let hint = of_libdevice.or(imports).unwrap_or_else(|| hint(&targets, some_have_it));
    Some(Undefined { error: Error::undefined_function(name, text).with_hint(hint), targets })
}

/// What imported libraries have to do with it, unless it is a built-in function.
fn undefined_imports(session: &Session<'_>, name: &str, targets: &[WantedTarget]) -> Option<Lacking> {
    let first = targets.first().filter(|_| !builtin_names::is_builtin(name) && !name.starts_with("__nv_"))?;
    libraries::lacking(session, name, &first.target).ok()?
}

fn hint(targets: &[WantedTarget], some_have_it: bool) -> String {
    let mut macros = BTreeSet::new();
    macros.extend(targets.iter().filter_map(|wanted| macro_of(&wanted.target)));
    let guards: Vec<String> = macros.iter().map(|name| format!("`#ifndef {name}`")).collect();
    let names: Vec<String> = targets.iter().map(|wanted| wanted.target.to_string()).collect();
    let without = format!(
        "leave it out there with {}, or `cargo offload targets remove {}`",
        guards.join(" and "),
        names.join(" ")
    );
    match (some_have_it, macros.is_empty()) {
        (true, false) => without,
        (true, true) => format!("do without it, or `cargo offload targets remove {}`", names.join(" ")),
        (false, _) => {
            "if it is yours, add the file that defines it with `.file(...)`; if it is a built-in, do without it: docs/BUILTINS.md of cargo-offload lists what each kind of target has".to_string()
        }
    }
}

/// What compilers define for a target's kind.
fn macro_of(target: &Target) -> Option<&'static str> {
    match target {
        Target::Spirv64(_) | Target::Intel(_) => Some("__SPIRV__"),
        Target::Nvptx(_) | Target::Cubin(_) => Some("__NVPTX__"),
        Target::Amdgcn(_) => Some("__AMDGCN__"),
        _ => None,
    }
}

/// Where the sources call a function.
struct Call {
    /// The function as they write it.
    spelled: String,
    /// File and line, as the start of a message has it; empty if no source calls it itself.
    place: String,
    /// A kernel that comes there.
    kernel: Option<String>,
}

fn call(session: &Session<'_>, name: &str, results: &[TargetImages]) -> Call {
    let names = spellings(name);
    let kernel = results.first().and_then(|first| caller(session, &names, &first.target.target).ok()?);
    let root = &session.env().manifest_dir;
    for file in &session.sources.files {
        let text = fs::read_text(&root.join(&file.path)).unwrap_or_default();
        for spelled in &names {
            if let Some(line) = line_of(&text, spelled) {
                let place = format!("{}:{line}: ", file.path.display());
                return Call { spelled: spelled.to_string(), place, kernel };
            }
        }
    }
    Call { spelled: name.to_string(), place: String::new(), kernel }
}

/// How sources may write a function of an image, the likeliest first. The functions of NVIDIA's libdevice end in `f` for
/// `float`, as those of CUDA C++ do and those of OpenCL C do not.
fn spellings(name: &str) -> Vec<&str> {
    match name.strip_prefix("__nv_") {
        Some(plain) => [plain].into_iter().chain(plain.strip_suffix('f')).chain([name]).collect(),
        None => vec![name],
    }
}

/// A kernel that calls one of `names`, through whatever functions. The front end has read all files already.
fn caller(session: &Session<'_>, names: &[&str], first: &Target) -> Result<Option<String>> {
    for scanned in llvm::scan(session, first)?.files {
        let calling = functions_reaching(&scanned.ir.read_text()?, |other| {
            names.contains(&action::written(other).as_str())
        });
        if let Some(kernel) = scanned.kernels.iter().find(|kernel| calling.contains(&kernel.name)) {
            return Ok(Some(kernel.name.clone()));
        }
    }
    Ok(None)
}

/// The first line that calls `name`, from 1; not in a comment behind two slashes.
fn line_of(text: &str, name: &str) -> Option<usize> {
    text.lines()
        .position(|line| {
            let code = line.split("//").next().unwrap_or_default();
            code.match_indices(name).any(|(at, _)| {
                let before = code.get(..at).unwrap_or_default();
                let after = code.get(at.saturating_add(name.len())..).unwrap_or_default();
                // A type in front of it makes a declaration.
                let word = before.trim_end().rsplit(|c| !is_part_of_word(c)).next().unwrap_or_default();
                let is_declared = !matches!(word, "" | "return" | "else" | "do");
                !before.ends_with(is_part_of_word) && !is_declared && after.trim_start().starts_with('(')
            })
        })
        .map(|index| index.saturating_add(1))
}

fn is_part_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_found_in_the_code() {
        let text = "// printf(x)\nint printf(int x);\nmy_printf(1);\n  if (a) printf (\"x\");\nprintf(1);\n";
        assert_eq!(line_of(text, "printf"), Some(4));
        assert_eq!(line_of("int f(void);\n\n  return f();", "f"), Some(3));
        assert_eq!(line_of(text, "sin"), None);
    }

    #[test]
    fn functions_of_libdevice_are_spelled_as_in_sources() {
        assert_eq!(spellings("__nv_sqrtf"), ["sqrtf", "sqrt", "__nv_sqrtf"]);
        assert_eq!(spellings("__nv_sin"), ["sin", "__nv_sin"]);
        assert_eq!(spellings("helper"), ["helper"]);
    }

    #[test]
    fn the_hint_is_for_the_targets_that_lack_it() {
        let targets = ["nvptx:sm_75", "cubin:sm_90", "amdgcn:gfx90a"]
            .map(|name| WantedTarget { target: name.parse().unwrap(), presence: Presence::Required });
        let text = hint(&targets, true);
        assert!(text.contains("`#ifndef __AMDGCN__` and `#ifndef __NVPTX__`"), "{text}");
        assert!(
            text.contains("`cargo offload targets remove nvptx:sm_75 cubin:sm_90 amdgcn:gfx90a`"),
            "{text}"
        );
        assert!(hint(&targets, false).contains(".file("));
    }
}
