//! IR of C, C++ and C++ for OpenCL as a CPU takes it: all pointers are of one kind, and names are those of `host`.

use std::collections::BTreeSet;

use super::{global_name, name_at};
use crate::error::{Error, Result};

/// Functions of a kernel's, and what the target `host` calls them: each has another type or effect than that of the C
/// library.
const RENAMED: [(&str, &str); 2] =
    [("@printf(", "@__offload_printf("), ("@__assert_fail(", "@__offload_assert_fail(")];

/// A copy of `module` without address spaces.
///
/// What lies in local memory becomes an internal variable without an initial value, as clang makes one of a `__local`
/// array in OpenCL C. Functions of PoCL's that take a pointer to anything become those for global memory: its library
/// has no others, and they do the same.
///
/// # Errors
/// A variable in local memory that has an initial value, which no GPU gives it either.
pub(crate) fn in_one_memory(module: &str) -> Result<String> {
    let mut declared = BTreeSet::new();
    let mut out = String::with_capacity(module.len());
    for line in module.lines() {
        let line = match is_text(line) {
            true => line.to_string(),
            false => rewritten(line)?,
        };
        // What was declared for two kinds of memory is one function now.
        let repeated = declaration(&line).is_some_and(|name| !declared.insert(name.to_string()));
        if !repeated {
            out.push_str(&line);
            out.push('\n');
        }
    }
    Ok(out)
}

/// Whether a line has the program's own text in it.
fn is_text(line: &str) -> bool {
    line.starts_with('@') && line.contains(" constant ") && line.contains(" c\"")
}

fn declaration(line: &str) -> Option<&str> {
    line.strip_prefix("declare ").and_then(global_name).map(|(name, _)| name)
}

fn rewritten(line: &str) -> Result<String> {
    let line = match line.starts_with('@') {
        true => local_variable(line)?.unwrap_or_else(|| line.to_string()),
        false => line.to_string(),
    };
    let mut line = with_names(&without_spaces(&line));
    // Nobody may call a function of this convention, and C's takes the same arguments the same way.
    if line.starts_with("define ") {
        line = line.replacen(" spir_kernel ", " ", 1);
    }
    for (from, to) in RENAMED {
        if line.contains(from) {
            line = line.replace(from, to);
        }
    }
    Ok(line)
}

/// `ptr addrspace(1) %x` to `ptr %x`, and casts from one kind of pointer to another to those that do nothing.
fn without_spaces(line: &str) -> String {
    const SPACE: &str = " addrspace(";
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once(SPACE) {
        out.push_str(before);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    match out.contains("addrspacecast ") {
        true => out.replace("addrspacecast ", "bitcast "),
        false => out,
    }
}

/// Names of functions that tell the kinds of their pointers: LLVM's own, and PoCL's.
fn with_names(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('@') {
        out.push_str(before);
        out.push('@');
        let Some(named) = name_at(after).filter(|named| after.starts_with(named.name)) else {
            rest = after;
            continue;
        };
        if named.name.starts_with("llvm.") {
            out.push_str(&plain_intrinsic(named.name));
        } else if named.name.contains("_cl_") {
            out.push_str(&named.name.replace("U9CLgeneric", "U8CLglobal"));
        } else {
            out.push_str(named.name);
        }
        rest = named.rest;
    }
    out.push_str(rest);
    out
}

/// `llvm.memcpy.p0.p1.i64` to `llvm.memcpy.p0.p0.i64`.
fn plain_intrinsic(name: &str) -> String {
    let part = |part: &str| {
        let space = part.strip_prefix('p').filter(|space| !space.is_empty());
        let is_pointer = space.is_some_and(|space| space.chars().all(|c| c.is_ascii_digit()));
        if is_pointer { "p0".to_string() } else { part.to_string() }
    };
    name.split('.').map(part).collect::<Vec<_>>().join(".")
}

/// A variable in local memory, as one of the groups that run at a time has it.
fn local_variable(line: &str) -> Result<Option<String>> {
    const LOCAL: &str = "addrspace(3) global ";
    let Some((start, value)) = line.split_once(LOCAL) else { return Ok(None) };
    let (name, words) = start.split_once(" = ").unwrap_or((start, ""));
    if words.split(' ').any(|word| matches!(word, "external" | "extern_weak")) {
        return Ok(None);
    }
    // An initial value is never left out of a definition, nor is the alignment by clang.
    let (typed, tail) = value.rsplit_once(", align ").unwrap_or((value, "1"));
    let typed = typed.split_once(", comdat").map_or(typed, |(typed, _)| typed);
    let empty = [" zeroinitializer", " 0", " null", " undef", " poison", " false"];
    let Some(ty) = empty.iter().find_map(|value| typed.strip_suffix(value)) else {
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
    fn there_is_one_kind_of_pointer() {
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
        assert_eq!(in_one_memory(module).unwrap(), expected);
    }

    #[test]
    fn local_memory_starts_with_nothing() {
        let error =
            in_one_memory("@n = internal addrspace(3) global i32 7, align 4\n").unwrap_err().to_string();
        assert!(
            error.contains("`n`") && error.contains("initial value") && error.contains("hint:"),
            "{error}"
        );
        let kept = "@n = external addrspace(3) global [0 x float], align 4\n";
        assert_eq!(in_one_memory(kept).unwrap(), kept.replace(" addrspace(3)", ""));
    }
}
