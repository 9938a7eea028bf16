//! Making a linked module ready for a GPU's code generator: only kernels are visible, `__local` arguments are sizes.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use offload_format::pack::ArgKind;
use offload_workgroup::ir::{
    Parameter, Parameters, Symbol, defined_function, global_name, global_symbol, parameters,
};

use crate::{argument_kind, is_kernel};

/// What the module has to be for a code generator.
#[derive(Debug, Default)]
pub struct Prepared<'a> {
    /// The kernels to keep; all other functions become internal, and unused ones are dropped.
    pub kernels: &'a [&'a str],
    /// Function attributes by kernel, as `"nvvm.maxnreg"="64"`.
    pub attributes: BTreeMap<&'a str, String>,
    /// The form of arguments in local memory.
    pub local_arguments: LocalArguments,
}

/// What becomes of kernel arguments that point to local memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LocalArguments {
    /// The runtime knows how to pass them.
    #[default]
    Kept,
    /// They become byte offsets into dynamic shared memory: CUDA's driver gives a pointer no memory, and HIP's runtime
    /// has memory for one. Kernels without a body of its own, as clang makes them before LLVM 21, keep theirs.
    Offsets,
}

/// What clang calls the body of an OpenCL kernel since LLVM 21; the kernel itself only calls it.
pub const BODY_PREFIX: &str = "__clang_ocl_kern_imp_";
/// Dynamic shared memory, whose size the launch gives.
const DYNAMIC: &str = "__offload_dynamic_shared";

/// Rewrites `module`.
///
/// Hiding everything but the kernels halves the code: since LLVM 21 clang emits a second copy of each kernel for
/// calls from other kernels.
pub fn prepare(module: &str, wanted: &Prepared<'_>) -> String {
    let mut out = String::with_capacity(module.len() + 4096);
    let bodies_of: BTreeSet<&str> = module.lines().filter_map(body_of).collect();
    let mut lines = module.lines();
    let mut dynamic = false;
    let mut bodies = BTreeSet::new();
    while let Some(line) = lines.next() {
        bodies.extend(body_attributes(line));
        let stub = line.starts_with("define ").then(|| local_stub(line, wanted)).flatten();
        let stub = stub.filter(|_| global_name(line).is_some_and(|name| bodies_of.contains(name)));
        if let Some(stub) = stub {
            out.push_str(&stub);
            lines.by_ref().take_while(|line| *line != "}").for_each(drop);
            dynamic = true;
        } else {
            out.push_str(&line_for(line, wanted, &bodies));
            out.push('\n');
        }
    }
    if dynamic {
        let _ = writeln!(out, "@{DYNAMIC} = external addrspace(3) global [0 x i8], align 16");
    }
    out
}

fn line_for<'a>(line: &'a str, wanted: &Prepared<'_>, bodies: &BTreeSet<&str>) -> Cow<'a, str> {
    if let Some((group, _)) = line.strip_prefix("attributes #").and_then(|rest| rest.split_once(' '))
        && bodies.contains(group)
    {
        return inlined(line);
    }
    if !line.starts_with("define ") {
        return Cow::Borrowed(line);
    }
    let Some(name) = global_name(line) else { return Cow::Borrowed(line) };
    if wanted.kernels.contains(&name) && is_kernel(line) {
        return with_attributes(line, wanted.attributes.get(name));
    }
    internal(line)
}

/// The first line of a definition as that of a function which only its module sees.
pub(crate) fn internal(line: &str) -> Cow<'_, str> {
    let Some(definition) = line.strip_prefix("define ") else { return Cow::Borrowed(line) };
    let linkage = definition.split(' ').next().unwrap_or_default();
    // Instances of templates are discarded when unused, with what else is of their group.
    let grouped = matches!(linkage, "linkonce_odr" | "linkonce") && line.contains(" comdat");
    if grouped || matches!(linkage, "internal" | "private") {
        return Cow::Borrowed(line);
    }
    // What is internal has no visibility of its own. A kernel that is not wanted here becomes a function.
    let drop_words = [
        "available_externally ",
        "linkonce_odr ",
        "linkonce ",
        "weak_odr ",
        "weak ",
        "hidden ",
        "protected ",
        "spir_kernel ",
        "ptx_kernel ",
        "amdgpu_kernel ",
    ];
    let (before, after) = definition.split_once('@').unwrap_or((definition, ""));
    let before = drop_words.iter().fold(before.to_string(), |text, word| text.replace(word, ""));
    let kernel = is_kernel(line) && line.contains(" spir_kernel ");
    let convention = if kernel { "spir_func " } else { "" };
    Cow::Owned(format!("define internal {}@{after}", insert_convention(&before, convention)))
}

