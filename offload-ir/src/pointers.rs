//! Calls from one image for `host` into another, through pointers that the loader sets.

use std::collections::BTreeSet;
use std::fmt::Write;

use offload_format::section::{EXPORT_PREFIX, IMPORT_PREFIX, IMPORTS};
use offload_workgroup::ir::{global_name, global_symbol, parameters};

/// `module` in which each function of `names`, which it declares, is defined: it calls the function at its pointer. A
/// table has the names, for the loader, which sets the pointers.
///
/// The functions are not inlined: around a kernel that waits LLVM would copy them to every place.
pub fn through_pointers(module: &str, names: &BTreeSet<&str>) -> String {
    let mut out = String::with_capacity(module.len() + 4096);
    let mut bound = Vec::new();
    for line in module.lines() {
        let name = line.strip_prefix("declare ").and_then(global_name);
        let call =
            name.filter(|name| names.contains(name)).and_then(|name| Some((name, caller(line, name)?)));
        match call {
            Some((name, text)) => {
                out.push_str(&text);
                bound.push(name);
            }
            None => out.push_str(line),
        }
        out.push('\n');
    }
    out.push_str(&table(&bound));
    out
}

/// The names as C strings, and a null pointer behind them.
fn table(names: &[&str]) -> String {
    let mut out = String::new();
    let mut places = String::new();
    for (index, name) in names.iter().enumerate() {
        let size = name.len().saturating_add(1);
        let _ = writeln!(out, "@.offload.name.{index} = private constant [{size} x i8] c\"{name}\\00\"");
        let _ = write!(places, "ptr @.offload.name.{index}, ");
    }
    let count = names.len().saturating_add(1);
    let _ = writeln!(out, "@{IMPORTS} = constant [{count} x ptr] [{places}ptr null]");
    out
}

/// Words of a declaration that are of the function's symbol.
const PLACE: [&str; 4] = ["dso_local", "hidden", "protected", "default"];

/// A pointer, and a function that calls what it leads to, with the types of the declaration `line`.
fn caller(line: &str, name: &str) -> Option<String> {
    let head = line.strip_prefix("declare ")?.split_once('@')?.0;
    // What says where the function is, and not of what type.
    let result = head.split(' ').filter(|word| !word.starts_with('!') && !PLACE.contains(word));
    let result = result.collect::<Vec<_>>().join(" ");
    let rest = global_symbol(line)?.rest;
    let taken = parameters(rest)?.list;
    let taken: Vec<String> =
        taken.iter().enumerate().map(|(index, param)| format!("{} %a{index}", param.text)).collect();
    let taken = taken.join(", ");
    let is_void = result.trim_end().ends_with("void");
    let (value, back) = if is_void {
        ("", "ret void".to_string())
    } else {
        ("%r = ", format!("ret {} %r", returned(result.trim_end())))
    };
    Some(format!(
        "@{IMPORT_PREFIX}{name} = global ptr null\n\
         define internal {result}@{name}({taken}) noinline {{\n  %f = load ptr, ptr @{IMPORT_PREFIX}{name}\n  \
         {value}call {result}%f({taken})\n  {back}\n}}"
    ))
}

/// The type at the end of `result`, which attributes come before: `noundef zeroext i16`, `<4 x float>`.
fn returned(result: &str) -> &str {
    super::interface::last_type(result)
}

/// `module` in which `functions` have names that a loader finds.
///
/// The type of an alias is of no account: calls have their own.
pub fn exporting(module: &str, functions: &BTreeSet<&str>) -> String {
    let mut out = module.to_string();
    for name in functions {
        let _ = writeln!(out, "@{EXPORT_PREFIX}{name} = alias void (), ptr @{name}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "\
define dso_local void @k() {
}
declare !dbg !7 dso_local zeroext i16 @round(float noundef, ptr noundef byval(%struct.p) align 8) #1
declare <4 x float> @wide(<4 x float> noundef) #1
declare void @store(i32) #1
declare float @other(float)
";

    #[test]
    fn a_call_goes_through_a_pointer() {
        let text = through_pointers(MODULE, &["round", "wide", "store"].into());
        for part in [
            "@__offload_import_round = global ptr null\n",
            "define internal zeroext i16 @round(float noundef %a0, ptr noundef byval(%struct.p) align 8 %a1) noinline {\n",
            "  %r = call zeroext i16 %f(float noundef %a0, ptr noundef byval(%struct.p) align 8 %a1)\n  ret i16 %r\n}\n",
            "  %r = call <4 x float> %f(<4 x float> noundef %a0)\n  ret <4 x float> %r\n",
            "  call void %f(i32 %a0)\n  ret void\n",
            "declare float @other(float)\n",
            "@.offload.name.0 = private constant [6 x i8] c\"round\\00\"\n",
            "@__offload_imports = constant [4 x ptr] [ptr @.offload.name.0, ptr @.offload.name.1, ptr @.offload.name.2, ptr null]\n",
        ] {
            assert!(text.contains(part), "no {part:?} in {text}");
        }
        assert_eq!(text.matches("declare ").count(), 1, "{text}");
    }

    #[test]
    fn exported_functions_have_names_of_their_own() {
        let text = exporting("x\n", &["wide"].into());
        assert_eq!(text, "x\n@__offload_export_wide = alias void (), ptr @wide\n");
    }
}
