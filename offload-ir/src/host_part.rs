//! The host part of CUDA C++: its token, and its calls of CUDA's runtime under the names of offload-rt's functions.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use offload_format::launchers::{FUNCTIONS, PREFIX, is_runtime_function};
use offload_workgroup::ir::{Symbol, global_name, global_symbol, symbol_at};

use crate::file_local::{distinct_name, source_name, with_names};

/// What makes the host part of a file that of its module.
#[derive(Clone, Copy, Debug)]
pub struct HostPart<'a> {
    /// Takes the place of the images that nvcc puts there.
    pub token: &'a [u8],
    /// The file that names of kernels are made distinct for, if the module has several.
    pub file: Option<&'a str>,
}

/// Sections in which tools of NVIDIA look for images.
const SECTIONS: [&str; 2] = [", section \".nv_fatbin\"", ", section \".nvFatBinSegment\""];

/// Prefixes of what only the library of C++ defines, mangled or not (<https://itanium-cxx-abi.github.io/cxx-abi/abi.html>).
const CPP_LIBRARY: [&str; 11] = [
    "_ZS",
    "_ZNS",
    "_ZNKS",
    "_ZTVS",
    "_ZTVN10__cxxabiv1",
    "_ZTIS",
    "_Zn",
    "_Zd",
    "__cxa_guard",
    "__cxa_throw",
    "__gxx_personality",
];

/// The functions of CUDA's runtime that `module` calls and offload-rt has not, as written in the source.
pub fn missing_runtime_functions(module: &str) -> BTreeSet<String> {
    let mut missing = BTreeSet::new();
    for name in undefined(module) {
        let is_missing = is_runtime_function(name) && !FUNCTIONS.contains(&name);
        let unmangled = name.strip_prefix("_Z").and_then(source_name).map(|source| source.name);
        if let Some(unmangled) = unmangled.filter(|name| is_runtime_function(name)) {
            missing.insert(unmangled.to_string());
        } else if is_missing {
            missing.insert(name.to_string());
        } else if let Some(rest) = name.strip_prefix("_ZN6thrust") {
            let algorithm = source_name(rest).map_or("", |source| source.name);
            missing.insert(format!("thrust::{algorithm}"));
        } else if let Some(class) = name.strip_prefix("_ZN3cub").and_then(source_name) {
            let algorithm = source_name(class.rest).map_or("", |source| source.name);
            missing.insert(format!("cub::{}::{algorithm}", class.name));
        }
    }
    missing
}

/// Whether the program needs the library of C++ for `module`.
pub fn needs_cpp_library(module: &str) -> bool {
    undefined(module).iter().any(|name| CPP_LIBRARY.iter().any(|prefix| name.starts_with(prefix)))
}

/// `module`, as clang makes it with an empty file of images, for a program with offload-rt.
///
/// Functions of the runtime become hidden ones, so that those of another shared library are not taken for them.
pub fn host_part(module: &str, part: &HostPart<'_>) -> String {
    let mut names: BTreeMap<&str, String> = BTreeMap::new();
    for name in undefined(module).into_iter().filter(|name| FUNCTIONS.contains(name)) {
        names.insert(name, format!("{PREFIX}{name}"));
    }
    let registered = part.file.map(|_| registered_names(module)).unwrap_or_default();
    let mut out = String::with_capacity(module.len() + 1024);
    for line in module.lines() {
        let declared = line
            .strip_prefix("declare ")
            .filter(|_| global_name(line).is_some_and(|name| names.contains_key(name)));
        if let Some(rest) = declared {
            let _ = writeln!(out, "{}", hidden_declaration(rest));
        } else if line.contains(SECTIONS[0]) && line.contains("[0 x i8] zeroinitializer") {
            let token = format!("[{} x i8] c\"{}\"", part.token.len(), escaped(part.token));
            let _ = writeln!(
                out,
                "{}",
                line.replace("[0 x i8] zeroinitializer", &token).replace(SECTIONS[0], "")
            );
        } else if line.contains(SECTIONS[1]) {
            let _ = writeln!(out, "{}", line.replace(SECTIONS[1], ""));
        } else {
            out.push_str(&registered_line(line, &registered, part.file));
            out.push('\n');
        }
    }
    with_names(&out, &names)
}

/// A declaration of what no other shared library has; `rest` is that of its line behind `declare`, where attachments of
/// debug information and `dso_local` come before the visibility (<https://llvm.org/docs/LangRef.html#functions>).
fn hidden_declaration(mut rest: &str) -> String {
    let mut before = String::from("declare ");
    while let Some((word, after)) = rest.split_once(' ') {
        if !word.starts_with('!') && word != "dso_local" {
            break;
        }
        before.push_str(word);
        before.push(' ');
        rest = after;
    }
    format!("{before}hidden {rest}")
}

/// `line`, with a name that is distinct for `file` if it is the text that a kernel or a variable is registered by.
fn registered_line<'a>(line: &'a str, registered: &BTreeSet<&str>, file: Option<&str>) -> Cow<'a, str> {
    let Some(file) = file else { return Cow::Borrowed(line) };
    let Some(Symbol { name, rest }) = global_symbol(line).filter(|_| line.starts_with('@')) else {
        return Cow::Borrowed(line);
    };
    let text = rest.split_once(" c\"").and_then(|(_, text)| text.split_once("\\00\""));
    let Some((text, after)) = text.filter(|_| registered.contains(name)) else { return Cow::Borrowed(line) };
    match distinct_name(text, file) {
        Cow::Owned(distinct) => {
            let size = distinct.len().saturating_add(1);
            Cow::Owned(format!(
                "@{name} = private unnamed_addr constant [{size} x i8] c\"{distinct}\\00\"{after}"
            ))
        }
        Cow::Borrowed(_) => Cow::Borrowed(line),
    }
}

