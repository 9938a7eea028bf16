//! Every language for every kind of target, by the real compilers: what the program carries, and what runs here.

use std::path::Path;
use std::process::Command;

use crate::support::{self, Project};

const PORTABLE: [&str; 8] = [
    "host",
    "spirv64",
    "intel:pvc",
    "intel:acm-g10",
    "nvptx:sm_75",
    "cubin:sm_90",
    "amdgcn:gfx90a",
    "amdgcn:gfx11-generic",
];

/// Modules with the kernel `scale`, its number of arguments, and the targets it is compiled for.
const LANGUAGES: [(&str, usize, &[&str]); 6] = [
    ("opencl", 3, &["host", "spirv64", "intel:pvc", "nvptx:sm_75", "cubin:sm_90", "amdgcn:gfx90a"]),
    ("opencl-cpp", 2, &PORTABLE),
    ("c", 2, &PORTABLE),
    ("cpp", 2, &PORTABLE),
    ("cuda", 2, &["host", "nvptx:sm_75", "cubin:sm_90", "amdgcn:gfx90a", "amdgcn:gfx11-generic"]),
    ("hip", 2, &["host", "nvptx:sm_75", "cubin:sm_90", "amdgcn:gfx90a", "amdgcn:gfx11-generic"]),
];

/// Compiles the fixture's C file as another project would.
fn ready_made(dir: &Path) {
    let clang = offload_tests::require("clang-22").or_else(|| offload_tests::require("clang")).unwrap();
    std::fs::create_dir_all(dir.join("ready")).unwrap();
    let freestanding = ["-x", "c", "-ffreestanding", "-nostdlibinc", "-O2", "kernels/scale.c", "-o"];
    let ptx = "--target=nvptx64-nvidia-cuda -march=sm_75 -Xclang -target-feature -Xclang +ptx63";
    let spirv = "--target=spirv64v1.2-unknown-unknown";
    let amd = "--target=amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib";
    for (target, kind, output) in [
        (ptx, "-S", "scale.ptx"),
        (spirv, "-c", "scale.spv"),
        (amd, "", "scale.hsaco"),
        (ptx, "-c -emit-llvm", "scale-nvptx.bc"),
        (spirv, "-S -emit-llvm", "scale-spirv.ll"),
        (amd, "-c -emit-llvm", "scale-amdgcn.bc"),
    ] {
        let mut command = Command::new(&clang);
        command.args(target.split_whitespace().chain(kind.split_whitespace())).args(freestanding);
        command.arg(format!("ready/{output}")).current_dir(dir);
        assert!(command.status().unwrap().success(), "{command:?}");
    }
}

fn assert_has(text: &str, module: &str, target: &str, rest: &str) {
    let start = format!("{module} for {target} | {rest}");
    assert!(text.lines().any(|line| line.starts_with(&start)), "no {start:?} in\n{text}");
}

#[test]
fn every_language_reaches_its_targets() {
    if offload_tests::require_ptxas().is_none() {
        return;
    }
    let project = Project::new("languages");
    ready_made(&project.path("."));
    let text = project.run(&[]);
    for (module, args, targets) in LANGUAGES {
        for target in targets {
            assert_has(&text, module, target, &format!("scale | args {args}"));
        }
        let images = text.lines().filter(|line| line.starts_with(&format!("{module} for "))).count();
        // OpenCL C is also compiled for the targets that the list above leaves out.
        assert!(images == targets.len() || module == "opencl", "{module}: {images} images in\n{text}");
    }
    for target in ["spirv64", "intel:pvc", "nvptx:sm_75", "cubin:sm_90", "amdgcn:gfx90a"] {
        assert_has(&text, "ready", target, "scale | args ");
        assert_has(&text, "llvm", target, "scale | args 2");
    }
    // Unsupported targets of a language are errors.
    for notice in [
        "hip spirv64: no compiler makes code for it from HIP C++",
        "cuda spirv64: no compiler makes code for it from CUDA C++",
    ] {
        assert!(text.contains(&format!("left out: {notice}")), "no {notice:?} in\n{text}");
    }

    variants_and_parts(&text);
    resources(&text);
    assert_eq!(packs(&project.program()), 1, "all modules share a pack");
}

/// How many packs a program carries. The magic is also a constant of the code that reads them.
fn packs(program: &Path) -> usize {
    let bytes = std::fs::read(program).unwrap();
    let magic = offload_format::pack::layout::MAGIC;
    let starts = (0..bytes.len() - 8).filter(|at| bytes[*at..].starts_with(&magic));
    starts
        .filter(|at| {
            offload_format::pack::Pack::parse(&bytes[*at..], &offload_format::pack::Pages::default()).is_ok()
        })
        .count()
}

fn variants_and_parts(text: &str) {
    for variant in ["N=2,T=float", "N=2,T=int", "N=4,T=float", "N=4,T=int"] {
        assert!(text.contains(&format!("variant/{variant} for cubin:sm_90 | sum")), "{variant} in\n{text}");
    }
    assert!(text.contains("N=2: right") && text.contains("N=4: right"), "{text}");
    assert!(
        text.contains("N=2,T=int") && text.contains("hint:"),
        "the missing variant names those there are: {text}"
    );
    // The part with `double` cannot be on a device without it; the other one can.
    assert!(text.contains("split [fp64] for intel:pvc | precise"), "{text}");
    assert!(text.contains("split [basic] for intel:acm-g10 | plain"), "{text}");
    assert!(!text.contains("split [fp64] for intel:acm-g10"), "{text}");
}

/// Registers and spills in the output of the compilers, and the choice of the register file.
fn resources(text: &str) {
    let spilling = line(text, "spill [large-grf] for intel:acm-g10 | spill |");
    assert!(
        spilling.contains("registers Some(256) spilled Some(0) | 256 registers: spills 0 bytes"),
        "{spilling}"
    );
    let small = line(text, "spill for intel:acm-g10 | small |");
    assert!(small.contains("registers Some(128) spilled Some(0)"), "{small}");
    for target in ["cubin:sm_90", "amdgcn:gfx90a"] {
        let small = line(text, &format!("spill for {target} | small |"));
        assert!(small.contains("registers Some(") && small.contains("spilled Some(0)"), "{small}");
    }
}

fn line<'t>(text: &'t str, start: &str) -> &'t str {
    text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start} in\n{text}"))
}

#[test]
fn native_is_what_the_machine_has() {
    if offload_tests::require_ptxas().is_none() {
        return;
    }
    let mut project = Project::new("two-files");
    let smi = project.path("nvidia-smi");
    let script = "#!/bin/sh\n[ \"$1\" = --query-gpu=compute_cap ] && printf '9.0\\n8.6\\n9.0\\n'\n";
    support::program::write(&smi, script);
    project.set("OFFLOAD_NVIDIA_SMI", smi.to_str().unwrap());
    project.write("offload.toml", "targets = [\"native\"]\n");
    let text = project.run(&[]);
    for target in ["host ", "cubin:sm_86 ", "cubin:sm_90 "] {
        assert_eq!(text.lines().filter(|line| line.starts_with(target)).count(), 1, "{target}in\n{text}");
    }
}
