//! `host`: a shared object for the program's own CPU, a DLL on Windows and a dynamic library on macOS, which offload-rt loads
//! and runs without any driver.
//!
//! Each kernel `K` is exported as `__offload_run_K(group, args, first, last)`, which runs a box of work-items of one
//! work-group (`host_shim.c` has the types). The functions of OpenCL C come from PoCL's library of LLVM bitcode.
//!
//! The front end gives functions of one work-item. What can wait is inlined into them, the optimiser makes them small,
//! they are cut where work-items wait, and become loops over the work-items of a group, which are optimised again.

mod cpu;
mod half;
mod half_functions;
pub(crate) mod image_functions;
mod macos;
mod math_functions;
mod sources;
pub(crate) mod sub_group_functions;
mod windows;
mod wrapper;

use std::collections::{BTreeMap, BTreeSet};

use offload_format::{Aspects, HostLevel, SpirvVersion, Target};
use offload_ir::Kernel;
use offload_workgroup::ir::{declared_functions, functions_reaching};
use offload_workgroup::{InterleaveGroups, ModulePart, Options, PartSize, Validity};

use self::cpu::System;
pub(crate) use self::cpu::{Cpu, cpu, refusal};

use crate::cache::{Blob, KeyBuilder, read_texts};
use crate::compile::Session;
use crate::compile::front_end;
use crate::compile::front_end::reading::FrontEnd;
use crate::compile::linking::imports::{self, LibraryIr};
use crate::compile::session::{Scanned, Unit};
use crate::compile::steps::action::{Arg, Step, link_args, texts};
use crate::compile::steps::check;
use crate::compile::targets::gpu::ToLink;
use crate::compile::targets::nvptx;
use crate::compile::targets::spirv;
use crate::error::{self, Error, Result};
use crate::module::{DeviceImage, SourceFile};

const SHIM: &str = include_str!("../device/host_shim.c");
const PRINTF: &str = include_str!("../device/host_printf.c");
const ASSERT: &str = include_str!("../device/host_assert.c");
const CHECKS: &str = include_str!("../device/host_checks.c");
const WARPS: &str = include_str!("../device/host_warps.c");
const ATOMICS: &str = include_str!("../device/host_atomics_aarch64.c");

pub(crate) fn compile(session: &Session<'_>, unit: &Unit<'_>, level: HostLevel) -> Result<DeviceImage> {
    let cpu = cpu(session, level)?;
    let ToLink { module: linked, left } = link(session, unit, &cpu)?;
    let linked = with_checks(session, linked)?;
    let linked = with_waiting_library(session, linked, &cpu)?;
    let text = linked.read_text()?;
    let waiting = functions_reaching(&text, offload_workgroup::is_barrier);
    let parts = parts(session, unit, linked, &text)?;
    drop(text);
    let objects = session.context().jobs.map(&parts, |part| {
        let work_items = work_items(session, &part.module, &waiting, &cpu)?;
        let groups = groups(session, part, &work_items, &cpu)?;
        codegen(session, &groups, &cpu)
    });
    let objects = error::all(objects)?;
    let bytes = shared_object(session, &unit.names(), &objects, &cpu)?;

    let mut image = unit.image_record(session, Target::Host(level));
    image.kernels.clear();
    image.imports = imports::providers(&left);
    if !left.is_empty() {
        image.aspects = image.aspects | Aspects::LINKER;
    }
    let sizes = check::host_argument_sizes(&bytes.read()?)?;
    for kernel in &unit.kernels {
        let sizes = sizes.get(&kernel.name).cloned().unwrap_or_default();
        let mut record = kernel.record();
        // Asked of our own function: PoCL's headers rename a kernel that is called like a function of OpenCL C.
        record.has_barrier =
            waiting.contains(&format!("{}{}", offload_workgroup::WORK_ITEM_PREFIX, kernel.name));
        for (arg, size) in record.args.iter_mut().flatten().zip(sizes) {
            arg.size = Some(size);
        }
        image.kernels.push(record);
    }
    Ok(DeviceImage { record: image, bytes })
}

/// A module that is compiled apart.
struct Part<'u> {
    kernels: Vec<&'u Kernel>,
    module: Blob,
    /// Whether it is not the whole: what is of the runtime is in other parts, too.
    is_partial: bool,
}

