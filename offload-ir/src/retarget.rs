//! IR for Windows or macOS, made of IR for Linux on the same processor.
//!
//! Front ends and passes for the CPU work for Linux, as PoCL's library does, so that types and signatures are those of every
//! other target: `long` has 64 bits. The code generator alone knows the other system: its calling convention, unwinding data
//! and thread-local storage.

use std::borrow::Cow;

/// A system and a processor that code is generated for, whatever linker the program has: an image refers to nothing of a
/// program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeTarget {
    triple: &'static str,
    /// How names are mangled, in the data layout.
    mangling: &'static str,
    /// The word of a visible definition.
    export: &'static str,
}

impl CodeTarget {
    /// Windows on x86-64.
    pub const WINDOWS: CodeTarget =
        CodeTarget { triple: "x86_64-pc-windows-gnu", mangling: "-m:w", export: "dllexport " };
    /// macOS on x86-64.
    pub const MACOS_X86_64: CodeTarget =
        CodeTarget { triple: "x86_64-apple-macosx10.12.0", mangling: "-m:o", export: "" };
    /// macOS on AArch64.
    pub const MACOS_AARCH64: CodeTarget =
        CodeTarget { triple: "arm64-apple-macosx11.0.0", mangling: "-m:o", export: "" };

    /// The flag of clang.
    pub fn flag(self) -> String {
        format!("--target={}", self.triple)
    }
}

/// The interface of an image: all its names begin like this.
const EXPORTED: &str = "__offload_";

/// The most that thread-local storage is aligned to by every release of the loader. The linker asks for more, which
/// neither wine 8 nor dyld of macOS 10 gives.
const THREAD_ALIGN: u32 = 16;

/// What functions on AArch64 are compiled with, and for Apple's processors: all have the instructions.
const ATOMICS: [&str; 2] = ["+outline-atomics", "+lse"];

/// `module` for another system: what is visible is exported, and no access of memory expects an alignment of more
/// than 16 bytes.
///
/// Functions that several objects may define become internal: an image is one module, and what it is divided into
/// shares none.
pub fn retarget(module: &str, target: CodeTarget) -> String {
    let mut out = String::with_capacity(module.len());
    for line in module.lines() {
        if line.starts_with('$') && line.contains(" = comdat ") {
            continue;
        }
        out.push_str(&retarget_line(line, target));
        out.push('\n');
    }
    out
}

fn retarget_line(line: &str, target: CodeTarget) -> Cow<'_, str> {
    if line.starts_with("target triple = ") {
        return format!("target triple = \"{}\"", target.triple).into();
    }
    if line.starts_with("target datalayout = ") {
        // Apple's AArch64 has no preference for the alignment of small integers.
        return line.replacen("-m:e", target.mangling, 1).replacen("-i8:8:32-i16:16:32", "", 1).into();
    }
    if line.starts_with("attributes #") && target == CodeTarget::MACOS_AARCH64 {
        let [outlined, inline] = ATOMICS;
        return line.replacen(outlined, inline, 1).into();
    }
    if let Some(rest) = line.strip_prefix("define ") {
        let (_, after) = rest.split_once('@').unwrap_or_default();
        let name = after.split('(').next().unwrap_or_default();
        return format!("define {}", with_unwinding_data(definition(rest, name, target))).into();
    }
    if let Some((name, rest)) = line.strip_prefix('@').and_then(|line| line.split_once(" = ")) {
        let changed = definition(rest, name, target);
        let is_of_thread = rest.contains("thread_local(");
        let changed = if is_of_thread { cap_alignment(&changed, ", align ") } else { changed.into() };
        return format!("@{name} = {changed}").into();
    }
    if line.contains(" = alloca ") {
        return line.into();
    }
    if line.contains("@llvm.mem") {
        return cap_alignment(line, " align ");
    }
    cap_alignment(line, ", align ")
}

/// The definition of `name` behind `define` or the name.
fn definition(rest: &str, name: &str, target: CodeTarget) -> String {
    let mut rest = rest;
    let mut linkage = String::new();
    while let Some((word, behind)) = rest.split_once(' ') {
        match word {
            "linkonce_odr" | "weak_odr" | "linkonce" | "weak" => linkage.push_str("internal "),
            "dso_local" | "default" => linkage.push_str(&format!("{word} ")),
            _ => break,
        }
        rest = behind;
    }
    let is_internal = linkage.contains("internal");
    if is_internal {
        rest = rest.strip_prefix("hidden ").unwrap_or(rest);
    }
    const ELSEWHERE: [&str; 7] =
        ["internal", "private", "hidden", "external", "extern_weak", "available_externally", "appending"];
    let first = rest.split(' ').next().unwrap_or_default();
    let is_exported = name.starts_with(EXPORTED) && !is_internal && !ELSEWHERE.contains(&first);
    let export = if is_exported { target.export } else { "" };
    without_comdat(&format!("{linkage}{export}{rest}"))
}

