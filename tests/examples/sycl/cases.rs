//! Files that a runtime loads, passes over, or refuses.
//!
//! Each case is a line: what has to come of it, the state that is asked for, the kernel, and the files. A kernel that is
//! not there is `absent` if no device finds it, and `elsewhere` if others than that of the test do. A damaged file that
//! Intel's runtime runs all the same is `tolerated`.

#[path = "matrix.rs"]
mod matrix;

use std::cell::RefCell;
use std::path::Path;

use offload_containers::syclbin::{
    BundleState, ImageKindNumber, KERNEL_PREFIX, NativeImage, NewModule, Payload, PropertySets,
    PropertyValue, Requirements, sets, write,
};
use offload_images::spirv::{Module as Spirv, with_prefixed_kernels};

const SAXPY: &[u8] = include_bytes!("../../../tests/data/saxpy-reduce.spv");
const IMPORTER: &[u8] = include_bytes!("../../../tests/data/import.spv");
const EXPORTER: &[u8] = include_bytes!("../../../tests/data/export.spv");

/// An x86-64 CPU takes native code of this triple.
const CPU: NativeImage<'_> =
    NativeImage { target: "spir64_x86_64-unknown-unknown", arch: "x86_64", image: b"no code" };
const GPUS: [NativeImage<'_>; 3] = [
    NativeImage { target: "nvptx64-nvidia-cuda", arch: "sm_90", image: b"\x7fELF code" },
    NativeImage { target: "amdgcn-amd-amdhsa", arch: "gfx90a", image: b"\x7fELF code" },
    NativeImage { target: "spir64_gen-unknown-unknown", arch: "intel_gpu_pvc", image: b"\x7fELF code" },
];

struct Writer<'d> {
    dir: &'d Path,
    cases: RefCell<Vec<String>>,
}

impl Writer<'_> {
    /// Writes a file of these modules; its path.
    fn file(&self, name: &str, state: BundleState, modules: &[NewModule<'_>]) -> String {
        self.bytes(name, &write(state, modules, ImageKindNumber::default()).unwrap())
    }

    fn object(&self, name: &str, modules: &[NewModule<'_>]) -> String {
        self.file(name, BundleState::Object, modules)
    }

    fn bytes(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.dir.join(format!("{name}.syclbin"));
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_string()
    }

    /// A case of one file with one module.
    fn one(&self, outcome: &str, name: &str, state: BundleState, module: NewModule<'_>) {
        self.case(outcome, state, "saxpy", &[self.file(name, state, &[module])]);
    }

    fn case(&self, outcome: &str, state: BundleState, kernel: &str, files: &[String]) {
        self.cases.borrow_mut().push(format!("{outcome}\t{state}\t{kernel}\t{}", files.join("\t")));
    }
}

fn prefixed(spirv: &[u8]) -> Vec<u8> {
    with_prefixed_kernels(spirv, KERNEL_PREFIX).unwrap()
}

/// With the kernels, imports and exports of `spirv`, but no code.
fn named(spirv: &[u8]) -> NewModule<'static> {
    let parsed = Spirv::parse(spirv, &offload_format::Limits::default()).unwrap();
    let exports = parsed.exports().iter().filter(|name| !name.starts_with("__clang_ocl"));
    let module =
        NewModule::default().with_kernels(parsed.kernels().iter().map(|kernel| &kernel.name)).unwrap();
    module.with_imported(parsed.imports()).unwrap().with_exported(exports).unwrap()
}

fn whole(spirv: &[u8]) -> NewModule<'_> {
    let mut module = named(spirv);
    module = module.with_requirements(&Requirements::default());
    module.with_spirv(spirv)
}

fn needing<'a>(spirv: &'a [u8], needs: &Requirements) -> NewModule<'a> {
    let module = NewModule::default().with_kernels(["__sycl_kernel_saxpy"]).unwrap();
    module.with_requirements(needs).with_spirv(spirv)
}

/// Writes the files to `dir`; a line for each case.
pub fn write_all(dir: &Path) -> Vec<String> {
    std::fs::create_dir_all(dir).unwrap();
    let writer = Writer { dir, cases: RefCell::default() };
    links(&writer);
    choices(&writer);
    requirements(&writer);
    refusals(&writer);
    damage(&writer);
    matrix::all(&writer);
    writer.cases.into_inner()
}