/// Kernels of a part of a large module, about. An edit of one costs as much as a part; starting compilers costs as much as
/// some ten small kernels.
const PART_SIZE: PartSize = PartSize { kernels: 48, lines: 6000 };

/// The parts of a large module, which results are cached of one by one, or the whole of another.
fn parts<'u>(session: &Session<'_>, unit: &Unit<'u>, linked: Blob, text: &str) -> Result<Vec<Part<'u>>> {
    let may_split = !session.env().is_sanitized() && !session.sources.has_cuda();
    let split = if may_split { offload_workgroup::split_module(text, PART_SIZE) } else { None };
    let Some(split) = split else {
        return Ok(vec![Part { kernels: unit.kernels.clone(), module: linked, is_partial: false }]);
    };
    let mut by_name = BTreeMap::new();
    by_name.extend(unit.kernels.iter().map(|kernel| (kernel.name.as_str(), *kernel)));
    let mut parts = Vec::new();
    for ModulePart { kernels, text } in split {
        let kernels = kernels.iter().filter_map(|name| by_name.get(name.as_str()).copied()).collect();
        let key = KeyBuilder::new("host part").part(text.as_bytes()).finish();
        let module = session.cache().get_or::<Error>(key, || Ok(text.into_bytes()))?;
        parts.push(Part { kernels, module, is_partial: true });
    }
    Ok(parts)
}

/// Whether work-items wait inside this function of PoCL's library.
pub(crate) fn waits_in_library(name: &str) -> bool {
    name.contains("wait_group_events") || name.contains("async_work_group") || name.contains("work_group_")
}

/// All files with their entries, and the shim, as one module of text.
///
/// What is linked at load is called through pointers.
fn link(session: &Session<'_>, unit: &Unit<'_>, cpu: &Cpu) -> Result<ToLink> {
    let libraries = libraries(session, cpu)?;
    let at_load = session.sources.link_at_load();
    let mut modules = error::all(unit.scan.files.iter().map(|file| sources::file_ir(session, file, cpu)))?;
    let linked_here = libraries.iter().filter(|_| !at_load);
    let all = modules.iter().chain(linked_here.map(|library| &library.ir));
    let texts = read_texts(all)?;
    if texts.iter().any(|text| sources::has_generic_atomics(text)) {
        modules.push(sources::generic_atomics(session, cpu)?);
    }
    if let Some(source) = half_functions::source(&texts) {
        modules.push(sources::functions(session, cpu, "host functions of half", source)?);
    }
    if session.sources.has_cuda() {
        modules.push(sources::cuda_math(session, cpu)?);
    }
    // Without optimisations, those of the library are faster: they are optimised already.
    if cpu.has_fma() && !inspectable(session) {
        let texts = read_texts(&modules)?;
        if let Some(source) = math_functions::source(&texts) {
            modules.push(sources::functions(session, cpu, "host functions of mathematics", source)?);
        }
    }
    if let Some(source) = image_functions::source(&texts) {
        modules.push(c_functions(session, cpu, "host functions of images", source)?);
    }
    let sub_groups = sub_group_functions::source(&texts);
    let has_warps = session.sources.has_cuda() || sub_groups.is_some();
    if let Some(source) = sub_groups {
        modules.push(c_functions(session, cpu, "host functions of sub-groups", source)?);
    }
    let shim = c_functions(session, cpu, "host shim", shim(session, cpu, &texts, has_warps))?;
    modules.push(match cpu.system {
        System::Linux | System::MacOs => shim,
        System::Windows => windows::with_one_convention(session, &shim)?,
    });
    let tool = session.tools().llvm_link()?;
    let inputs: Vec<_> = modules.iter().map(|module| (module, ".ll")).collect();
    let args = link_args(inputs.len());
    let step = Step { name: "link host", tool: &tool, args, inputs, files: vec![] };
    let module = session.step(&step, check::ir_text)?;
    if !at_load {
        return Ok(ToLink { module: imports::link(session, module, &libraries)?, left: Vec::new() });
    }
    let left = imports::left(session, &module, &libraries)?;
    let mut names = BTreeSet::new();
    names.extend(left.iter().map(|function| function.name.as_str()));
    let key =
        KeyBuilder::new("calls through pointers").part(&module.hash.0).part(format!("{names:?}").as_bytes());
    let module = session.cache().get_or::<Error>(key.finish(), || {
        Ok(offload_ir::through_pointers(&module.read_text()?, &names).into_bytes())
    })?;
    Ok(ToLink { module, left })
}

