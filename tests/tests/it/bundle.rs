//! Kernel bundles of SYCLBIN files on Intel's OpenCL CPU device: every state, links, refusals, and content given back.

use std::process::Command;

use offload_containers::syclbin::{
    BundleState, ImageKindNumber, KERNEL_PREFIX, NativeImage, NewModule, Requirements, parse, write,
};
use offload_format::Limits;
use offload_images::spirv;
use offload_images::spirv::with_prefixed_kernels;
use offload_rt::{Arg, Device, Error, NdRange};
use offload_sycl::{Bundle, Context, Executable, Input, Object, Rules, link};

const SPIRV: &[u8] = include_bytes!("../../../tests/data/saxpy-reduce.spv");
const IMPORTER: &[u8] = include_bytes!("../../../tests/data/import.spv");
const EXPORTER: &[u8] = include_bytes!("../../../tests/data/export.spv");

/// Set in the process that has the driver: the loader reads its variables when it starts.
const INSIDE: &str = "OFFLOAD_TEST_INSIDE";

/// Runs the test `name` again where the OpenCL loader finds Intel's runtime alone; the device, inside of that run.
fn device(name: &str) -> Option<Device> {
    if std::env::var_os(INSIDE).is_some() {
        return Some(offload_rt::opencl::devices().unwrap().remove(0));
    }
    let lib = offload_tests::require_intel_runtime()?.join("lib");
    let output = Command::new(std::env::current_exe().unwrap())
        .arg(format!("{}::{name}", module_path!().split_once("::").unwrap().1))
        .args(["--exact", "--nocapture", "--test-threads=1"])
        .env(INSIDE, "1")
        .env("LD_LIBRARY_PATH", &lib)
        .env("OCL_ICD_FILENAMES", lib.join("libintelocl.so"))
        .env("OCL_ICD_VENDORS", "/nonexistent")
        .output()
        .unwrap();
    let text =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat();
    assert!(output.status.success() && text.contains("1 passed"), "{name}: {}\n{text}", output.status);
    None
}

fn prefixed(spirv: &[u8]) -> Vec<u8> {
    with_prefixed_kernels(spirv, KERNEL_PREFIX).unwrap()
}

/// A module with the kernels, imports and exports of `spirv`.
fn module(spirv: &[u8]) -> NewModule<'_> {
    let parsed = spirv::Module::parse(spirv, &Limits::default()).unwrap();
    let exports = parsed.exports().iter().filter(|name| !name.starts_with("__clang_ocl"));
    let module =
        NewModule::default().with_kernels(parsed.kernels().iter().map(|kernel| &kernel.name)).unwrap();
    let module = module.with_imported(parsed.imports()).unwrap().with_exported(exports).unwrap();
    module.with_spirv(spirv)
}

