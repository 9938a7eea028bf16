//! Merging of address spaces: IR of C, C++ and C++ for OpenCL for a CPU, where all pointers are of one kind.

use std::collections::BTreeSet;

use crate::error::{Error, Result};
use crate::ir::{global_name, is_name_character};

/// Calls of functions that the target has under another name: its functions have other types or effects than those of the C
/// library.
const RENAMED_CALLS: [(&str, &str); 2] =
    [("@printf(", "@__offload_printf("), ("@__assert_fail(", "@__offload_assert_fail(")];

/// A copy of `module` without address spaces.
///
/// A variable in local memory becomes an internal one without an initial value, as clang makes one of a `__local` array in
/// OpenCL C. Functions of PoCL's library that take generic pointers become those for global memory: the library has no
/// others, and they do the same.
///
/// # Errors
/// A variable in local memory has an initial value, which no GPU gives it either.
pub fn merge_address_spaces(module: &str) -> Result<String> {
    let mut declared = BTreeSet::new();
    let mut out = String::with_capacity(module.len());
    for line in module.lines() {
        let line = if is_string_constant(line) { line.to_string() } else { rewrite_line(line)? };
        // Declarations for two address spaces may have become the same one.
        let is_repeated = declared_function(&line).is_some_and(|name| !declared.insert(name.to_string()));
        if !is_repeated {
            out.push_str(&line);
            out.push('\n');
        }
    }
    Ok(out)
}

/// Whether a line has a string of the program.
fn is_string_constant(line: &str) -> bool {
    line.starts_with('@') && line.contains(" constant ") && line.contains(" c\"")
}

fn declared_function(line: &str) -> Option<&str> {
    line.strip_prefix("declare ").and_then(global_name)
}

fn rewrite_line(line: &str) -> Result<String> {
    let variable = if line.starts_with('@') { local_variable(line)? } else { None };
    let mut line = rename_functions(&without_address_spaces(variable.as_deref().unwrap_or(line)));
    // Such a function has no caller, and C's convention passes the same arguments the same way.
    if line.starts_with("define ") {
        line = line.replacen(" spir_kernel ", " ", 1);
    }
    for (from, to) in RENAMED_CALLS {
        if line.contains(from) {
            line = line.replace(from, to);
        }
    }
    Ok(line)
}