/// The functions of one work-item of a file in CUDA C++, as clang writes them with further `flags`.
pub(crate) fn cuda_ir(
    session: &Session<'_>,
    file: &SourceFile,
    level: HostLevel,
    flags: &[&str],
) -> Result<Blob> {
    sources::cuda_ir(session, file, &cpu(session, level)?, flags)
}

pub(crate) fn libraries<'s>(session: &Session<'s>, cpu: &Cpu) -> Result<Vec<LibraryIr<'s>>> {
    let libraries = session.sources.libraries().into_iter();
    error::all(
        libraries
            .map(|library| Ok(LibraryIr { library, ir: library_ir(&session.for_library(library), cpu)? })),
    )
}

/// The library whose session this is as one module of IR.
pub(crate) fn library(session: &Session<'_>, level: HostLevel) -> Result<Blob> {
    library_ir(session, &cpu(session, level)?)
}

pub(crate) fn library_ir(session: &Session<'_>, cpu: &Cpu) -> Result<Blob> {
    let scanner = if session.sources.has_cuda() {
        nvptx::backend_for_kernels(session)?
    } else {
        spirv::backend(SpirvVersion::default())
    };
    let modules = error::all(session.sources.files.iter().map(|file| {
        let scanned = Scanned::new(file, scanner.front_end(session, file)?, Vec::new());
        sources::file_ir(session, &scanned, cpu)
    }))?;
    let tool = session.tools().llvm_link()?;
    let inputs: Vec<_> = modules.iter().map(|module| (module, ".ll")).collect();
    let args = link_args(inputs.len());
    session.step(&Step { name: "link host", tool: &tool, args, inputs, files: vec![] }, check::ir_text)
}

/// What kernels with this IR need beside PoCL's library: most neither print nor assert.
fn shim(session: &Session<'_>, cpu: &Cpu, texts: &[String], has_warps: bool) -> String {
    let mut shim = SHIM.to_string();
    match cpu.system {
        System::Linux if cpu.is_aarch64 => shim.push_str(ATOMICS),
        System::Windows => shim.insert_str(0, windows::MACRO),
        System::MacOs if cpu.is_aarch64 => shim.insert_str(0, macos::MACRO),
        System::Linux | System::MacOs => {}
    }
    if session.env().is_sanitized() {
        shim.push_str(CHECKS);
    }
    if has_warps {
        shim.push_str(WARPS);
    }
    for (function, source) in [("@__offload_printf(", PRINTF), ("@__offload_assert_fail(", ASSERT)] {
        if texts.iter().any(|text| text.contains(function)) {
            shim.push_str(source);
        }
    }
    shim
}

/// `linked`, which tells what it does if it is asked to: before anything is optimised, so that none of the source is missing.
fn with_checks(session: &Session<'_>, linked: Blob) -> Result<Blob> {
    if !session.env().is_sanitized() {
        return Ok(linked);
    }
    let key = KeyBuilder::new("host checks").part(&linked.hash.0).finish();
    session
        .cache()
        .get_or::<Error>(key, || Ok(offload_workgroup::add_checks(&linked.read_text()?).into_bytes()))
}

/// `linked` with the functions of PoCL's library, where some of them wait: they are cut like the kernels.
fn with_waiting_library(session: &Session<'_>, linked: Blob, cpu: &Cpu) -> Result<Blob> {
    if !declared_functions(&linked.read_text()?).into_iter().any(waits_in_library) {
        return Ok(linked);
    }
    let args = ["-O0", "-Xclang", "-disable-llvm-passes"];
    cpu.step(session, "host library of functions", &args, &linked)
}

