//! Launches on a real NVIDIA device: these tests are ignored unless `-- --include-ignored` asks for them. Where there is
//! no device, the error says what was looked for, and one test runs all of them with `cuda/driver.c` in the place of the
//! driver.
//!
//! With `OFFLOAD_TEST_CUDA` set in the environment, finding no device is a failure. The test program needs nothing but
//! the driver, so it can be copied to a machine with a GPU.
#![cfg(feature = "cuda")]

#[cfg(feature = "cudarc-0_19")]
mod cudarc;
mod dlpack;
#[cfg(unix)]
mod external;
mod graphs;
mod launches;
mod linked;
mod managed;
mod peers;
mod pools;
mod prints;
mod processes;
mod properties;
mod raw;
mod stand_in;
mod streams;
mod textures;

use std::process::Command;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use crate::common::TestPack;
use offload_format::pack::NewImage;
use offload_rt::{Arg, ArgInfo, ArgKind, Device, Error, KernelInfo, NdRange, Program, Registry};

const KERNELS: &str = include_str!("../cuda/kernels.ptx");
const CRASH_CHILD: &str = "OFFLOAD_TEST_CUDA_CRASH";

/// The device of a test that is run only where there is one.
fn gpu() -> Device {
    found().expect("an NVIDIA GPU, or the stand-in in the place of the driver")
}

/// The first device. Without one, this looks at the error, and the caller has nothing left to do.
fn found() -> Option<Device> {
    match offload_rt::cuda::devices() {
        Ok(devices) => Some(devices[0].clone()),
        Err(error) => {
            assert!(std::env::var_os("OFFLOAD_TEST_CUDA").is_none(), "{error}");
            let error = error.to_string();
            println!("{error}");
            let (problem, hint) = error.split_once("\nhint: ").expect(&error);
            assert!(problem.starts_with("CUDA: ") && problem.contains("libcuda.so.1"), "{error}");
            assert!(
                hint.contains("if this machine has an NVIDIA GPU") || hint.contains("nvidia-smi"),
                "{error}"
            );
            None
        }
    }
}

/// Loads `ptx` as an image whose pack has records of `kernels`.
fn open(device: &Device, ptx: &str, kernels: Vec<KernelInfo>) -> Result<Program, Error> {
    let image = NewImage { kernels, ..NewImage::new("m", "nvptx:sm_50".parse().unwrap()) };
    let pack = TestPack::new("p").image(image, ptx.as_bytes()).bytes();
    let registry = Registry::from_pack(pack);
    device.open(&registry.request("m").select(device)?.entry().load()?)
}

fn kernel(name: &str, args: &[(ArgKind, &str, Option<u32>)]) -> KernelInfo {
    let mut infos = Vec::new();
    for (kind, type_name, size) in args {
        infos.push(ArgInfo::new(*kind).named("x", type_name.to_string()).with_size(*size));
    }
    let mut info = KernelInfo::new(name);
    info.args = Some(infos);
    info
}

fn saxpy_record() -> KernelInfo {
    let buffer = (ArgKind::Global, "float*", None);
    kernel("saxpy", &[(ArgKind::Value, "float", Some(4)), buffer, buffer, (ArgKind::Value, "uint", Some(4))])
}

/// All kernels; the records are the driver's.
fn opened(device: &Device) -> Program {
    open(device, KERNELS, Vec::new()).unwrap()
}

