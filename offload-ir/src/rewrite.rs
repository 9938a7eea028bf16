//! Small rewrites of a module: calling conventions, memory, processors.

use std::collections::BTreeSet;

use offload_workgroup::ir::{Symbol, defined_function, global_name, global_symbol};

/// Functions that clang has not to emit (<https://llvm.org/docs/LangRef.html#linkage-types>).
const INLINE: &str = "define available_externally ";

/// `module` with its inline definitions, which are not emitted, as functions that are, once; if it has such.
///
/// `older` is the same by the rules of 1989, where it has definitions that `module` lacks: `inline` functions are emitted,
/// and `extern inline` ones are not.
pub fn with_inline_definitions(module: &str, older: Option<&str>) -> Option<String> {
    if let Some(text) = older.and_then(|older| with_more_definitions(module, older)) {
        return Some(text);
    }
    let with_line = format!("\n{INLINE}");
    module.contains(&with_line).then(|| module.replace(&with_line, "\ndefine linkonce_odr "))
}

/// `older` with its functions as visible as those of `module`, if it has more of them.
fn with_more_definitions(module: &str, older: &str) -> Option<String> {
    let emitted = definitions(module, false);
    let all = definitions(older, true);
    let is_complete = emitted.iter().all(|name| all.contains(name));
    if !is_complete || all.len() == definitions(module, true).len() {
        return None;
    }
    let mut out = String::with_capacity(older.len());
    for line in older.lines() {
        match defined_function(line).map(|name| emitted.contains(name)) {
            Some(true) => out.push_str(&line.replacen(INLINE, "define ", 1)),
            Some(false) => out.push_str(&line.replacen("define ", "define linkonce_odr ", 1)),
            None => out.push_str(line),
        }
        out.push('\n');
    }
    Some(out)
}

/// Whether one of the functions of [`with_inline_definitions`] may not be inlined.
pub fn has_inline_that_is_not_inlined(module: &str) -> bool {
    let mut groups = BTreeSet::new();
    for line in module.lines().filter(|line| line.starts_with("define linkonce_odr ")) {
        let group = line.rsplit_once(" #").and_then(|(_, rest)| rest.split(' ').next());
        groups.extend(group);
    }
    // Text IR lists the groups after the functions.
    module.lines().any(|line| {
        let group = line.strip_prefix("attributes #").and_then(|rest| rest.split_once(' '));
        group.is_some_and(|(number, words)| groups.contains(number) && words.contains(" noinline "))
    })
}

/// The functions that `module` defines, with those that are not emitted or without.
fn definitions(module: &str, with_inline: bool) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for line in module.lines().filter(|line| line.starts_with("define ")) {
        if with_inline || !line.starts_with(INLINE) {
            names.extend(global_name(line));
        }
    }
    names
}