/// The functions of one work-item: optimised, and with all that can wait inside.
fn work_items(session: &Session<'_>, linked: &Blob, waiting: &BTreeSet<String>, cpu: &Cpu) -> Result<Blob> {
    let level: &[&str] = if inspectable(session) {
        if waiting.is_empty() {
            return Ok(linked.clone());
        }
        &["-O0"]
    } else {
        // Work-item loops are vectorised later, and nothing inside of a work-item. Short loops, as over the neighbours of a
        // pixel, are unrolled: then LLVM vectorises the loop around them, and no loop has to be interchanged with it. A phi
        // of equal addresses would be stored across barriers.
        &[
            "-O2",
            "-fno-vectorize",
            "-fno-slp-vectorize",
            "-mllvm",
            "-unroll-full-max-count=8",
            "-mllvm",
            "-unroll-allow-peeling=false",
            "-mllvm",
            "-unroll-allow-partial=false",
            "-mllvm",
            "-unroll-runtime=false",
            "-mllvm",
            "-disable-vector-combine",
            "-mllvm",
            "-enable-pre=false",
        ]
    };
    let key = KeyBuilder::new("waiting functions inlined").part(&linked.hash.0).finish();
    let marked = session.cache().get_or::<Error>(key, || {
        Ok(offload_workgroup::prepare_work_items(&linked.read_text()?).into_bytes())
    })?;
    cpu.step(session, "host work-items", level, &marked)
}

/// The functions that run a work-group, with memory of each thread's own.
fn groups(session: &Session<'_>, part: &Part<'_>, work_items: &Blob, cpu: &Cpu) -> Result<Blob> {
    // A build that checks kernels relies on none of the rules that it checks.
    let validity = if session.env().is_sanitized() { Validity::Checked } else { Validity::Assumed };
    let mut key = KeyBuilder::new("host work-groups").part(&work_items.hash.0);
    key = key.part(format!("{validity:?}").as_bytes());
    key = key.part(&cpu.vector_bits.to_le_bytes());
    key = key.part(&[u8::from(part.is_partial), u8::from(inspectable(session))]);
    for kernel in &part.kernels {
        let sizes = (kernel.required_work_group, kernel.launch_bound, kernel.required_sub_group);
        key = key.part(format!("{} {sizes:?}", kernel.name).as_bytes());
    }
    session.cache().get_or::<Error>(key.finish(), || {
        let kernels: Vec<_> = part.kernels.iter().map(|kernel| kernel.for_work_groups()).collect();
        let options = Options::new(cpu.vector_bits).with_validity(validity);
        // Without optimisations vectors are slower than what they replace, and debuggers show one work-item.
        let options = options.with_divergent_loops(!inspectable(session));
        let mut groups =
            offload_workgroup::generate_work_groups(&work_items.read_text()?, &kernels, &options)?;
        if part.is_partial {
            groups = offload_workgroup::hide_runtime(&groups);
        }
        Ok(groups.into_bytes())
    })
}

// All work-items leave a round of a cut loop the same way. A loop over work-items becomes vectors only if clang decides
// that before the loop, for which it takes loops of up to 50 instructions by default.
const OPTIMISED: [&str; 3] = ["-O3", "-mllvm", "-unswitch-threshold=2000"];
/// What keeps LLVM's vectoriser from exchanging accesses of a work-item.
const IN_ORDER: [&str; 2] = ["-mllvm", "-enable-interleaved-mem-accesses=false"];

pub(crate) fn codegen(session: &Session<'_>, module: &Blob, cpu: &Cpu) -> Result<Blob> {
    if inspectable(session) {
        return object(session, module, cpu, &["-O0"]);
    }
    match InterleaveGroups::for_module(&module.read_text()?) {
        InterleaveGroups::All => object(session, module, cpu, &OPTIMISED),
        InterleaveGroups::None => object(session, module, cpu, &[&OPTIMISED[..], &IN_ORDER].concat()),
        InterleaveGroups::Some => {
            let interleaved = interleaved(session, module, cpu)?;
            object(session, &interleaved, cpu, &[&OPTIMISED[..], &IN_ORDER].concat())
        }
    }
}

