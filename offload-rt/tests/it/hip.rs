//! Launches through HIP's runtime: these tests are ignored unless `-- --include-ignored` asks for them. Where there is no
//! runtime, the error says what was looked for, and one test runs all of them with `hip/driver.c` in its place.
//!
//! Their image is a code object's header alone, which the stand-in takes for all of its kernels: no AMD GPU runs it.
#![cfg(feature = "hip")]

mod dlpack;
#[cfg(unix)]
mod external;
mod graphs;
mod launches;
mod managed;
mod peers;
mod pools;
mod prints;
mod processes;
mod properties;
mod raw;
mod stand_in;
mod streams;

use std::process::Command;
use std::sync::Barrier;
use std::time::Duration;

use crate::common::TestPack;
use offload_format::pack::NewImage;
use offload_rt::{Arg, ArgInfo, ArgKind, Device, Error, KernelInfo, NdRange, Program, Registry};

const CRASH_CHILD: &str = "OFFLOAD_TEST_HIP_CRASH";
/// `EF_AMDGPU_MACH_AMDGCN_GFX1100` and `..._GFX90A` with sramecc on and xnack off.
const GFX1100: u32 = 0x41;
const GFX90A: u32 = 0xc3f | 0x200;

/// The device of a test that is run only with the stand-in.
fn gpu() -> Device {
    found().expect("the stand-in in the place of HIP's runtime")[0].clone()
}

/// The devices. Without one, this looks at the error, and the caller has nothing left to do.
fn found() -> Option<Vec<Device>> {
    match offload_rt::hip::devices() {
        Ok(devices) => Some(devices),
        Err(error) => {
            let error = error.to_string();
            println!("{error}");
            let (problem, hint) = error.split_once("\nhint: ").expect(&error);
            assert!(problem.starts_with("HIP: "), "{error}");
            assert!(hint.contains("hip-runtime-amd") || hint.contains("rocminfo"), "{error}");
            None
        }
    }
}