/// The definition of a function with data for unwinding: passes have found that it throws nothing, but debuggers and the
/// system's handlers of faults walk the stack.
fn with_unwinding_data(definition: String) -> String {
    let start = definition.split_once('@').map_or(0, |(before, _)| before.len());
    let mut depth = 0u32;
    for (at, c) in definition.char_indices().skip_while(|(at, _)| *at < start) {
        match c {
            '(' => depth = depth.saturating_add(1),
            ')' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth > 0 {
            continue;
        }
        let (head, rest) = definition.split_at(at.saturating_add(1));
        // What follows the parameters before attributes.
        let word = ["local_unnamed_addr ", "unnamed_addr "];
        let word = word.into_iter().find(|word| rest.trim_start().starts_with(word)).unwrap_or_default();
        let rest = rest.trim_start().strip_prefix(word).unwrap_or(rest);
        return format!("{head} {word}uwtable {}", rest.trim_start());
    }
    definition
}

/// A definition that is of no group: one object has all of them.
fn without_comdat(line: &str) -> String {
    let Some((before, after)) = line.split_once(" comdat").or_else(|| line.split_once(", comdat")) else {
        return line.to_string();
    };
    let before = before.trim_end_matches(',');
    match after.strip_prefix('(').and_then(|group| group.split_once(')')) {
        Some((_, after)) => format!("{before}{after}"),
        None => format!("{before}{after}"),
    }
}

/// `line` without alignments above [`THREAD_ALIGN`] behind `word`.
fn cap_alignment<'l>(line: &'l str, word: &str) -> Cow<'l, str> {
    if !line.contains(word) {
        return line.into();
    }
    let mut parts = line.split(word);
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let digits = part.len().saturating_sub(part.trim_start_matches(|c: char| c.is_ascii_digit()).len());
        let (number, rest) = part.split_at(digits);
        let is_more = number.parse().is_ok_and(|align: u32| align > THREAD_ALIGN);
        out.push_str(word);
        out.push_str(if is_more { "16" } else { number });
        out.push_str(rest);
    }
    out.into()
}

/// `module` without the convention of functions that were compiled by that of Windows: it is the only one there.
pub fn without_windows_convention(module: &str) -> String {
    module.replace(" win64cc ", " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "\
target datalayout = \"e-m:e-p270:32:32-S128\"
target triple = \"x86_64-pc-linux-gnu\"
$_ZN1fC5Ev = comdat any
@__offload_frame_k = constant i64 0, align 8
@__offload_checks = dso_local local_unnamed_addr global ptr null, align 8
@__offload_state_x = internal thread_local(localdynamic) global [2 x <16 x double>] undef, align 128
@table = internal constant [4 x <8 x float>] zeroinitializer, align 32
@inline = linkonce_odr hidden global i32 0, comdat, align 4
@__offload_export_f = alias void (), ptr @f
@elsewhere = external global i32
define i32 @__offload_run_k(ptr %x) #1 {
  %a = alloca <8 x float>, align 32
  %v = load <16 x double>, ptr @__offload_state_x, align 128
  call void @llvm.memcpy.p0.p0.i64(ptr align 32 %a, ptr align 4 %x, i64 32, i1 false)
  call void @g(ptr byval(<8 x float>) align 32 %a)
  store i32 1, ptr %x, align 4, !noalias !64
}
define hidden void @__offload_begin() {
define linkonce_odr hidden void @_ZN1fC2Ev(ptr dereferenceable(8) %this) unnamed_addr #2 comdat($_ZN1fC5Ev) align 2 {
";

    const EXPECTED: &str = "\
target datalayout = \"e-m:w-p270:32:32-S128\"
target triple = \"x86_64-pc-windows-gnu\"
@__offload_frame_k = dllexport constant i64 0, align 8
@__offload_checks = dso_local dllexport local_unnamed_addr global ptr null, align 8
@__offload_state_x = internal thread_local(localdynamic) global [2 x <16 x double>] undef, align 16
@table = internal constant [4 x <8 x float>] zeroinitializer, align 32
@inline = internal global i32 0, align 4
@__offload_export_f = dllexport alias void (), ptr @f
@elsewhere = external global i32
define dllexport i32 @__offload_run_k(ptr %x) uwtable #1 {
  %a = alloca <8 x float>, align 32
  %v = load <16 x double>, ptr @__offload_state_x, align 16
  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %a, ptr align 4 %x, i64 32, i1 false)
  call void @g(ptr byval(<8 x float>) align 32 %a)
  store i32 1, ptr %x, align 4, !noalias !64
}
define hidden void @__offload_begin() uwtable {
define internal void @_ZN1fC2Ev(ptr dereferenceable(8) %this) unnamed_addr uwtable #2 align 2 {
";

    #[test]
    fn the_interface_is_exported_and_thread_storage_is_aligned_to_16() {
        assert_eq!(retarget(MODULE, CodeTarget::WINDOWS), EXPECTED);
    }

    #[test]
    fn for_macos_what_is_visible_stays_so() {
        let expected = EXPECTED
            .replace("-m:w", "-m:o")
            .replace("x86_64-pc-windows-gnu", "x86_64-apple-macosx10.12.0")
            .replace("dllexport ", "");
        assert_eq!(retarget(MODULE, CodeTarget::MACOS_X86_64), expected);
    }

    #[test]
    fn apples_processors_have_instructions_for_atomics() {
        let module = "target datalayout = \"e-m:e-p270:32:32-i8:8:32-i16:16:32-i64:64\"\n\
                      attributes #0 = { \"target-features\"=\"+neon,+outline-atomics,+v8a\" }\n";
        let expected = "target datalayout = \"e-m:o-p270:32:32-i64:64\"\n\
                        attributes #0 = { \"target-features\"=\"+neon,+lse,+v8a\" }\n";
        assert_eq!(retarget(module, CodeTarget::MACOS_AARCH64), expected);
    }

    #[test]
    fn the_convention_is_dropped() {
        let module = "define hidden win64cc i32 @f(ptr %x, ...) {\n  %r = call win64cc i32 @g()\n";
        let expected = "define hidden i32 @f(ptr %x, ...) {\n  %r = call i32 @g()\n";
        assert_eq!(without_windows_convention(module), expected);
    }
}