/// `module` with its functions optimised in which accesses may be joined.
fn interleaved(session: &Session<'_>, module: &Blob, cpu: &Cpu) -> Result<Blob> {
    let cache = session.cache();
    let key = KeyBuilder::new("host functions without others").part(&module.hash.0).finish();
    let marked = cache.get_or::<Error>(key, || {
        Ok(offload_workgroup::disable_in_order_functions(&module.read_text()?).into_bytes())
    })?;
    let optimised = cpu.step(session, "host interleaved", &OPTIMISED, &marked)?;
    let key = KeyBuilder::new("host functions with others").part(&optimised.hash.0).finish();
    cache.get_or::<Error>(key, || {
        Ok(offload_workgroup::enable_in_order_functions(&optimised.read_text()?).into_bytes())
    })
}

fn object(session: &Session<'_>, module: &Blob, cpu: &Cpu, level: &[&str]) -> Result<Blob> {
    let args = [level, &["-ffunction-sections", "-c"]].concat();
    let Some(target) = cpu.code_target() else {
        return session.step(&cpu.ir_step(session, "host object", &args, module)?, check::elf);
    };
    let key = KeyBuilder::new("host for another system").part(target.flag().as_bytes()).part(&module.hash.0);
    let cache = session.cache();
    let retargeted = cache.get_or::<Error>(key.finish(), || {
        Ok(offload_ir::retarget(&module.read_text()?, target).into_bytes())
    })?;
    // The later of two targets is used.
    let target = target.flag();
    let args = [&args[..], &[&target, "-fdata-sections"]].concat();
    session.step(&cpu.ir_step(session, "host object", &args, &retargeted)?, check::object_for_cpu)
}

pub(crate) fn shared_object(
    session: &Session<'_>,
    kernels: &[&str],
    objects: &[Blob],
    cpu: &Cpu,
) -> Result<Blob> {
    let half = half::functions(session, objects, cpu)?;
    let mut inputs: Vec<_> = objects.iter().chain(&half).map(|object| (object, ".o")).collect();
    let of_system;
    match cpu.system {
        System::Linux => {}
        System::Windows => {
            windows::check_references(objects)?;
            of_system = [windows::support(session, cpu)?, windows::import_library(session)?];
            inputs.extend(of_system.iter().zip([".o", ".a"]));
        }
        System::MacOs => {
            macos::check_references(objects)?;
            of_system = [macos::support(session, cpu)?, macos::library(session)?];
            inputs.extend(of_system.iter().zip([".o", ".tbd"]));
        }
    }
    let tool = session.tools().lld()?;
    let strip: &[&str] = if session.env().profile.debug_info { &[] } else { &["--strip-all"] };
    // Functions of libraries are in each part that calls them.
    let fold: &[&str] = if objects.len() > 1 { &["--icf=safe"] } else { &[] };
    let mut flags = [strip, fold].concat();
    match cpu.system {
        System::Linux => {
            flags.extend([
                "-shared",
                "--gc-sections",
                "--hash-style=gnu",
                "--build-id=none",
                "-z",
                "now",
                "-o",
            ]);
        }
        System::Windows => {
            flags.extend(["-m", "i386pep", "-shared", "--gc-sections", "--no-insert-timestamp", "-o"]);
        }
        System::MacOs => flags = macos::link_flags(cpu.is_aarch64).to_vec(),
    }
    let args = texts(flags).chain([Arg::Output]).chain((0..inputs.len()).map(Arg::Input)).collect();
    let step = Step { name: "host library", tool: &tool, args, inputs, files: vec![] };
    session.step(&step, |bytes| check::host(bytes, kernels))
}

/// Functions in C that stand beside PoCL's.
fn c_functions(session: &Session<'_>, cpu: &Cpu, name: &'static str, source: String) -> Result<Blob> {
    let fixed = ["-fPIC", "-fvisibility=hidden", "-ffreestanding", "-x", "c", "-std=c11"];
    let args = cpu.flags().chain(texts(fixed)).chain(front_end::front_end_output()).chain(texts(["-"]));
    session.front_end(&FrontEnd {
        name,
        tool: &session.tools().llvm()?.clang,
        args: args.collect(),
        input: Some(source),
    })
}

/// Whether a debugger should see every variable, as in the Rust around it: then nothing is optimised. Kernels with checks
/// take long enough as it is.
fn inspectable(session: &Session<'_>) -> bool {
    let profile = &session.env().profile;
    profile.debug_info && !profile.optimized && !session.env().is_sanitized()
}