/// The number of the attribute group of a kernel's body; text IR lists the groups after the functions.
fn body_attributes(line: &str) -> Option<&str> {
    let is_body = line.starts_with("define ") && global_name(line)?.starts_with(BODY_PREFIX);
    is_body.then(|| line.split(" #").last()?.split(' ').next()).flatten()
}

/// The kernel whose body `line` begins.
fn body_of(line: &str) -> Option<&str> {
    let name = defined_function(line)?;
    name.strip_prefix(BODY_PREFIX)
}

/// For NVIDIA clang forbids to inline kernels, and their bodies with them: each launch would pay for a call, and the
/// body would know nothing of the kernel's work-group size.
fn inlined(group: &str) -> Cow<'_, str> {
    if group.contains(" optnone ") {
        // Without optimisation a debugger wants the function as it is.
        Cow::Borrowed(group)
    } else {
        Cow::Owned(group.replace(" noinline ", " alwaysinline "))
    }
}

/// A calling convention stands before the return type, which for a kernel is `void`.
fn insert_convention(before: &str, convention: &str) -> String {
    before.replace("void ", &format!("{convention}void "))
}

fn with_attributes<'a>(line: &'a str, attributes: Option<&String>) -> Cow<'a, str> {
    let split = attributes.and_then(|text| Some((text, line.rsplit_once(" #")?)));
    match split {
        Some((text, (before, group))) => Cow::Owned(format!("{before} {text} #{group}")),
        None => Cow::Borrowed(line),
    }
}

/// The kernel of `line` with offsets for its local arguments, if it has such and that is wanted.
fn local_stub(line: &str, wanted: &Prepared<'_>) -> Option<String> {
    let Symbol { name, rest } = global_symbol(line)?;
    let Parameters { list: params, rest: tail } = parameters(rest)?;
    let concerned = wanted.local_arguments == LocalArguments::Offsets && wanted.kernels.contains(&name);
    if !concerned || !is_kernel(line) || !params.iter().any(is_local) {
        return None;
    }
    let head = line.split_once('@')?.0;
    let mut taken = Vec::new();
    let mut passed = Vec::new();
    let mut body = String::new();
    for (index, param) in params.iter().enumerate() {
        if is_local(param) {
            let _ = writeln!(
                body,
                "  %offload.local.{index} = getelementptr inbounds i8, ptr addrspace(3) @{DYNAMIC}, i64 %{}",
                param.name()
            );
            taken.push(format!("i64 noundef %{}", param.name()));
            passed.push(format!("ptr addrspace(3) noundef align 16 %offload.local.{index}"));
        } else {
            taken.push(param.text.to_string());
            passed.push(param.text.to_string());
        }
    }
    let place = debug_place(tail);
    let line = format!("{head}@{name}({}){tail}", taken.join(", "));
    let line = with_attributes(&line, wanted.attributes.get(name)).into_owned();
    let passed = passed.join(", ");
    Some(format!("{line}\n{body}  call void @{BODY_PREFIX}{name}({passed}){place}\n  ret void\n}}\n"))
}

fn is_local(param: &Parameter<'_>) -> bool {
    argument_kind(param) == ArgKind::Local
}