/// Modules that need each other.
fn links(writer: &Writer<'_>) {
    let importer = prefixed(IMPORTER);
    let saxpy = prefixed(SAXPY);
    let both = [whole(&importer), whole(EXPORTER)];
    writer.case("right", BundleState::Object, "calls", &[writer.object("link", &both)]);
    writer.case(
        "right",
        BundleState::Input,
        "calls",
        &[writer.file("link-input", BundleState::Input, &both)],
    );
    writer.case(
        "refused",
        BundleState::Executable,
        "calls",
        &[writer.file("link-exe", BundleState::Executable, &both)],
    );
    let one = writer.object("importer", &both[..1]);
    let other = writer.object("exporter", &both[1..]);
    let again = writer.object("exporter-again", &both[1..]);
    writer.case("right", BundleState::Object, "calls", &[one.clone(), other.clone()]);
    writer.case("right", BundleState::Object, "calls", &[other.clone(), one.clone()]);
    writer.case("refused", BundleState::Object, "calls", std::slice::from_ref(&one));
    writer.case("refused", BundleState::Object, "calls", &[one.clone(), other.clone(), again]);
    let stranger = writer.object("stranger", &[whole(&saxpy)]);
    writer.case("right", BundleState::Object, "saxpy", &[stranger.clone(), one, other]);
    writer.case(
        "refused",
        BundleState::Object,
        "saxpy",
        &[stranger, writer.object("stranger-again", &[whole(&saxpy)])],
    );
    let unsaid = NewModule::default().with_kernels(["__sycl_kernel_calls"]).unwrap().with_spirv(&importer);
    writer.case(
        "right",
        BundleState::Object,
        "calls",
        &[writer.object("unsaid", &[unsaid, whole(EXPORTER)])],
    );
}

/// Which form is taken, and which kernels are found.
fn choices(writer: &Writer<'_>) {
    let spirv = prefixed(SAXPY);
    for state in [BundleState::Input, BundleState::Object, BundleState::Executable] {
        writer.one("right", &format!("gpus-{state}"), state, for_gpus(&spirv));
    }
    writer.one("refused", "bad-native", BundleState::Executable, whole(&spirv).with_native(CPU));
    writer.one("right", "native-object", BundleState::Object, whole(&spirv).with_native(CPU));
    let misnamed = NativeImage { arch: "intel_gpu_pvc", ..CPU };
    writer.one("refused", "misnamed", BundleState::Executable, whole(&spirv).with_native(misnamed));
    let no_triple = NativeImage { target: "spir64_x86_64", ..CPU };
    writer.one("right", "no-triple", BundleState::Executable, whole(&spirv).with_native(no_triple));
    let lone = named(&spirv).with_native(GPUS[0]);
    writer.one("elsewhere", "gpu-alone", BundleState::Executable, lone);
    let plain = NewModule::default().with_kernels(["saxpy"]).unwrap().with_spirv(SAXPY);
    writer.one("absent", "plain-name", BundleState::Executable, plain);
    let unlisted = NewModule::default().with_requirements(&Requirements::default());
    writer.one("absent", "unlisted", BundleState::Executable, unlisted.with_spirv(&spirv));
    let listed = NewModule::default().with_kernels(["__sycl_kernel_saxpy"]).unwrap();
    writer.one("refused", "listed-only", BundleState::Executable, listed.with_spirv(&prefixed(IMPORTER)));
    let mut typed = named(&spirv);
    let ptx = PropertySets::default().set(sets::IR).property("type", PropertyValue::Number(1)).unwrap();
    typed.ir.push(Payload::new(ptx, &spirv));
    writer.one("right", "typed-ptx", BundleState::Executable, typed);
}

/// The module with its code for each GPU.
fn for_gpus(spirv: &[u8]) -> NewModule<'_> {
    GPUS.iter().fold(whole(spirv), |module, native| module.with_native(*native))
}