fn file(state: BundleState, modules: &[NewModule<'_>]) -> Vec<u8> {
    write(state, modules, ImageKindNumber::default()).unwrap()
}

fn contexts(device: &Device) -> [Context; 2] {
    [Rules::Spec, Rules::Runtime].map(|rules| Context::new(std::slice::from_ref(device), rules).unwrap())
}

/// `saxpy` and `reduce`, which has local memory and a barrier.
fn run_both(bundle: &Bundle<Executable>, device: &Device) {
    let program = bundle.program(device).unwrap();
    let n = 1000u32;
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let mut y = vec![1.0f32; n as usize];
    let mut args = [Arg::value(&2.0f32), Arg::input(&x), Arg::in_out(&mut y), Arg::value(&n)];
    // SAFETY: the kernel looks at `n`.
    unsafe { program.launch("saxpy", NdRange::new([1024], [64]), &mut args) }.unwrap();
    assert!(y.iter().enumerate().all(|(i, y)| *y == 2.0 * i as f32 + 1.0));

    let x: Vec<f32> = (0..1024).map(|i| (i % 7) as f32).collect();
    let mut sums = vec![0.0f32; 16];
    let mut args = [Arg::input(&x), Arg::in_out(&mut sums), Arg::local::<f32>(64)];
    // SAFETY: one element for each work-item, one sum for each group.
    unsafe { program.launch("__sycl_kernel_reduce", NdRange::new([1024], [64]), &mut args) }.unwrap();
    for (group, sum) in sums.iter().enumerate() {
        assert_eq!(*sum, x[group * 64..][..64].iter().sum::<f32>(), "{group}");
    }
}

/// `x[i] = elsewhere(x[0])`.
fn calls(bundle: &Bundle<Executable>, device: &Device) {
    let mut x = vec![20.0f32];
    let mut args = [Arg::in_out(&mut x)];
    let range = NdRange::new([1], [1]);
    // SAFETY: one element, one work-item.
    unsafe { bundle.program(device).unwrap().launch("calls", range, &mut args) }.unwrap();
    assert_eq!(x, [41.0]);
}

fn refused<T: std::fmt::Debug>(result: Result<T, Error>, reason: &str) {
    let text = result.unwrap_err().to_string();
    assert!(text.contains(reason), "{text}");
}

#[test]
fn every_state_becomes_a_program_that_runs() {
    let Some(device) = device("every_state_becomes_a_program_that_runs") else { return };
    let spirv = prefixed(SPIRV);
    for context in contexts(&device) {
        let input: Bundle<Input> = context.open(file(BundleState::Input, &[module(&spirv)])).unwrap();
        assert!(input.has_kernel("saxpy") && !input.has_kernel("__clang_ocl_kern_imp_saxpy"));
        run_both(&link(&[&input.compile().unwrap()]).unwrap(), &device);
        let object: Bundle<Object> = context.open(file(BundleState::Object, &[module(&spirv)])).unwrap();
        // The same bundle twice is one.
        run_both(&link(&[&object, &object]).unwrap(), &device);
        let executable: Bundle<Executable> =
            context.open(file(BundleState::Executable, &[module(&spirv)])).unwrap();
        assert_eq!(executable.kernels(), ["__sycl_kernel_reduce", "__sycl_kernel_saxpy"]);
        run_both(&executable, &device);
    }
}

#[test]
fn content_is_given_back_in_the_same_state() {
    let Some(device) = device("content_is_given_back_in_the_same_state") else { return };
    let spirv = prefixed(SPIRV);
    let gpu = NativeImage { target: "nvptx64-nvidia-cuda", arch: "sm_90", image: b"cubin" };
    for context in contexts(&device) {
        let modules = [module(&spirv).with_native(gpu)];
        let input: Bundle<Input> = context.open(file(BundleState::Input, &modules)).unwrap();
        assert_eq!(input.content().unwrap(), file(BundleState::Input, &modules));
        assert_eq!(input.compile().unwrap().content().unwrap(), file(BundleState::Object, &modules));

        let linked = link(&[&input.compile().unwrap()]).unwrap();
        let content = linked.content().unwrap();
        let parsed = parse(&content, &Limits::default()).unwrap();
        assert_eq!(offload_containers::syclbin::hazards(&parsed), []);
        let native = &parsed.modules[0].native[0];
        assert_eq!((parsed.modules[0].ir.len(), native.arch().unwrap().as_str()), (0, "x86_64"));
        assert!(native.bytes.starts_with(b"\x7fELF"));
        // Nothing is compiled again: the file has no IR.
        run_both(&context.open(content).unwrap(), &device);
    }
}

#[test]
fn modules_are_linked_by_their_symbols() {
    let Some(device) = device("modules_are_linked_by_their_symbols") else { return };
    let importer = prefixed(IMPORTER);
    for context in contexts(&device) {
        let both = file(BundleState::Object, &[module(&importer), module(EXPORTER)]);
        calls(&link(&[&context.open(both).unwrap()]).unwrap(), &device);

        let one: Bundle<Object> = context.open(file(BundleState::Object, &[module(&importer)])).unwrap();
        let other: Bundle<Object> = context.open(file(BundleState::Object, &[module(EXPORTER)])).unwrap();
        calls(&link(&[&other, &one]).unwrap(), &device);
        refused(link(&[&one]), "no module exports the imported symbol `elsewhere`");
        let again: Bundle<Object> = context.open(file(BundleState::Object, &[module(EXPORTER)])).unwrap();
        refused(link(&[&one, &other, &again]), "several modules export symbol `elsewhere`");
        refused(link(&[]), "there is no bundle");
        let stranger = contexts(&device)[0].open(file(BundleState::Object, &[module(EXPORTER)])).unwrap();
        refused(link(&[&one, &stranger]), "of different contexts");
    }
    // Modules of an executable are not linked with one another.
    let both = file(BundleState::Executable, &[module(&importer), module(EXPORTER)]);
    refused(contexts(&device)[0].open::<Executable>(both), "cannot build module 0");
}

#[test]
fn what_is_not_for_the_device_is_told() {
    let Some(device) = device("what_is_not_for_the_device_is_told") else { return };
    let spirv = prefixed(SPIRV);
    let pvc = Requirements { compile_target: Some("intel_gpu_pvc".into()), ..Requirements::default() };
    let elsewhere = NewModule::default().with_kernels(["__sycl_kernel_gpu"]).unwrap();
    let elsewhere = elsewhere.with_requirements(&pvc).with_spirv(&spirv);
    for context in contexts(&device) {
        let bytes = file(BundleState::Executable, &[elsewhere.clone(), module(&spirv)]);
        let bundle: Bundle<Executable> = context.open(bytes).unwrap();
        assert!(!bundle.has_kernel("gpu"));
        let skipped: Vec<String> = bundle.missing().iter().map(ToString::to_string).collect();
        assert_eq!(skipped.len(), 1);
        assert!(skipped[0].starts_with("module 0 is left out for") && skipped[0].contains("`intel_gpu_pvc`"));
        run_both(&bundle, &device);
    }
}

#[test]
fn bad_files_and_bad_code_are_refused() {
    let Some(device) = device("bad_files_and_bad_code_are_refused") else { return };
    let spirv = prefixed(SPIRV);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.syclbin");
    std::fs::write(&path, file(BundleState::Input, &[module(&spirv)])).unwrap();
    for context in contexts(&device) {
        refused(context.open_file::<Object>(&path), "is in state input, and state object is asked for");
        refused(context.open_file::<Input>(dir.path().join("none")), "cannot be read");
        refused(context.open::<Input>(b"no file".to_vec()), "SYCLBIN");
        // Native code that fits goes before IR, and there is no falling back.
        let native = NativeImage { target: "spir64_x86_64-unknown-unknown", arch: "x86_64", image: b"bad" };
        let bytes = file(BundleState::Executable, &[module(&spirv).with_native(native)]);
        refused(context.open::<Executable>(bytes), "module 0");
        // Drivers would end this process.
        let cut = NewModule::default().with_spirv(&spirv[..spirv.len() / 2]);
        refused(context.open::<Executable>(file(BundleState::Executable, &[cut])), "module 0: its IR");
        let bundle: Bundle<Executable> =
            context.open(file(BundleState::Executable, &[module(&spirv)])).unwrap();
        let range = NdRange::new([1], [1]);
        // SAFETY: nothing is run.
        let missing = unsafe { bundle.program(&device).unwrap().launch("none", range, &mut []) };
        refused(missing, "hint: it has __sycl_kernel_saxpy");
        refused(bundle.program(&Device::host()).map(|_| ()), "is not a device of the bundle's context");
    }
    refused(Context::new(&[Device::host()], Rules::Spec), "not an OpenCL device");
}
