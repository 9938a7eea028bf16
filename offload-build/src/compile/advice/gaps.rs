//! Features of OpenCL C without code generation: recursion, device-side enqueue and pipes, and images on some targets.

use offload_format::pack::ArgKind;
use offload_format::section::HOST_SUB_GROUP_SIZES;
use offload_format::{AmdArch, Target};
use offload_workgroup::WARP_SIZE;
use offload_workgroup::ir::declared_functions;

use crate::compile::session::{Scan, Scanned, Session};
use crate::compile::steps::action::written;
use crate::error::{Error, ErrorKind, Result};
use crate::fs;

/// Refuses what OpenCL C forbids, which clang does not look for.
pub(crate) fn refuse_recursion(session: &Session<'_>, file: &Scanned) -> Result<()> {
    if !file.file.language.has_opencl_functions() {
        return Ok(());
    }
    let kernels: Vec<&str> = file.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    let Some(cycle) = offload_ir::recursion(&file.ir.read_text()?, &kernels) else { return Ok(()) };
    let names: Vec<String> = cycle.iter().map(|name| format!("`{}`", name_of(name))).collect();
    let first = names.first().cloned().unwrap_or_default();
    let text = match names.get(1..).unwrap_or_default() {
        [] => format!("{first} calls itself"),
        others => format!("{first} calls {}, which calls {first}", others.join(", which calls ")),
    };
    let place = place(session, file, &cycle);
    Err(Error::new(format!("{place}: {text}: OpenCL C has no recursion"))
        .with_hint("write a loop, with an array for what each call keeps"))
}

/// Refuses what drivers may have, and none of the compilers for other targets than `opencl-c`.
pub(crate) fn refuse_lacking(scan: &Scan) -> Result<()> {
    for file in &scan.files {
        let text = file.ir.read_text()?;
        let lacking = declared_functions(&text).into_iter().find_map(gap);
        let Some(gap) = lacking else { continue };
        let path = file.file.path.display();
        return Err(
            Error::new(format!("`{path}` uses {}, which this target lacks", gap.what)).with_hint(gap.hint)
        );
    }
    Ok(())
}

/// Refuses kernels with images or samplers, for targets whose drivers pass none.
pub(crate) fn refuse_images(session: &Session<'_>, scan: &Scan) -> Result<()> {
    for file in &scan.files {
        for kernel in &file.kernels {
            let taken = kernel.args.iter().find(|arg| matches!(arg.kind, ArgKind::Image | ArgKind::Sampler));
            let Some(arg) = taken else { continue };
            let place = place(session, file, std::slice::from_ref(&kernel.name));
            let error = format!(
                "{place}: kernel `{}` takes the {} `{}`, and NVIDIA and AMD GPUs are given none",
                kernel.name, arg.kind, arg.name
            );
            let hint = format!(
                "write `kernels.{}.targets = [{IMAGE_TARGETS}]` below `[modules.{}]` in offload.toml, or pass a buffer",
                kernel.name, session.sources.module
            );
            return Err(Error::new(error).with_hint(hint));
        }
    }
    Ok(())
}

/// Refuses kernels that require a sub-group size that the target lacks. Drivers check those for other targets.
pub(crate) fn refuse_sub_group_size(session: &Session<'_>, scan: &Scan, target: &Target) -> Result<()> {
    let sizes: &[u32] = match target {
        Target::Host(_) => &HOST_SUB_GROUP_SIZES,
        Target::Nvptx(_) | Target::Cubin(_) => &[WARP_SIZE],
        Target::Amdgcn(arch) => &[wave_size(arch)],
        _ => return Ok(()),
    };
    for file in &scan.files {
        for kernel in &file.kernels {
            let Some(required) = kernel.required_sub_group.filter(|size| !sizes.contains(size)) else {
                continue;
            };
            let place = place(session, file, std::slice::from_ref(&kernel.name));
            let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
            let sizes = sizes.join(", ");
            let error = format!(
                "{place}: kernel `{}` requires sub-groups of {required} work-items, and `{target}` has those of {sizes}",
                kernel.name
            );
            let hint = format!(
                "call `get_max_sub_group_size()` in place of `intel_reqd_sub_group_size`, or write \
                 `kernels.{}.targets` below `[modules.{}]` in offload.toml for the targets that have the size",
                kernel.name, session.sources.module
            );
            return Err(Error::new(error).with_hint(hint));
        }
    }
    Ok(())
}

/// The lanes of a wave, as clang compiles for the processor: 32 from RDNA on
/// (<https://llvm.org/docs/AMDGPUUsage.html#processors>).
fn wave_size(arch: &AmdArch) -> u32 {
    let name = arch.to_string();
    if ["gfx10", "gfx11", "gfx12"].iter().any(|start| name.starts_with(start)) { 32 } else { 64 }
}

/// The kinds of targets that have images.
const IMAGE_TARGETS: &str = "\"host\", \"opencl-c\", \"spirv64\", \"intel\"";