/// The header of a code object of this version, and nothing that it describes.
fn code_object(abi: u8, flags: u32) -> Vec<u8> {
    let mut header = vec![0u8; 64];
    header[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\x40");
    header[8] = abi;
    header[16..20].copy_from_slice(&[3, 0, 224, 0]);
    header[48..52].copy_from_slice(&flags.to_le_bytes());
    header[52..56].copy_from_slice(&[64, 0, 56, 0]);
    header[58] = 64;
    header
}

/// Loads `bytes` as an image for `target` whose pack has records of `kernels`.
fn open(device: &Device, target: &str, bytes: &[u8], kernels: Vec<KernelInfo>) -> Result<Program, Error> {
    let image = NewImage { kernels, ..NewImage::new("m", target.parse().unwrap()) };
    let registry = Registry::from_pack(TestPack::new("p").image(image, bytes).bytes());
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

/// All kernels; the pack knows none.
fn opened(device: &Device) -> Program {
    open(device, "amdgcn:gfx1100", &code_object(3, GFX1100), Vec::new()).unwrap()
}

fn launch(program: &Program, name: &str, range: NdRange, args: &mut [Arg<'_>]) -> Result<Duration, Error> {
    // SAFETY: the kernels stay within the buffers that the tests give them.
    unsafe { program.launch(name, range, args) }
}

fn refusal(program: &Program, name: &str, range: NdRange, args: &mut [Arg<'_>]) -> String {
    launch(program, name, range, args).unwrap_err().to_string()
}

fn one_group(size: usize) -> NdRange {
    NdRange::new([size], [size])
}

/// Runs `saxpy` with numbers that depend on `seed`, and looks at each result.
fn saxpy(program: &Program, seed: u32, n: usize) {
    let x: Vec<f32> = (0..n).map(|i| ((i as u32 ^ seed) % 1000) as f32).collect();
    let mut y: Vec<f32> = (0..n).map(|i| (i % 77) as f32).collect();
    let range = NdRange::linear_at_least(n, 256);
    let count = n as u32;
    let mut args = [Arg::value(&3.0f32), Arg::input(&x), Arg::in_out(&mut y), Arg::value(&count)];
    launch(program, "saxpy", range, &mut args).unwrap();
    for (i, (x, y)) in x.iter().zip(&y).enumerate() {
        assert_eq!(*y, 3.0 * x + (i % 77) as f32, "seed {seed}, {i} of {n}");
    }
}

fn saxpy_args() -> [Arg<'static>; 4] {
    [Arg::value(&[0u8; 4]), Arg::input::<u8>(&[]), Arg::input::<u8>(&[]), Arg::value(&[0u8; 4])]
}

#[test]
fn devices_are_found_or_what_was_looked_for_is_said() {
    let Some(devices) = found() else { return };
    for device in devices {
        assert!(device.to_string().contains("HIP device ") && !device.name().is_empty(), "{device}");
        println!("{device}");
    }
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn devices_tell_what_they_are() {
    let shown: Vec<String> = found().unwrap().iter().map(ToString::to_string).collect();
    let version = if shown[0].contains("HIP 6.3") { ", HIP 6.3" } else { "" };
    assert_eq!(
        shown,
        [
            format!("HIP device stand-in (gfx1100{version})"),
            format!("HIP device stand-in (gfx90a:sramecc+:xnack-{version})"),
        ]
    );
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn results_are_right() {
    let device = gpu();
    let with_record = open(&device, "amdgcn:gfx1100", &code_object(3, GFX1100), vec![saxpy_record()]);
    for program in [opened(&device), with_record.unwrap()] {
        for n in [1, 255, 256, 100_003] {
            saxpy(&program, 7, n);
        }
    }
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
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
                (0..25).for_each(|round| saxpy(program, seed * 1000 + round, 10_000 + seed as usize));
            });
        }
    });
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
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
#[ignore = "needs the stand-in of HIP's runtime"]
fn one_argument_is_in_local_memory() {
    let program = opened(&gpu());
    let mut out = vec![0u32; 128];
    let range = NdRange::new([128], [32]);
    let mut args = [Arg::in_out(&mut out), Arg::local::<u32>(32)];
    launch(&program, "mirror", range, &mut args).unwrap();
    assert!(out.iter().enumerate().all(|(i, found)| *found == 31 - i as u32 % 32), "{out:?}");
    let error = refusal(&program, "mirror", range, &mut [Arg::local::<u8>(4), Arg::local::<u8>(4)]);
    assert!(error.contains("kernel `mirror`: it has 2 arguments in local memory; HIP's launch"), "{error}");
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
#[ignore = "needs the stand-in of HIP's runtime"]
fn shared_memory_goes_up_to_the_device_s_limit() {
    let program = opened(&gpu());
    assert_eq!(last_word(&program, 64 << 10).unwrap(), [64 << 10, 42]);
    let error = last_word(&program, (64 << 10) + 4).unwrap_err().to_string();
    assert!(error.contains("a work-group can have 65536 on this device"), "{error}");
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn variables_are_written_by_name() {
    let program = opened(&gpu());
    assert_eq!(weigh(&program), [1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0]);
    let bytes: Vec<u8> = [8f32, 0.5, -1.0, 9.0].iter().flat_map(|v| v.to_ne_bytes()).collect();
    program.write_global("coefficients", &bytes).unwrap();
    let mut found = vec![0u8; bytes.len()];
    program.read_global("coefficients", &mut found).unwrap();
    assert_eq!(found[..], bytes[..]);
    assert!(program.read_global("coefficients", &mut found[1..]).is_err());
    assert_eq!(weigh(&program), [8.0, 0.5, -1.0, 9.0, 8.0, 0.5, -1.0, 9.0]);
    let error = program.write_global("coefficients", &bytes[..12]).unwrap_err().to_string();
    assert_eq!(error, "variable `coefficients`: it is 16 bytes, 12 are given");
    let error = program.write_global("coefficient", &bytes).unwrap_err().to_string();
    assert_eq!(error, "variable `coefficient`: the image has no such variable");
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn the_runtime_completes_the_records() {
    let mut record = kernel("count", &[(ArgKind::Global, "uint*", None)]);
    record.registers = Some(250);
    let program = open(&gpu(), "amdgcn:gfx1100", &code_object(3, GFX1100), vec![record]).unwrap();
    let [count] = program.kernels() else { panic!("one kernel") };
    // What the pack knows stays.
    assert_eq!((count.registers, count.args.as_ref().unwrap()[0].type_name.as_str()), (Some(250), "uint*"));
    assert_eq!((count.local_memory, count.private_memory), (Some(64), Some(0)));
    assert_eq!((count.sub_group_size, count.max_work_group), (Some(32), Some(8)));
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn ranges_of_three_dimensions_are_grids() {
    let program = opened(&gpu());
    let mut groups = [0u32];
    let range = NdRange::new([8, 4, 6], [2, 2, 2]);
    launch(&program, "count", range, &mut [Arg::in_out(&mut groups)]).unwrap();
    assert_eq!(groups, [4 * 2 * 3]);
    let offset = range.with_offset([1, 0, 0]);
    let error = refusal(&program, "count", offset, &mut [Arg::in_out(&mut groups)]);
    assert!(error.starts_with("kernel `count`: HIP has no global offset, [1, 0, 0]"), "{error}");
    let error = refusal(&program, "count", one_group(9), &mut [Arg::in_out(&mut groups)]);
    assert!(error.contains("a work-group of 9 work-items is more than the 8"), "{error}");
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn launches_that_do_not_fit_the_kernel_are_refused() {
    let device = gpu();
    let program = open(&device, "amdgcn:gfx1100", &code_object(3, GFX1100), vec![saxpy_record()]).unwrap();
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
    let error = refusal(&opened(&device), "none", range, &mut []);
    assert!(error.contains("kernel `none`: the image does not have it: hipErrorNotFound (500)"), "{error}");
}

fn refusal_to_open(device: &Device, bytes: &[u8]) -> String {
    open(device, "amdgcn:gfx1100", bytes, Vec::new()).unwrap_err().to_string()
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn what_is_no_code_object_does_not_reach_the_runtime() {
    let device = gpu();
    for bytes in [b"CCOB".as_slice(), b"__CLANG_OFFLOAD_BUNDLE__", b"", &code_object(3, GFX1100)[..40]] {
        let error = refusal_to_open(&device, bytes);
        assert!(error.starts_with("stand-in: cannot load m for amdgcn:gfx1100: "), "{error}");
        assert!(error.contains("it is not an AMD code object") || error.contains("is not whole"), "{error}");
    }
    let mut machine = code_object(3, GFX1100);
    machine[18] = 62;
    assert!(refusal_to_open(&device, &machine).contains("it is not an AMD code object"));
    let mut reaching = code_object(3, GFX1100);
    reaching[60] = 9;
    let error = refusal_to_open(&device, &reaching);
    assert!(error.contains("the image is not whole: "), "{error}");
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn what_the_pack_says_wrongly_the_runtime_notices() {
    let device = gpu();
    let good = code_object(3, GFX1100);
    let named = vec![kernel("no\x1bne", &[])];
    let error = open(&device, "amdgcn:gfx1100", &good, named).unwrap_err().to_string();
    assert!(
        error.contains("cannot use m for amdgcn:gfx1100: kernel `no\\u{1b}ne`: hipErrorNotFound (500)"),
        "{error}"
    );
    let error = open(&device, "amdgcn:gfx1100", &code_object(3, GFX90A), Vec::new()).unwrap_err().to_string();
    assert!(error.contains("cannot load m for amdgcn:gfx1100: hipErrorNoBinaryForGpu (209)"), "{error}");
    assert!(error.contains("\nhint: compare the target with `rocminfo`'s name"), "{error}");
}

/// A kernel that crashes takes the device with it, so it gets a process of its own: this test again.
#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn a_crash_is_named_by_whoever_waits() {
    let device = gpu();
    if std::env::var_os(CRASH_CHILD).is_some() {
        let program = opened(&device);
        let crash = program.kernel("crash").unwrap();
        let stream = device.stream().unwrap();
        // SAFETY: the kernel touches nothing.
        unsafe { crash.launch(&stream, one_group(1), &[]) }.unwrap();
        crate::common::streams::print_what_comes_after_a_crash(&stream);
        println!("then: {}", refusal(&program, "saxpy", one_group(1), &mut saxpy_args()));
        return;
    }
    let mut child = Command::new(std::env::current_exe().unwrap());
    child
        .args(["--exact", "hip::a_crash_is_named_by_whoever_waits", "--include-ignored", "--nocapture"])
        .env(CRASH_CHILD, "1");
    let output = child.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let first = text.lines().find(|line| line.starts_with("first: ")).expect(&text);
    assert!(
        first.starts_with("first: kernel `crash`: ") && first.contains("hipErrorLaunchFailure (719)"),
        "{text}"
    );
    // The stand-in tells a host function, which is then dropped and not called, and the future of the failure.
    assert!(text.contains("queued: 0 1\n") || text.contains("refused: 0 1\n"), "{text}");
    #[cfg(feature = "futures")]
    assert!(text.contains("awaited: kernel `crash`: ") || text.contains("refused: "), "{text}");
    assert!(text.contains("hint: `rocgdb` stops where the kernel failed"), "{text}");
    let then = text.lines().find(|line| line.starts_with("then: ")).expect(&text);
    assert!(then.contains("hipErrorLaunchFailure"), "{text}");
}
