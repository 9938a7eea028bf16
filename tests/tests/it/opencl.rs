//! Launches on the OpenCL devices of this machine, PoCL at least. SPIR-V is launched by the demo's tests.

mod graphs;
mod images;
mod intel;
mod pools;
mod properties;
mod streams;
mod takeover;

use std::sync::{Mutex, MutexGuard, PoisonError};

use object::elf::DT_NEEDED;
use object::read::elf::{Dyn, ElfFile64};
use offload_format::codec::{self, Codec};
use offload_format::pack::{ArgInfo, ArgKind, KernelInfo, NewImage, PackBuilder};
use offload_rt::opencl::Compiler;
use offload_rt::{Arg, Device, Error, LoadedImage, NdRange, Program, Registry};

const SOURCE: &str = "
kernel void saxpy(float a, global const float *x, global float *y) {
    size_t i = get_global_id(0);
    y[i] = a * x[i] + y[i];
}
kernel void reverse(global int *x, local int *tile) {
    size_t i = get_local_id(0), n = get_local_size(0);
    tile[i] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    x[get_global_id(0)] = tile[n - 1 - i];
}
kernel void add_all(global const float *x, uint n, global float *y) {
    for (uint i = 0; i < n; i++) y[get_global_id(0)] += x[i];
}
";

/// PoCL 3.1 finds no device when a second thread asks while it starts.
static DRIVER: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    DRIVER.lock().unwrap_or_else(PoisonError::into_inner)
}

fn kernel(name: &str, kinds: &[ArgKind]) -> KernelInfo {
    {
        let mut info = KernelInfo::new(name);
        info.args = Some(kinds.iter().map(|kind| ArgInfo::new(*kind).named("a", "t")).collect());
        info
    }
}

fn registry(target: &str, bytes: &[u8]) -> Registry {
    let kernels = vec![
        kernel("saxpy", &[ArgKind::Value, ArgKind::Global, ArgKind::Global]),
        kernel("reverse", &[ArgKind::Global, ArgKind::Local]),
        kernel("add_all", &[ArgKind::Global, ArgKind::Value, ArgKind::Global]),
    ];
    let frame = codec::encode(bytes, Codec::Zstd, 3).unwrap();
    let mut builder = PackBuilder::new("test", "1.0.0");
    builder.image(NewImage { kernels, ..NewImage::new("k", target.parse().unwrap()) }, frame.info()).unwrap();
    let pack = builder.finish().unwrap().with_frames([&frame]).unwrap();
    Registry::from_pack(pack)
}

/// The image of `registry` for each OpenCL device of this machine. Every driver takes source, and PoCL is always there.
fn for_each_device(registry: &Registry) -> Vec<(Device, LoadedImage)> {
    let devices = match offload_rt::opencl::devices() {
        Ok(devices) => devices,
        Err(error) => return offload_tests::skip(&error.to_string()).unwrap_or_default(),
    };
    assert!(!devices.is_empty(), "drivers without devices are an error");
    let mut loaded = Vec::new();
    for device in devices {
        let image = registry.request("k").select(&device).and_then(|selected| selected.entry().load());
        let image = image.unwrap_or_else(|error| panic!("{device}: {error}"));
        loaded.push((device, image));
    }
    loaded
}

fn run_both(program: &Program) {
    let x: Vec<f32> = (0..4096).map(|i| i as f32).collect();
    let mut y = vec![1.0f32; 4096];
    let range = NdRange::new([4096], [64]);
    let mut args = [Arg::value(&2.0f32), Arg::input(&x), Arg::in_out(&mut y)];
    // SAFETY: the buffers have an element for each work-item.
    let took = unsafe { program.launch("saxpy", range, &mut args) }.unwrap();
    assert!(y.iter().enumerate().all(|(i, y)| *y == 2.0 * i as f32 + 1.0));
    assert!(took.as_nanos() > 0);

    let mut x: Vec<i32> = (0..4096).collect();
    let mut args = [Arg::in_out(&mut x), Arg::local::<i32>(64)];
    // SAFETY: as above, and each group has local memory for its work-items.
    unsafe { program.launch("reverse", range, &mut args) }.unwrap();
    assert!(x.iter().enumerate().all(|(i, x)| *x as usize == i / 64 * 64 + 63 - i % 64));
}

#[test]
fn source_runs_on_every_device() {
    let _alone = alone();
    for (device, image) in for_each_device(&registry("opencl-c", SOURCE.as_bytes())) {
        println!("{device}");
        run_both(&device.open(&image).unwrap());
    }
}

#[test]
fn more_local_memory_than_a_work_group_has_tells_the_limit() {
    let _alone = alone();
    for (device, image) in for_each_device(&registry("opencl-c", SOURCE.as_bytes())) {
        let program = device.open(&image).unwrap();
        let most = device.properties().unwrap().local_memory.unwrap();
        let taken = usize::try_from(2 * most).unwrap();
        let mut x = vec![0i32; 64];
        let mut args = [Arg::in_out(&mut x), Arg::local::<u8>(taken)];
        // SAFETY: the buffer has an element for each work-item, and each group more local memory than it uses.
        let launched = unsafe { program.launch("reverse", NdRange::new([64], [64]), &mut args) };
        let error = launched.unwrap_err().to_string();
        assert!(error.contains(&taken.to_string()) && error.contains(&most.to_string()), "{device}: {error}");
    }
}

#[test]
fn a_work_group_that_is_too_large_tells_the_limit() {
    let _alone = alone();
    for (device, image) in for_each_device(&registry("opencl-c", SOURCE.as_bytes())) {
        let program = device.open(&image).unwrap();
        let most = Compiler::new(&device).unwrap().properties().max_work_group;
        let most = usize::try_from(most).unwrap();
        let range = NdRange::linear_at_least(most + 1, most + 1);
        let mut x = vec![0i32; most + 1];
        let mut args = [Arg::in_out(&mut x), Arg::local::<i32>(16)];
        // SAFETY: the buffer has an element for each work-item; the driver refuses the group.
        let error = unsafe { program.launch("reverse", range, &mut args) }.unwrap_err().to_string();
        assert!(error.contains(&(most + 1).to_string()), "{device}: {error}");
        assert!(
            error.contains(&format!("the device's [{most}")) || error.contains(&format!("the {most} ")),
            "{device}: {error}"
        );
    }
}

#[test]
fn the_build_log_is_in_the_error() {
    let _alone = alone();
    for (device, image) in for_each_device(&registry("opencl-c", b"kernel void f() { unheard_of(); }")) {
        let error: Error = device.open(&image).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("cannot build k for opencl-c") && text.contains("unheard_of"), "{text}");
    }
}

/// Programs start where OpenCL is not installed: the library is opened when devices are asked for.
#[test]
fn the_library_is_not_linked() {
    let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let file = ElfFile64::<object::Endianness>::parse(&*program).unwrap();
    let endian = file.endian();
    let sections = file.elf_section_table();
    let (entries, strings) = sections.dynamic(endian, &*program).unwrap().unwrap();
    let strings = sections.strings(endian, &*program, strings).unwrap();
    let needed = entries.iter().filter(|entry| entry.tag(endian) == DT_NEEDED);
    let needed: Vec<&str> =
        needed.map(|entry| std::str::from_utf8(entry.string(endian, strings).unwrap()).unwrap()).collect();
    assert!(needed.iter().any(|library| library.starts_with("libc.so")), "{needed:?}");
    assert!(!needed.iter().any(|library| library.contains("OpenCL")), "{needed:?}");
}