/// `error`, with what helps if a front end did not know a function or a type of a gap.
pub(crate) fn explained(error: Error) -> Error {
    if error.kind() != ErrorKind::Tool || error.hint().is_some() {
        return error;
    }
    let printed = error.message();
    let gap = GAPS.iter().find(|gap| gap.names.iter().any(|name| is_unknown(name, printed)));
    match gap {
        Some(gap) => error.with_hint(gap.hint),
        None => error,
    }
}

/// Whether a front end has `printed` that it does not know a function or a type of this name.
fn is_unknown(name: &str, printed: &str) -> bool {
    let end = if name.ends_with('_') { "" } else { "'" };
    ["undeclared identifier", "undeclared function", "unknown type name"]
        .iter()
        .any(|what| printed.contains(&format!("{what} '{name}{end}")))
}

struct Gap {
    what: &'static str,
    /// Its functions and types in sources; what ends in `_` is the beginning of a name.
    names: &'static [&'static str],
    /// What its functions begin with in IR.
    symbols: &'static [&'static str],
    hint: &'static str,
}

const GAPS: [Gap; 4] = [
    Gap {
        what: "functions of sub-groups",
        names: &[
            "sub_group_",
            "get_sub_group_",
            "get_max_sub_group_",
            "get_num_sub_",
            "get_enqueued_num_sub_",
        ],
        symbols: &[],
        hint: "write `std = \"3.0\"` for the module, as they are of OpenCL C 2.0 and later, and guard the call with `#ifdef cl_khr_subgroups`, or with the name of the extension that has the function: docs/BUILTINS.md of cargo-offload lists what each kind of target has",
    },
    Gap {
        what: "`enqueue_kernel` (kernels that launch kernels)",
        names: &[
            "enqueue_kernel",
            "get_default_queue",
            "queue_t",
            "ndrange_",
            "clk_event_t",
            "get_kernel_work_group_size",
        ],
        symbols: &["__enqueue_kernel", "__get_kernel_"],
        hint: "launch the second kernel from Rust, behind the first in one stream; `opencl-c` alone leaves it to the driver",
    },
    Gap {
        what: "pipes",
        names: &["read_pipe", "write_pipe", "reserve_read_pipe", "reserve_write_pipe", "pipe", "get_pipe_"],
        symbols: &[
            "__read_pipe",
            "__write_pipe",
            "__reserve_",
            "__commit_",
            "__get_pipe_",
            "__work_group_reserve_",
        ],
        hint: "pass a buffer, with an atomic counter for its end, in place of the pipe",
    },
    Gap {
        what: "functions of sub-groups of Intel's own",
        names: &["intel_sub_group_"],
        symbols: &["_Z23intel_sub_group_shuffle"],
        hint: "call `sub_group_shuffle` and its kin, for targets from `spirv64:v1.3` on, or guard the call with `#ifdef cl_intel_subgroups`",
    },
];

fn gap(symbol: &str) -> Option<&'static Gap> {
    GAPS.iter().find(|gap| gap.symbols.iter().any(|start| symbol.starts_with(start)))
}

fn name_of(symbol: &str) -> String {
    let name = written(symbol.trim_start_matches(offload_ir::BODY_PREFIX));
    name.split(' ').next().unwrap_or_default().to_string()
}

/// The file, with the line that defines the first function of `cycle` if it is plain to see.
fn place(session: &Session<'_>, file: &Scanned, cycle: &[String]) -> String {
    let path = &file.file.path;
    let text = fs::read_text(&session.env().manifest_dir.join(path)).unwrap_or_default();
    let name = cycle.first().map(|name| name_of(name)).unwrap_or_default();
    match text.lines().position(|line| is_definition(line, &name)) {
        Some(index) => format!("{}:{}", path.display(), index.saturating_add(1)),
        None => path.display().to_string(),
    }
}

fn is_definition(line: &str, function: &str) -> bool {
    let Some((before, _)) = line.split_once(&format!("{function}(")) else { return false };
    let before = before.trim();
    !before.is_empty()
        && !before.contains(['(', '=', '{', ';', '/'])
        && before != "return"
        && !line.ends_with(';')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_found_by_their_symbols() {
        assert_eq!(gap("__enqueue_kernel_basic").map(|gap| gap.names[0]), Some("enqueue_kernel"));
        assert_eq!(gap("__read_pipe_2").map(|gap| gap.what), Some("pipes"));
        assert!(gap("_Z13get_global_idj").is_none());
    }

    fn hint(text: &str) -> Option<String> {
        let error = explained(Error::new(text).with_kind(ErrorKind::Tool));
        error.hint().map(str::to_string)
    }

    #[test]
    fn unknown_names_of_a_gap_are_explained() {
        let hint_of_queue = hint("a.cl:1:2: error: use of undeclared identifier 'enqueue_kernel'").unwrap();
        assert!(hint_of_queue.contains("stream"), "{hint_of_queue}");
        assert!(hint("a.cl:1:2: error: unknown type name 'pipe'").is_some());
        assert!(hint("a.cl:1:2: error: unknown type name 'ndrange_t'").is_some());
        for name in ["mine", "pipeline", "queue_two"] {
            assert_eq!(hint(&format!("a.cl:1:2: error: unknown type name '{name}'")), None, "{name}");
        }
    }
}