/// The IR with the calling convention that LLVM 21 and later give kernels, and that LLVM knows for longer.
pub fn with_conventions(text: &str) -> String {
    let mut kernels = BTreeSet::new();
    kernels.extend(text.lines().filter_map(annotated));
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        match defined_function(line) {
            Some(name) if kernels.contains(name) && !line.contains(" ptx_kernel ") => {
                out.push_str(&line.replacen(" void @", " ptx_kernel void @", 1));
            }
            _ => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

/// The kernel in a line `!3 = !{ptr @scale, !"kernel", i32 1}` (<https://docs.nvidia.com/cuda/nvvm-ir-spec/>).
fn annotated(line: &str) -> Option<&str> {
    let Symbol { name, rest } = global_symbol(line.strip_prefix('!')?)?;
    (rest == ", !\"kernel\", i32 1}").then_some(name)
}

/// A copy of `module` in which everything in constant memory is in global memory.
///
/// A `__constant` argument of an OpenCL kernel is a buffer like any other, but PTX's constant memory is a window of
/// its own (<https://docs.nvidia.com/cuda/parallel-thread-execution/#constant-state-space>): a load through such an
/// argument would not read the buffer. Functions that are declared for constant memory become those for global memory.
pub fn in_global_memory(module: &str) -> String {
    let mut declared = BTreeSet::new();
    declared.extend(module.lines().filter_map(declared_function));
    let mut kept = BTreeSet::new();
    let mut out = String::with_capacity(module.len());
    for line in module.lines() {
        let line = rewritten(line, &declared);
        // The function may have been declared for both kinds of memory.
        if declared_function(&line).is_none_or(|name| kept.insert(name.to_string())) {
            out.push_str(&line);
            out.push('\n');
        }
    }
    out
}

fn declared_function(line: &str) -> Option<&str> {
    global_name(line).filter(|_| line.starts_with("declare "))
}

fn rewritten(line: &str, declared: &BTreeSet<&str>) -> String {
    let mut line = line.replace("addrspace(4)", "addrspace(1)");
    for name in declared.iter().filter(|name| name.contains("U3AS4") || name.contains(".p4")) {
        if line.contains(*name) {
            line = line.replace(*name, &name.replace("U3AS4", "U3AS1").replace(".p4", ".p1"));
        }
    }
    line
}

/// The attributes with which clang's front end says for which processor a function is compiled
/// (<https://llvm.org/docs/LangRef.html#function-attributes>).
const ATTRIBUTES: [&str; 2] = [" \"target-cpu\"=\"", " \"target-features\"=\""];

/// `module` without the processor and its features in the attributes of functions: those of the code generator's
/// command line hold then. `None` if functions differ in them, by an attribute `target` for example.
pub fn without_processor(module: &str) -> Option<String> {
    let mut out = String::with_capacity(module.len());
    let mut found: [Option<&str>; 2] = [None; 2];
    for line in module.lines() {
        if !line.starts_with("attributes #") {
            out.push_str(line);
            out.push('\n');
            continue;
        }
        let mut kept = line.to_string();
        for (attribute, found) in ATTRIBUTES.iter().zip(&mut found) {
            let Some((_, rest)) = line.split_once(attribute) else { continue };
            let (value, _) = rest.split_once('"')?;
            if found.replace(value).is_some_and(|other| other != value) {
                return None;
            }
            kept = kept.replacen(&format!("{attribute}{value}\""), "", 1);
        }
        out.push_str(&kept);
        out.push('\n');
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_definitions_are_functions() {
        let module = "\ndefine void @k() #0 {\n}\ndefine available_externally i32 @f() {\n}\n";
        let expected = "\ndefine void @k() #0 {\n}\ndefine linkonce_odr i32 @f() {\n}\n";
        assert_eq!(with_inline_definitions(module, None).as_deref(), Some(expected));
        assert_eq!(with_inline_definitions(expected, None), None);
    }

    /// `@f` is `inline`, `@g` is `inline` and `noinline`, `@e` is `extern inline`.
    #[test]
    fn definitions_of_the_older_rules_are_functions_of_any_file() {
        let module = "define void @k() {\ndefine available_externally i32 @f() {\ndefine i32 @e() {\ndeclare i32 @g()\n";
        let older = "define void @k() {\ndefine i32 @f() {\ndefine available_externally i32 @e() {\ndefine i32 @g() {\n";
        let expected = "define void @k() {\ndefine linkonce_odr i32 @f() {\ndefine i32 @e() {\ndefine linkonce_odr i32 @g() {\n";
        assert_eq!(with_inline_definitions(module, Some(older)).as_deref(), Some(expected));
        let attributes = "attributes #0 = { convergent noinline nounwind }\n";
        let not_inlined = "define linkonce_odr i32 @g() #0 {\n";
        assert!(has_inline_that_is_not_inlined(&format!("{not_inlined}{attributes}")));
        assert!(!has_inline_that_is_not_inlined(&format!("define i32 @g() #0 {{\n{attributes}")));
        // The older rules have no definition of `@e`, or none that is new.
        let lacking = older.replace("define available_externally i32 @e() {\n", "declare i32 @e()\n");
        assert_eq!(with_inline_definitions(module, Some(&lacking)), with_inline_definitions(module, None));
        let plain = "define void @k() {\ndeclare i32 @other()\n";
        assert_eq!(with_inline_definitions(plain, Some(plain)), None);
    }

    #[test]
    fn annotated_functions_get_the_convention() {
        let text = "define dso_local void @_Z1kPf(ptr noundef %a) #0 {\n  ret void\n}\n\
            define dso_local void @helper(ptr %a) #0 {\n  call void @_Z1kPf(ptr %a)\n}\n\
            !nvvm.annotations = !{!1, !2}\n!1 = !{ptr @_Z1kPf, !\"kernel\", i32 1}\n!2 = !{ptr @helper, !\"maxntidx\", i32 64}\n";
        let expected = text.replace("dso_local void @_Z1kPf", "dso_local ptx_kernel void @_Z1kPf");
        assert_eq!(with_conventions(text), expected);
        assert_eq!(with_conventions(&expected), expected);
    }

    #[test]
    fn constant_memory_becomes_global() {
        let module = "@table = internal addrspace(4) constant [2 x float] zeroinitializer\n\
                      define void @_Z4mineU3AS4f(ptr addrspace(4) %p) {\n\
                      \x20 %v = call <4 x float> @_Z6vload4mPU3AS4Kf(i64 0, ptr addrspace(4) %p)\n\
                      }\n\
                      declare <4 x float> @_Z6vload4mPU3AS1Kf(i64, ptr addrspace(1))\n\
                      declare <4 x float> @_Z6vload4mPU3AS4Kf(i64, ptr addrspace(4))\n\
                      declare void @llvm.memcpy.p0.p4.i64(ptr, ptr addrspace(4), i64, i1)\n";
        let expected = "@table = internal addrspace(1) constant [2 x float] zeroinitializer\n\
                        define void @_Z4mineU3AS4f(ptr addrspace(1) %p) {\n\
                        \x20 %v = call <4 x float> @_Z6vload4mPU3AS1Kf(i64 0, ptr addrspace(1) %p)\n\
                        }\n\
                        declare <4 x float> @_Z6vload4mPU3AS1Kf(i64, ptr addrspace(1))\n\
                        declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)\n";
        assert_eq!(in_global_memory(module), expected);
    }

    const ONE: &str = "define void @k() #0 {\n\
        attributes #0 = { convergent \"no-trapping-math\"=\"true\" \"target-cpu\"=\"gfx906\" \"target-features\"=\"+a,+b\" \"z\"=\"1\" }\n\
        attributes #1 = { nounwind }\n\
        attributes #2 = { \"target-cpu\"=\"gfx906\" \"target-features\"=\"+a,+b\" }\n";

    #[test]
    fn the_processor_goes_and_all_else_stays() {
        let wanted = "define void @k() #0 {\n\
            attributes #0 = { convergent \"no-trapping-math\"=\"true\" \"z\"=\"1\" }\n\
            attributes #1 = { nounwind }\n\
            attributes #2 = { }\n";
        assert_eq!(without_processor(ONE).unwrap(), wanted);
    }

    #[test]
    fn functions_for_different_processors_stay_as_they_are() {
        let other = ONE.replacen("+a,+b", "+a", 1);
        assert_eq!(without_processor(&other), None);
    }
}