/// The constants with the names of kernels and variables in calls that register them: handle, host's symbol, name, name.
fn registered_names(module: &str) -> BTreeSet<&str> {
    let calls = ["@__cudaRegisterFunction(", "@__cudaRegisterVar("];
    let mut names = BTreeSet::new();
    for line in module.lines() {
        let Some((_, arguments)) = calls.iter().find_map(|call| line.split_once(call)) else { continue };
        let name = arguments.split(", ").nth(2).and_then(global_name);
        names.extend(name);
    }
    names
}

/// The functions and variables that `module` uses and does not define.
fn undefined(module: &str) -> BTreeSet<&str> {
    let mut declared = BTreeSet::new();
    let mut used = BTreeSet::new();
    for line in module.lines() {
        let is_declaration = line.starts_with("declare ") || line.contains(" = external ");
        if is_declaration {
            declared.extend(global_name(line));
            continue;
        }
        let references = line.split('@').skip(1);
        used.extend(references.filter_map(symbol_at).map(|symbol| symbol.name));
    }
    declared.into_iter().filter(|name| used.contains(name)).collect()
}

fn escaped(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        let _ = write!(text, "\\{byte:02X}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As clang 22 writes it.
    const MODULE: &str = r#"@0 = private unnamed_addr constant [10 x i8] c"_ZL3onePf\00", align 1
@1 = private unnamed_addr constant [10 x i8] c"_ZL3onePf\00", align 1
@2 = private constant [0 x i8] zeroinitializer, section ".nv_fatbin", align 8
@__cuda_fatbin_wrapper = internal constant { i32, i32, ptr, ptr } { i32 1180844977, i32 1, ptr @2, ptr null }, section ".nvFatBinSegment", align 8
define i32 @launch(ptr noundef %0) {
  %2 = call i32 @cudaGetLastError()
  call void @_Z8free_allPf(ptr %0)
  call i32 @__cudaRegisterFunction(ptr %0, ptr @launch, ptr @0, ptr @0, i32 -1, ptr null)
  ret i32 %2
}
declare i32 @cudaGetLastError() #1
declare !dbg !79 dso_local i32 @__cudaRegisterFunction(ptr, ptr, ptr, ptr, i32, ptr)
declare void @__cudaRegisterTexture(ptr)
declare void @_Z8free_allPf(ptr)
"#;

    #[test]
    fn names_token_and_sections_are_those_of_offload_rt() {
        let text = host_part(MODULE, &HostPart { token: b"AB", file: None });
        for line in [
            "@2 = private constant [2 x i8] c\"\\41\\42\", align 8",
            "@__cuda_fatbin_wrapper = internal constant { i32, i32, ptr, ptr } { i32 1180844977, i32 1, ptr @2, ptr null }, align 8",
            "  %2 = call i32 @offload_cudaGetLastError()",
            "declare hidden i32 @offload_cudaGetLastError() #1",
            "declare !dbg !79 dso_local hidden i32 @offload___cudaRegisterFunction(ptr, ptr, ptr, ptr, i32, ptr)",
            "declare void @_Z8free_allPf(ptr)",
            "@0 = private unnamed_addr constant [10 x i8] c\"_ZL3onePf\\00\", align 1",
        ] {
            assert!(text.lines().any(|found| found == line), "no {line} in\n{text}");
        }
    }

    #[test]
    fn only_texts_that_register_become_distinct() {
        let text = host_part(MODULE, &HostPart { token: b"", file: Some("a.cu") });
        let name = distinct_name("_ZL3onePf", "a.cu");
        let line =
            format!("@0 = private unnamed_addr constant [{} x i8] c\"{name}\\00\", align 1", name.len() + 1);
        assert!(text.contains(&line), "{text}");
        assert!(text.contains("@1 = private unnamed_addr constant [10 x i8] c\"_ZL3onePf\\00\""), "{text}");
    }

    #[test]
    fn functions_that_are_called_and_lacking_are_named() {
        assert!(missing_runtime_functions(MODULE).is_empty());
        let more = "define void @f() {\n  call i32 @cudaGraphClone()\n  call void @_ZN6thrust14exclusive_scanIPfEEvT_()\n  \
                    call i32 @_Z15cudaMallocPitchIfE9cudaErrorPPT_()\n  call i32 @_ZN3cub12DeviceReduce3SumIJRPiEEE9cudaErrorPvRmDpOT_()\n}\ndeclare i32 @cudaGraphClone()\n\
                    declare void @_ZN6thrust14exclusive_scanIPfEEvT_()\ndeclare i32 @_Z15cudaMallocPitchIfE9cudaErrorPPT_()\n\
                    declare i32 @_ZN3cub12DeviceReduce3SumIJRPiEEE9cudaErrorPvRmDpOT_()\n";
        let missing: Vec<String> = missing_runtime_functions(more).into_iter().collect();
        let expected =
            ["cub::DeviceReduce::Sum", "cudaGraphClone", "cudaMallocPitch", "thrust::exclusive_scan"];
        assert_eq!(missing, expected);
    }

    #[test]
    fn the_library_of_cpp_is_needed_for_what_it_defines() {
        assert!(!needs_cpp_library(MODULE));
        let new = "define void @f() {\n  call ptr @_Znwm(i64 4)\n}\ndeclare ptr @_Znwm(i64)\n";
        assert!(needs_cpp_library(new));
        assert!(!needs_cpp_library("define void @f() {\n}\ndeclare ptr @_Znwm(i64)\n"));
    }
}