/// `ptr addrspace(1) %x` to `ptr %x`, and casts between address spaces to casts without an effect.
fn without_address_spaces(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once(" addrspace(") {
        out.push_str(before);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    if out.contains("addrspacecast ") { out.replace("addrspacecast ", "bitcast ") } else { out }
}

/// A line in which functions whose names encode address spaces, LLVM's intrinsics and PoCL's functions, have the names of
/// those for one.
fn rename_functions(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('@') {
        out.push_str(before);
        out.push('@');
        let end = after.find(|c: char| !is_name_character(c)).unwrap_or(after.len());
        let (name, tail) = after.split_at_checked(end).unwrap_or((after, ""));
        if name.starts_with("llvm.") {
            out.push_str(&default_intrinsic(name));
        } else if name.contains("_cl_") {
            out.push_str(&name.replace("U9CLgeneric", "U8CLglobal"));
        } else {
            out.push_str(name);
        }
        rest = tail;
    }
    out.push_str(rest);
    out
}

/// `llvm.memcpy.p0.p1.i64` to `llvm.memcpy.p0.p0.i64`.
fn default_intrinsic(name: &str) -> String {
    let mut parts = Vec::new();
    for part in name.split('.') {
        let space = part.strip_prefix('p').filter(|space| !space.is_empty());
        let is_pointer = space.is_some_and(|space| space.chars().all(|c| c.is_ascii_digit()));
        parts.push(if is_pointer { "p0" } else { part });
    }
    parts.join(".")
}

/// The definition of a variable in local memory, as each of the groups that run at a time has one.
fn local_variable(line: &str) -> Result<Option<String>> {
    const VALUES: [&str; 6] = [" zeroinitializer", " 0", " null", " undef", " poison", " false"];
    let Some((start, value)) = line.split_once("addrspace(3) global ") else { return Ok(None) };
    let (name, words) = start.split_once(" = ").unwrap_or((start, ""));
    if words.split(' ').any(|word| matches!(word, "external" | "extern_weak")) {
        return Ok(None);
    }
    // A definition always has an initial value, and clang always writes an alignment.
    let (typed, tail) = value.rsplit_once(", align ").unwrap_or((value, "1"));
    let typed = typed.split_once(", comdat").map_or(typed, |(typed, _)| typed);
    let Some(ty) = VALUES.iter().find_map(|value| typed.strip_suffix(value)) else {
        let name = name.trim_start_matches('@');
        let error = format!("the variable `{name}` is in local memory and has an initial value");
        return Err(
            Error::new(error).with_hint("have one work-item of each group write it, before a barrier")
        );
    };
    let (align, debug) = tail.split_once(',').map_or((tail, ""), |(align, rest)| (align, rest));
    let debug = if debug.is_empty() { String::new() } else { format!(",{debug}") };
    Ok(Some(format!("{name} = internal global {ty} undef, align {align}{debug}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pointers_are_in_one_address_space() {
        let module = "@tile = linkonce_odr hidden addrspace(3) global [64 x float] zeroinitializer, comdat, align 16, !dbg !5\n\
            @count = hidden addrspace(1) global i32 7, align 4\n\
            @.str = private unnamed_addr constant [18 x i8] c\"ptr addrspace(1)\\0A\\00\", align 1\n\
            define hidden spir_kernel void @_Z1kPU3AS1f(ptr addrspace(1) noundef %x) #0 {\n\
            \x20 %1 = addrspacecast ptr addrspace(1) %x to ptr\n\
            \x20 call void @llvm.memcpy.p1.p3.i64(ptr addrspace(1) %x, ptr addrspace(3) @tile, i64 4, i1 false)\n\
            \x20 %2 = call i32 (ptr, ...) @printf(ptr @.str)\n\
            \x20 %3 = call float @_Z9_cl_fractfPU9CLgenericf(float %y, ptr %1)\n\
            }\n\
            declare void @llvm.memcpy.p1.p3.i64(ptr addrspace(1), ptr addrspace(3), i64, i1 immarg) #1\n\
            declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1 immarg) #1\n";
        let expected = "@tile = internal global [64 x float] undef, align 16, !dbg !5\n\
            @count = hidden global i32 7, align 4\n\
            @.str = private unnamed_addr constant [18 x i8] c\"ptr addrspace(1)\\0A\\00\", align 1\n\
            define hidden void @_Z1kPU3AS1f(ptr noundef %x) #0 {\n\
            \x20 %1 = bitcast ptr %x to ptr\n\
            \x20 call void @llvm.memcpy.p0.p0.i64(ptr %x, ptr @tile, i64 4, i1 false)\n\
            \x20 %2 = call i32 (ptr, ...) @__offload_printf(ptr @.str)\n\
            \x20 %3 = call float @_Z9_cl_fractfPU8CLglobalf(float %y, ptr %1)\n\
            }\n\
            declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1 immarg) #1\n";
        assert_eq!(merge_address_spaces(module).unwrap(), expected);
    }

    #[test]
    fn local_memory_has_no_initial_value() {
        let error = merge_address_spaces("@n = internal addrspace(3) global i32 7, align 4\n")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("`n`") && error.contains("initial value") && error.contains("hint:"),
            "{error}"
        );
        let live_variables = "@n = external addrspace(3) global [0 x float], align 4\n";
        assert_eq!(
            merge_address_spaces(live_variables).unwrap(),
            live_variables.replace(" addrspace(3)", "")
        );
    }
}