/// Where a call of a kernel's body stands, if the kernel with this `tail` has debug information: without a place LLVM drops
/// that of the whole module (<https://llvm.org/docs/SourceLevelDebugging.html>).
fn debug_place(tail: &str) -> String {
    let number = tail.split_once(" !dbg !").map(|(_, rest)| rest.split(' ').next().unwrap_or_default());
    number.map(|scope| format!(", !dbg !DILocation(line: 0, scope: !{scope})")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "\
define dso_local ptx_kernel void @k(ptr addrspace(1) noundef %0, ptr addrspace(3) noundef align 4 %1) #0 !m !1 {
  store i32 0, ptr %0
  ret void
}
define dso_local void @__clang_ocl_kern_imp_k(ptr addrspace(1) noundef %0, ptr addrspace(3) noundef align 4 %1) #1 {
  ret void
}
define hidden float @helper(float %0) #1 {
define linkonce_odr void @inline() comdat {
define linkonce_odr hidden void @plain() {
define protected spir_kernel void @other() #0 {
";

    fn wanted<'a>(kernels: &'a [&'a str], local_arguments: LocalArguments) -> Prepared<'a> {
        Prepared { kernels, attributes: BTreeMap::new(), local_arguments }
    }

    #[test]
    fn everything_but_the_kernels_is_hidden() {
        let text = prepare(MODULE, &wanted(&["k"], LocalArguments::Kept));
        assert!(text.starts_with("define dso_local ptx_kernel void @k("), "{text}");
        assert!(text.contains("define internal dso_local void @__clang_ocl_kern_imp_k("), "{text}");
        assert!(text.contains("define internal float @helper("), "{text}");
        assert!(text.contains("define linkonce_odr void @inline("), "{text}");
        assert!(text.contains("define internal void @plain("), "{text}");
        assert!(text.contains("define internal spir_func void @other() #0"), "{text}");
    }

    #[test]
    fn local_arguments_become_offsets() {
        let text = prepare(MODULE, &wanted(&["k"], LocalArguments::Offsets));
        let stub = "define dso_local ptx_kernel void @k(ptr addrspace(1) noundef %0, i64 noundef %1) #0 !m !1 {\n  \
                    %offload.local.1 = getelementptr inbounds i8, ptr addrspace(3) @__offload_dynamic_shared, i64 %1\n  \
                    call void @__clang_ocl_kern_imp_k(ptr addrspace(1) noundef %0, ptr addrspace(3) noundef align 16 %offload.local.1)\n  \
                    ret void\n}\n";
        assert!(text.starts_with(stub), "{text}");
        assert!(text.contains("@__offload_dynamic_shared = external addrspace(3) global [0 x i8], align 16"));
        assert!(!text.contains("store i32"), "{text}");
    }

    #[test]
    fn debug_information_stays() {
        let module = MODULE.replacen("#0 !m !1 {", "#0 !dbg !7 !m !1 {", 1);
        let text = prepare(&module, &wanted(&["k"], LocalArguments::Offsets));
        assert!(text.contains("%offload.local.1), !dbg !DILocation(line: 0, scope: !7)\n"), "{text}");
    }

    /// clang of LLVM 20 and before.
    #[test]
    fn kernels_without_bodies_keep_their_local_arguments() {
        let module = MODULE.replace("@__clang_ocl_kern_imp_k(", "@other_body(");
        let text = prepare(&module, &wanted(&["k"], LocalArguments::Offsets));
        assert!(
            text.contains("@k(ptr addrspace(1) noundef %0, ptr addrspace(3) noundef align 4 %1)"),
            "{text}"
        );
        assert!(!text.contains("__offload_dynamic_shared"), "{text}");
    }

    #[test]
    fn bodies_are_inlined_into_their_kernels() {
        let groups = "\
attributes #0 = { convergent noinline nounwind }
attributes #1 = { convergent noinline nounwind }
attributes #11 = { noinline nounwind }
";
        let module =
            format!("{MODULE}{groups}").replace("%0) #1 {\ndefine linkonce", "%0) #11 {\ndefine linkonce");
        let text = prepare(&module, &wanted(&["k"], LocalArguments::Kept));
        assert!(text.contains("attributes #0 = { convergent noinline nounwind }"), "{text}");
        assert!(text.contains("attributes #1 = { convergent alwaysinline nounwind }"), "{text}");
        assert!(text.contains("attributes #11 = { noinline nounwind }"), "{text}");
        let debug = module.replace("noinline nounwind", "noinline nounwind optnone");
        assert!(!prepare(&debug, &wanted(&["k"], LocalArguments::Kept)).contains("alwaysinline"));
    }

    #[test]
    fn attributes_go_to_their_kernel() {
        let attributes = [("k", "\"nvvm.maxnreg\"=\"64\"".to_string())].into();
        let text = prepare(MODULE, &Prepared { kernels: &["k", "other"], attributes, ..Prepared::default() });
        assert!(text.contains("align 4 %1) \"nvvm.maxnreg\"=\"64\" #0 !m !1 {"), "{text}");
        assert_eq!(text.matches("maxnreg").count(), 1);
    }
}