/// What a device must have.
fn requirements(writer: &Writer<'_>) {
    let spirv = prefixed(SAXPY);
    for (outcome, name, needs) in [
        ("right", "target-cpu", compiled_for("x86_64")),
        ("elsewhere", "target-gpu", compiled_for("intel_gpu_pvc")),
        ("absent", "target-none", compiled_for("")),
        ("right", "aspect-cpu", aspects(&[1])),
        ("elsewhere", "aspect-gpu", aspects(&[2])),
        ("right", "aspect-fp64", aspects(&[6])),
        ("refused", "aspect-unknown", aspects(&[7777])),
        ("right", "group-fits", group(&[64, 1, 1])),
        ("absent", "group-large", group(&[1 << 20, 1, 1])),
        ("right", "sub-group-fits", sub_group(16)),
        ("absent", "sub-group-large", sub_group(1024)),
    ] {
        writer.one(outcome, name, BundleState::Executable, needing(&spirv, &needs));
    }
    let bytes = malformed(&spirv, "reqd_sub_group_size", PropertyValue::numbers(&[16]));
    writer.one("absent", "sub-group-bytes", BundleState::Executable, bytes);
    writer.one(
        "refused",
        "aspects-number",
        BundleState::Executable,
        malformed(&spirv, "aspects", PropertyValue::Number(6)),
    );
}

/// A module that requires a property of another type than it has.
fn malformed<'t>(spirv: &'t [u8], name: &str, value: PropertyValue) -> NewModule<'t> {
    let sets = PropertySets::default().set(sets::REQUIREMENTS).property(name, value).unwrap();
    named(spirv).with_metadata(&sets).with_spirv(spirv)
}

fn compiled_for(target: &str) -> Requirements {
    Requirements { compile_target: Some(target.into()), ..Requirements::default() }
}

fn aspects(aspects: &[u32]) -> Requirements {
    Requirements { aspects: aspects.to_vec(), ..Requirements::default() }
}

fn group(size: &[u64]) -> Requirements {
    Requirements { work_group_size: Some(size.to_vec()), ..Requirements::default() }
}

fn sub_group(size: u32) -> Requirements {
    Requirements { sub_group_size: Some(size), ..Requirements::default() }
}

/// Files that are well formed and wrong.
fn refusals(writer: &Writer<'_>) {
    let spirv = prefixed(SAXPY);
    let input = writer.file("input", BundleState::Input, &[whole(&spirv)]);
    writer.case("refused", BundleState::Object, "saxpy", std::slice::from_ref(&input));
    writer.case("refused", BundleState::Executable, "saxpy", &[input]);
    let old = write(BundleState::Executable, &[whole(&spirv)], ImageKindNumber::ONEAPI_2025_3).unwrap();
    writer.case("refused", BundleState::Executable, "saxpy", &[writer.bytes("kind-6", &old)]);
    let mut untargeted = whole(&spirv);
    untargeted.native.push(Payload::new(PropertySets::default().set(sets::NATIVE), b"native"));
    writer.one("refused", "no-target", BundleState::Executable, untargeted);
    writer.one("refused", "cut-ir", BundleState::Executable, named(&spirv).with_spirv(&spirv[..400]));
    writer.one("refused", "no-ir", BundleState::Executable, named(&spirv).with_spirv(b""));
    writer.one("refused", "ptx-ir", BundleState::Executable, named(&spirv).with_spirv(b".version 7.0\n"));
}

/// Files that are not well formed.
fn damage(writer: &Writer<'_>) {
    let spirv = prefixed(SAXPY);
    let good = write(BundleState::Executable, &[whole(&spirv)], ImageKindNumber::default()).unwrap();
    for size in [0, 20, 40, 80, 100, 300, good.len() - 400] {
        refused(writer, &format!("cut-{size}"), &good[..size]);
    }
    // Magic and version of the envelope, offset of the entry, kind; magic and version of the inner format, modules.
    for at in [0, 4, 16, 32, 80, 84, 88] {
        let mut bytes = good.clone();
        bytes[at] ^= 0x40;
        refused(writer, &format!("byte-{at}"), &bytes);
    }
    refused(writer, "bare", &good[80..]);
}

fn refused(writer: &Writer<'_>, name: &str, bytes: &[u8]) {
    writer.case("refused", BundleState::Executable, "saxpy", &[writer.bytes(name, bytes)]);
}