fn launch(program: &Program, name: &str, range: NdRange, args: &mut [Arg<'_>]) -> Result<Duration, Error> {
    // SAFETY: the kernels above stay within the buffers that the tests give them.
    unsafe { program.launch(name, range, args) }
}

fn refusal(program: &Program, name: &str, range: NdRange, args: &mut [Arg<'_>]) -> String {
    launch(program, name, range, args).unwrap_err().to_string()
}

fn one_group(size: usize) -> NdRange {
    NdRange::new([size], [size])
}

/// Runs `saxpy` with numbers that depend on `seed`, and looks at each result.
fn saxpy(program: &Program, seed: u32, n: usize) -> Duration {
    let x: Vec<f32> = (0..n).map(|i| ((i as u32 ^ seed) % 1000) as f32).collect();
    let mut y: Vec<f32> = (0..n).map(|i| (i % 77) as f32).collect();
    let range = NdRange::new([n.next_multiple_of(256)], [256]);
    let count = n as u32;
    let mut args = [Arg::value(&3.0f32), Arg::input(&x), Arg::in_out(&mut y), Arg::value(&count)];
    let took = launch(program, "saxpy", range, &mut args).unwrap();
    for (i, (x, y)) in x.iter().zip(&y).enumerate() {
        assert_eq!(*y, 3.0 * x + (i % 77) as f32, "seed {seed}, {i} of {n}");
    }
    took
}

#[test]
fn devices_are_found_or_what_was_looked_for_is_said() {
    let Some(device) = found() else { return };
    let description = device.to_string();
    assert!(description.contains("CUDA device ") && description.contains("(sm_"), "{description}");
    assert!(description.contains("takes PTX up to"), "{description}");
    assert!(!device.name().is_empty());
    println!("{description}");
}

/// The stand-in has these too, unless it is that of CUDA 11.4.
#[test]
fn the_driver_has_all_functions_that_may_be_called() {
    // Of CUDA 12.4, but for those of 11.7 and 11.8.
    const SINCE_11_4: [&str; 6] = [
        "cuFuncGetName",
        "cuFuncGetParamInfo",
        "cuModuleEnumerateFunctions",
        "cuModuleGetFunctionCount",
        "cuLaunchKernelEx",
        "cuMemGetHandleForAddressRange",
    ];
    let Some(device) = found() else { return };
    let shown = format!("{device:?}");
    let (_, lacks) = shown.split_once("lacks: [").expect(&shown);
    let (lacks, _) = lacks.split_once(']').expect(&shown);
    let lacks: Vec<&str> =
        lacks.split(", ").filter(|name| !name.is_empty()).map(|name| name.trim_matches('"')).collect();
    assert!(lacks.iter().all(|lacks| SINCE_11_4.contains(lacks)), "{lacks:?}");
}

#[test]
fn another_device_cannot_open_for_cuda() {
    let image = NewImage::new("m", "nvptx:sm_50".parse().unwrap());
    let registry = Registry::from_pack(TestPack::new("p").image(image, KERNELS.as_bytes()).bytes());
    let image = registry.entries()[0].load().unwrap();
    let error = Device::host().open(&image).unwrap_err().to_string();
    assert_eq!(error, "host CPU: m for nvptx:sm_50 is of kind ptx, not for the host CPU");
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn results_are_right_and_timed() {
    let device = gpu();
    for program in [opened(&device), open(&device, KERNELS, vec![saxpy_record()]).unwrap()] {
        for n in [1, 255, 256, 100_003] {
            saxpy(&program, 7, n);
        }
        let started = Instant::now();
        let took = saxpy(&program, 1, 1 << 22);
        assert!(took > Duration::ZERO && took < started.elapsed(), "{took:?}");
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn threads_launch_at_once() {
    let device = gpu();
    let program = opened(&device);
    let start = Barrier::new(8);
    std::thread::scope(|scope| {
        for seed in 0..8 {
            let program = &program;
            let start = &start;
            scope.spawn(move || {
                start.wait();
                for round in 0..25 {
                    saxpy(program, seed * 1000 + round, 10_000 + seed as usize);
                }
            });
        }
    });
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn modules_are_opened_and_dropped_in_any_order() {
    let device = gpu();
    let first = opened(&device);
    let second = opened(&device.clone());
    drop(device);
    saxpy(&first, 1, 1000);
    drop(first);
    saxpy(&second, 2, 1000);
    std::thread::spawn(move || saxpy(&second, 3, 1000)).join().unwrap();
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn local_arguments_do_not_overlap() {
    let device = gpu();
    let program = opened(&device);
    let mut out = vec![[0u32; 2]; 128];
    let range = NdRange::new([128], [32]);
    // 132 bytes: what comes behind starts at 144.
    let mut args = [Arg::in_out(&mut out), Arg::local::<u8>(132), Arg::local::<u32>(32)];
    launch(&program, "mirror", range, &mut args).unwrap();
    for (i, found) in out.iter().enumerate() {
        let mirrored = 31 - i as u32 % 32;
        assert_eq!(*found, [mirrored, 1000 + mirrored], "{i}");
    }
}

fn last_word(program: &Program, shared_memory: u32) -> Result<[u32; 2], Error> {
    let mut out = [0u32; 2];
    let range = one_group(1).with_shared_memory(shared_memory);
    launch(program, "last_word", range, &mut [Arg::in_out(&mut out)]).map(|_| out)
}

fn weigh(program: &Program) -> [f32; 8] {
    let mut out = [0f32; 8];
    launch(program, "weigh", one_group(8), &mut [Arg::in_out(&mut out)]).unwrap();
    out
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn shared_memory_goes_up_to_the_device_s_limit() {
    let device = gpu();
    let program = opened(&device);
    assert_eq!(last_word(&program, 48 << 10).unwrap(), [48 << 10, 42]);
    let error = last_word(&program, 1 << 30).unwrap_err().to_string();
    let (_, limit) = error.split_once("a work-group can have ").expect(&error);
    let limit: u32 = limit.split(' ').next().unwrap().parse().unwrap();
    assert!(limit >= 48 << 10, "{error}");
    assert_eq!(last_word(&program, limit).unwrap(), [limit, 42]);
    assert_eq!(last_word(&program, 64).unwrap(), [64, 42]);
    let error = last_word(&program, limit + 4).unwrap_err().to_string();
    assert!(error.contains(&format!("can have {limit} on this device")));
    // The same through arguments.
    let mut out = vec![[0u32; 2]; 64];
    let half = limit as usize / 32 * 16;
    let mut args = [Arg::in_out(&mut out), Arg::local::<u8>(half), Arg::local::<u8>(half)];
    launch(&program, "mirror", one_group(64), &mut args).unwrap();
    assert_eq!((out[0], out[63]), ([63, 1063], [0, 1000]));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn variables_are_written_by_name() {
    let device = gpu();
    let program = opened(&device);
    assert_eq!(weigh(&program), [1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0]);
    let bytes: Vec<u8> = [8f32, 0.5, -1.0, 9.0].iter().flat_map(|v| v.to_ne_bytes()).collect();
    program.write_global("coefficients", &bytes).unwrap();
    let mut found = vec![0u8; bytes.len()];
    program.read_global("coefficients", &mut found).unwrap();
    assert_eq!(found[..], bytes[..]);
    assert!(program.read_global("coefficients", &mut found[1..]).is_err());
    assert_eq!(weigh(&program), [8.0, 0.5, -1.0, 9.0, 8.0, 0.5, -1.0, 9.0]);
    program.write_global("launches", &[0; 4]).unwrap();
    let error = program.write_global("coefficients", &bytes[..12]).unwrap_err().to_string();
    assert_eq!(error, "variable `coefficients`: it is 16 bytes, 12 are given");
    let error = program.write_global("coefficient", &bytes).unwrap_err().to_string();
    assert_eq!(error, "variable `coefficient`: the image has no such variable");
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_driver_completes_the_records() {
    let device = gpu();
    let record = {
        let mut info = kernel("count", &[(ArgKind::Global, "uint*", None)]);
        info.registers = Some(250);
        info
    };
    let program = open(&device, KERNELS, vec![record]).unwrap();
    let [count] = program.kernels() else { panic!("one kernel") };
    // What the pack knows stays.
    assert_eq!((count.registers, count.args.as_ref().unwrap()[0].type_name.as_str()), (Some(250), "uint*"));
    assert!(count.local_memory.unwrap() >= 64 && count.private_memory == Some(0), "{count:?}");
    assert_eq!(count.sub_group_size, Some(32));
    assert!(count.max_work_group.is_some_and(|size| size >= 8), "{count:?}");
    let program = opened(&device);
    let names: Vec<&str> = program.kernels().iter().map(|kernel| kernel.name.as_str()).collect();
    // The driver tells names since CUDA 12.4.
    if !names.is_empty() {
        assert_eq!(names, ["count", "crash", "last_word", "mirror", "saxpy", "weigh"]);
        let saxpy = &program.kernels()[4];
        assert!(saxpy.registers.is_some_and(|registers| registers > 0), "{saxpy:?}");
        assert!(saxpy.max_work_group.is_some_and(|size| size >= 256), "{saxpy:?}");
        let sizes: Vec<_> = saxpy.args.iter().flatten().map(|arg| arg.size).collect();
        assert_eq!(sizes, [Some(4), Some(8), Some(8), Some(4)]);
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn ranges_of_three_dimensions_are_grids() {
    let device = gpu();
    let program = opened(&device);
    let mut groups = [0u32];
    let range = NdRange::new([8, 4, 6], [2, 2, 2]);
    launch(&program, "count", range, &mut [Arg::in_out(&mut groups)]).unwrap();
    assert_eq!(groups, [4 * 2 * 3]);
    let error = refusal(&program, "count", range.with_offset([1, 0, 0]), &mut [Arg::in_out(&mut groups)]);
    assert!(error.starts_with("kernel `count`: CUDA has no global offset, [1, 0, 0]"), "{error}");
    let wide = NdRange::new([2, 2 << 16, 2], [2, 1, 2]);
    let error = refusal(&program, "count", wide, &mut [Arg::in_out(&mut groups)]);
    assert!(error.contains("[1, 131072, 1] work-groups are more than the device's ["), "{error}");
    let error = refusal(&program, "saxpy", one_group(1 << 11), &mut saxpy_args());
    assert!(error.contains("local size [2048, 1, 1] is more than the device's [1024, "), "{error}");
}

fn saxpy_args() -> [Arg<'static>; 4] {
    [Arg::value(&[0u8; 4]), Arg::input::<u8>(&[]), Arg::input::<u8>(&[]), Arg::value(&[0u8; 4])]
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn launches_that_do_not_fit_the_kernel_are_refused() {
    let device = gpu();
    let program = open(&device, KERNELS, vec![saxpy_record()]).unwrap();
    let range = one_group(32);
    // Empty buffers are none of the mistakes: no work-item is below n = 0.
    launch(&program, "saxpy", range, &mut saxpy_args()).unwrap();
    let error = refusal(&program, "saxpy", range, &mut saxpy_args()[..3]);
    assert!(error.contains("it takes 4 arguments, 3 are given"), "{error}");
    let error = refusal(&program, "mirror", range, &mut []);
    assert!(error.contains("the image has no such kernel\nhint: it has saxpy"), "{error}");
    let mut args = saxpy_args();
    args[0] = Arg::value(&[0u8; 8]);
    let error = refusal(&program, "saxpy", range, &mut args);
    assert!(error.contains("argument 0 (`float x`) is 4 bytes, 8 are given"), "{error}");
    let required = {
        let mut info = kernel("count", &[]);
        info.required_work_group = Some([2, 2, 2]);
        info
    };
    let program = open(&device, KERNELS, vec![required]).unwrap();
    let error = refusal(&program, "count", range, &mut [Arg::input(&[0u8; 4])]);
    assert!(error.contains("it requires the local size [2, 2, 2], not [32, 1, 1]"), "{error}");
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn what_the_pack_says_wrongly_the_driver_notices() {
    let device = gpu();
    let error = open(&device, KERNELS, vec![kernel("no\x1bne", &[])]).unwrap_err().to_string();
    assert!(error.contains("cannot use m for nvptx:sm_50: kernel `no\\u{1b}ne`: CUDA_ERROR_NOT_FOUND (500)"));
    let program =
        open(&device, KERNELS, vec![kernel("crash", &[(ArgKind::Value, "double", Some(8))])]).unwrap();
    // The sizes of parameters are known since CUDA 12.4.
    if opened(&device).kernels().is_empty() {
        return;
    }
    let error = refusal(&program, "crash", one_group(1), &mut [Arg::value(&[0u8; 8])]);
    assert!(error.contains("it takes 0 arguments, 1 are given"), "{error}");
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn bad_ptx_is_an_error_with_the_compiler_s_messages() {
    let device = gpu();
    let bad = KERNELS.replace("fma.rn.f32", "frobnicate.f32");
    let error = open(&device, &bad, Vec::new()).unwrap_err().to_string();
    assert!(error.contains("cannot load m for nvptx:sm_50: CUDA_ERROR_INVALID_PTX (218): "), "{error}");
    assert!(error.contains("line ") && error.contains("frobnicate"), "{error}");
    let error =
        open(&device, &KERNELS.replace(".version 6.0", ".version 99.0"), Vec::new()).unwrap_err().to_string();
    assert!(error.contains("CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222)"), "{error}");
    assert!(error.contains("\nhint: update the NVIDIA driver"), "{error}");
    // Where the pack has the version, it does not come to that.
    let image =
        NewImage { format_version: Some(99 << 16), ..NewImage::new("m", "nvptx:sm_50".parse().unwrap()) };
    let registry = Registry::from_pack(TestPack::new("p").image(image, b"x").bytes());
    let error = registry.request("m").select(&device).unwrap_err().to_string();
    assert!(
        error.contains("it is PTX 99.0, the driver (CUDA ") && error.contains(") takes up to "),
        "{error}"
    );
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn damaged_cubins_are_an_error() {
    let device = gpu();
    let sm = device.to_string().split("(sm_").nth(1).unwrap().split(',').next().unwrap().to_string();
    for (start, problem) in [
        // The driver learns no size: what reaches outside of the image it must not see.
        (&b"\x7fELF is how it starts, and not how it goes on"[..], "the image is not whole: "),
        // A header that describes nothing reaches nowhere.
        (b"\x7fELF\x02\x01", "CUDA_ERROR_"),
    ] {
        let image = NewImage::new("m", format!("cubin:sm_{sm}").parse().unwrap());
        let pack = TestPack::new("p").image(image, &[start, &[0; 4096]].concat()).bytes();
        let registry = Registry::from_pack(pack);
        let error = device.open(&registry.entries()[0].load().unwrap()).unwrap_err().to_string();
        assert!(error.contains(&format!("cannot load m for cubin:sm_{sm}: {problem}")), "{error}");
    }
}

fn current_context() -> *mut std::ffi::c_void {
    // SAFETY: the library is loaded already, and the function writes one pointer.
    unsafe {
        let library = libloading::Library::new("libcuda.so.1").unwrap();
        type Current = unsafe extern "C" fn(*mut *mut std::ffi::c_void) -> u32;
        let mut context = std::ptr::null_mut();
        assert_eq!(library.get::<Current>("cuCtxGetCurrent").unwrap()(&raw mut context), 0);
        context
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_thread_keeps_its_own_context() {
    let device = gpu();
    assert!(current_context().is_null());
    let program = opened(&device);
    saxpy(&program, 5, 100);
    assert!(program.write_global("none", &[]).is_err());
    assert!(refusal(&program, "none", one_group(1), &mut []).contains("kernel `none`"));
    drop(program);
    assert!(current_context().is_null());
}

/// A kernel that crashes takes the process's context with it, so it gets a process of its own: this test again.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_crash_is_named() {
    let device = gpu();
    if std::env::var_os(CRASH_CHILD).is_some() {
        let program = opened(&device);
        let crash = program.kernel("crash").unwrap();
        let stream = device.stream().unwrap();
        // SAFETY: the kernel takes nothing.
        match unsafe { crash.launch(&stream, one_group(1), &[]) } {
            Ok(()) => crate::common::streams::print_what_comes_after_a_crash(&stream),
            Err(error) => println!("first: {error}"),
        }
        println!("then: {}", refusal(&program, "saxpy", one_group(1), &mut saxpy_args()));
        return;
    }
    let mut child = Command::new(std::env::current_exe().unwrap());
    child
        .args(["--exact", "cuda::a_crash_is_named", "--include-ignored", "--nocapture"])
        .env(CRASH_CHILD, "1");
    let output = child.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let first = text.lines().find(|line| line.starts_with("first: ")).expect(&text);
    assert!(first.starts_with("first: kernel `crash`: "), "{text}");
    assert!(first.contains("CUDA_ERROR_ILLEGAL_ADDRESS (700)"), "{text}");
    // A host function is dropped, and not called, and a future ends.
    assert!(text.contains("queued: 0 1\n") || text.contains("refused: 0 1\n"), "{text}");
    #[cfg(feature = "futures")]
    assert!(text.contains("awaited: ") && text.contains("CUDA_ERROR_ILLEGAL_ADDRESS"), "{text}");
    assert!(text.contains("hint: `compute-sanitizer` names the access"), "{text}");
    let then = text.lines().find(|line| line.starts_with("then: ")).expect(&text);
    assert!(then.contains("CUDA_ERROR_") && text.matches("CUDA_ERROR_").count() >= 2, "{text}");
}
