//! Launches of small images that the C compiler makes.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use offload_format::codec::{self, Codec};
use offload_format::pack::{ArgInfo, ArgKind, KernelInfo, NewImage, PackBuilder};

use super::*;
use crate::{Arg, Device, Program, Registry};

const PRELUDE: &str = "
#include <stdint.h>
struct offload_group {
  uint64_t global_offset[3], global_size[3], local_size[3], num_groups[3], group_id[3];
  uint64_t work_dim;
  void (*print)(void *, const char *, uint64_t);
  void *print_data;
  void *frame;
};
#define FRAMED(name, frame) const uint64_t __offload_frame_##name = frame; \\
  uint32_t __offload_run_##name(const struct offload_group *g, void *const *args, \\
                                const uint64_t *first, const uint64_t *last)
#define KERNEL(name) FRAMED(name, 0)
#define EACH(d, i) for (uint64_t i = first[d]; i < last[d]; i++)
";

const KERNELS: &str = "
const uint32_t __offload_host_abi = 2;
float fmaf(float, float, float);
/* y[i] = a * x[i] + y[i] */
KERNEL(saxpy) {
  float a = *(float *)args[0], *x = *(float **)args[1], *y = *(float **)args[2];
  EACH(0, i) { uint64_t id = g->group_id[0] * g->local_size[0] + i; y[id] = fmaf(a, x[id], y[id]); }
  return 0;
}
/* Reverses each group through its frame. */
FRAMED(reverse, 4) {
  int *x = *(int **)args[0], *tile = g->frame;
  uint64_t n = g->local_size[0], base = g->group_id[0] * n;
  EACH(0, i) tile[i] = x[base + i];
  EACH(0, i) x[base + i] = tile[n - 1 - i];
  return 0;
}
KERNEL(divergent) { return 0x80000000u + 12; }
FRAMED(large, 1ull << 62) { return 0; }
/* Each work-item writes what it knows of itself, and adds through the local argument. */
KERNEL(where) {
  uint64_t *out = *(uint64_t **)args[0];
  uint32_t *scratch = *(uint32_t **)args[1];
  EACH(2, z) EACH(1, y) EACH(0, x) {
    uint64_t id[3] = { x, y, z }, at[3];
    for (int d = 0; d < 3; d++) at[d] = g->group_id[d] * g->local_size[d] + id[d];
    scratch[0] = (uint32_t)(at[0] + g->global_offset[0]);
    out[(at[2] * g->global_size[1] + at[1]) * g->global_size[0] + at[0]] =
      scratch[0] * 10000 + (at[1] + g->global_offset[1]) * 100 + at[2] + g->work_dim * 1000000
      + ((uint64_t)scratch % 128 ? 1000000000 : 0);
  }
  return 0;
}
KERNEL(hello) { g->print(g->print_data, \"hello\", 5); return 0; }
";

pub(super) fn compiled(source: &str) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("image.so");
    let mut cc = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-nostdlib", "-Wall", "-Werror", "-x", "c", "-", "-o"])
        .arg(&path)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    cc.stdin.take().unwrap().write_all(format!("{PRELUDE}{source}").as_bytes()).unwrap();
    assert!(cc.wait().unwrap().success());
    std::fs::read(path).unwrap()
}

pub(super) fn kernel(name: &str, args: &[(&str, ArgKind)]) -> KernelInfo {
    let mut infos = Vec::new();
    for (type_name, kind) in args {
        let size = (*kind == ArgKind::Value).then_some(4);
        infos.push(ArgInfo::new(*kind).named("a", type_name.to_string()).with_size(size));
    }
    let mut info = KernelInfo::new(name);
    info.args = Some(infos);
    info
}

fn waiting(name: &str, args: &[(&str, ArgKind)]) -> KernelInfo {
    let mut info = kernel(name, args);
    info.has_barrier = true;
    info
}

fn load(source: &str, kernels: Vec<KernelInfo>) -> Result<Program, Error> {
    let frame = codec::encode(&compiled(source), Codec::Zstd, 1).unwrap();
    let mut builder = PackBuilder::new("test", "1.0.0");
    builder.image(NewImage { kernels, ..NewImage::new("k", "host".parse().unwrap()) }, frame.info()).unwrap();
    let pack = builder.finish().unwrap().with_frames([&frame]).unwrap();
    let device = Device::host();
    let selection = Registry::from_pack(pack).request("k").select(&device).unwrap();
    device.open(&selection.entry().load()?)
}

fn program() -> Program {
    let value = ArgKind::Value;
    let global = ArgKind::Global;
    let local = ArgKind::Local;
    let kernels = vec![
        kernel("saxpy", &[("float", value), ("float*", global), ("float*", global)]),
        waiting("reverse", &[("int*", global)]),
        waiting("divergent", &[]),
        waiting("large", &[]),
        kernel("where", &[("ulong*", global), ("uint*", local)]),
        kernel("hello", &[]),
    ];
    load(KERNELS, kernels).unwrap()
}

#[test]
fn groups_run_over_threads() {
    let program = program();
    let x: Vec<f32> = (0..1 << 16).map(|i| i as f32).collect();
    let mut y = vec![1.0f32; x.len()];
    let range = NdRange::new([1 << 16], [64]);
    let mut args = [Arg::value(&2.0f32), Arg::input(&x), Arg::in_out(&mut y)];
    // SAFETY: the buffers have an element for each work-item.
    unsafe { program.launch("saxpy", range, &mut args) }.unwrap();
    assert!(y.iter().enumerate().all(|(i, y)| *y == 2.0 * i as f32 + 1.0));
}

#[test]
fn barriers_wait_for_the_whole_group() {
    let program = program();
    for (global, local) in [(8, 8), (1 << 15, 256), (4096, 1), (3000, 1000)] {
        let mut x: Vec<i32> = (0..global as i32).collect();
        let range = NdRange::new([global], [local]);
        // SAFETY: the buffer has an element for each work-item.
        unsafe { program.launch("reverse", range, &mut [Arg::in_out(&mut x)]) }.unwrap();
        let n = local as i32;
        let expected: Vec<i32> = (0..global as i32).map(|i| i / n * n + n - 1 - i % n).collect();
        assert_eq!(x, expected, "{global} in groups of {local}");
    }
}

#[test]
fn a_barrier_that_some_miss_is_an_error() {
    let program = program();
    let range = NdRange::new([16], [16]);
    // SAFETY: the kernel touches no memory.
    let error = unsafe { program.launch("divergent", range, &mut []) }.unwrap_err().to_string();
    assert!(error.contains("`divergent`") && error.contains("the barrier in line 12 was not reached by all"));
    // SAFETY: as above.
    let error = unsafe { program.launch("large", range, &mut []) }.unwrap_err().to_string();
    assert!(error.contains("bytes for each of 16 work-items") && error.contains("memory"), "{error}");
}

#[test]
fn work_items_know_where_they_are() {
    let program = program();
    let nx = 32;
    let ny = 16;
    let nz = 8;
    let mut out = vec![0u64; nx * ny * nz];
    let range = NdRange::new([nx, ny, nz], [4, 2, 8]).with_offset([5, 7, 0]);
    let mut args = [Arg::in_out(&mut out), Arg::local::<u32>(1)];
    // SAFETY: the buffer has an element for each work-item, and each group its local memory.
    unsafe { program.launch("where", range, &mut args) }.unwrap();
    for (index, found) in out.iter().enumerate() {
        let x = index % nx;
        let y = index / nx % ny;
        let z = index / nx / ny;
        assert_eq!(*found, 3_000_000 + ((x + 5) * 10000 + (y + 7) * 100 + z) as u64);
    }
}

#[test]
fn printed_text_arrives() {
    let info = kernel("hello", &[]);
    let image = HostImage::load(&compiled(KERNELS), std::slice::from_ref(&info), Vec::new()).unwrap();
    let text = Mutex::new(Vec::new());
    let range = NdRange::new([2], [1]);
    let code = image.code("hello").unwrap();
    let bound = BoundArgs::new(&info, &[]).unwrap();
    let launch = Launch {
        code,
        range: &range,
        args: &bound,
        print: &|bytes| text.lock().unwrap().extend_from_slice(bytes),
        sanitizer: None,
    };
    // SAFETY: the kernel takes no arguments.
    unsafe { executor::run(&launch) }.unwrap();
    assert_eq!(text.into_inner().unwrap(), b"hellohello");
}

#[test]
fn images_that_do_not_fit_are_refused() {
    let error = load("const uint32_t __offload_host_abi = 3;", vec![]).unwrap_err().to_string();
    assert!(error.contains("version 3") && error.contains("version 2"), "{error}");
    let error = load("int nothing;", vec![]).unwrap_err().to_string();
    assert!(error.contains("no symbol __offload_host_abi"), "{error}");
    let missing = "const uint32_t __offload_host_abi = 2;";
    let error = load(missing, vec![kernel("gone", &[])]).unwrap_err().to_string();
    assert!(error.contains("__offload_run_gone"), "{error}");
    assert!(HostImage::load(b"not an object", &[], Vec::new()).is_err());
}

#[test]
fn the_temporary_file_serves_where_memory_does_not_and_goes() {
    let bytes = compiled("const uint32_t __offload_host_abi = 2;");
    // Threads that load the same image do not get into each other's way.
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| drop(object::from_temporary(&bytes).ok().unwrap()));
        }
    });
    let prefix = format!("offload-host-{}-{}", std::process::id(), offload_format::Hash128::digest(&bytes));
    let left = std::fs::read_dir(std::env::temp_dir()).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(left.filter(|name| name.to_string_lossy().starts_with(&prefix)).count(), 0);
    let error = object::from_temporary(b"not an object").err().unwrap();
    assert!(error.contains("offload-host-"), "{error}");
    assert!(cfg!(windows) || error.contains("file too short"), "{error}");
}

#[test]
fn data_stays_on_the_device() {
    let program = program();
    let stream = Device::host().stream().unwrap();
    let saxpy = program.kernel("saxpy").unwrap();
    drop(program);
    let x = stream.upload(&[1.0f32; 256]).unwrap();
    let mut y = stream.zeroed::<f32>(512).unwrap();
    let range = NdRange::linear_at_least(256, 64);
    for _ in 0..3 {
        let second = y.slice_mut(256..).unwrap();
        let args = [KernelArg::value(&2.0f32), KernelArg::buffer(&x), KernelArg::buffer_mut(second)];
        // SAFETY: each buffer has an element for each work-item.
        unsafe { saxpy.launch(&stream, range, &args) }.unwrap();
    }
    let y = stream.download(&y).unwrap();
    assert_eq!((y[255], y[256], y[511]), (0.0, 6.0, 6.0));
}

#[test]
fn a_part_that_is_not_aligned_for_the_kernel_is_refused() {
    let program = program();
    let stream = Device::host().stream().unwrap();
    let bytes = stream.zeroed::<u8>(64).unwrap();
    let mut y = stream.zeroed::<f32>(4).unwrap();
    let x = KernelArg::buffer(bytes.slice(2..18).unwrap());
    let args = [KernelArg::value(&2.0f32), x, KernelArg::buffer_mut(&mut y)];
    let range = NdRange::linear_at_least(4, 4);
    // SAFETY: the launch is refused.
    let error = unsafe { program.kernel("saxpy").unwrap().launch(&stream, range, &args) };
    let error = error.unwrap_err().to_string();
    assert!(error.contains("kernel `saxpy`: argument 1: the part starts at byte 2"), "{error}");
    assert!(error.contains("needs a multiple of 4") && error.contains("hint: "), "{error}");
}

#[test]
fn the_cpu_tells_what_the_system_does() {
    let properties = Device::host().properties().unwrap();
    assert_eq!(properties.compute_units.map(|units| units as usize), Some(executor::cpus()));
    assert_eq!((properties.is_memory_unified, properties.driver_version.clone()), (Some(true), None));
    assert_eq!(properties.takes_memory_advice, Some(false));
    assert_eq!((properties.pci, properties.uuid, properties.max_groups), (None, None, None));
    assert_eq!(properties.aspects, Device::host().description().aspects());
    if cfg!(any(target_os = "linux", windows)) {
        assert!(properties.memory.is_some_and(|bytes| bytes > 1 << 26), "{properties:?}");
        assert!(properties.free_memory <= properties.memory && properties.free_memory > Some(0));
    }
}

#[test]
fn suggested_ranges_cover_their_items_and_run() {
    let program = program();
    let saxpy = program.kernel("saxpy").unwrap();
    let properties = saxpy.properties();
    assert_eq!((properties.preferred_multiple, properties.required_work_group), (Some(16), None));
    for items in [0, 1, 33, 1000, 100_003] {
        let range = saxpy.suggest_at_least(items).unwrap();
        let size = range.global()[0];
        assert!(size >= items && range.local()[0].is_multiple_of(16) && range.local()[0] <= 256, "{range:?}");
        let x = vec![1.0f32; size];
        let mut y = vec![2.0f32; size];
        let mut args = [Arg::value(&3.0f32), Arg::input(&x), Arg::in_out(&mut y)];
        // SAFETY: the buffers have an element for each work-item.
        unsafe { program.launch("saxpy", range, &mut args) }.unwrap();
        assert!(y.iter().all(|value| *value == 5.0));
    }
    let busy = saxpy.suggest_at_least(1 << 24).unwrap();
    assert_eq!(busy.local()[0], 256);
    let error = saxpy.suggest_at_least_with(100, 64).unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::Launch);
}

#[test]
fn a_required_work_group_is_kept() {
    let mut saxpy = kernel("saxpy", &[]);
    saxpy.required_work_group = Some([4, 2, 1]);
    let saxpy = load(KERNELS, vec![saxpy]).unwrap().kernel("saxpy").unwrap();
    assert_eq!(saxpy.properties().required_work_group, Some([4, 2, 1]));
    assert_eq!(saxpy.suggest_at_least(20).unwrap(), NdRange::new([12, 2], [4, 2]));
}

#[test]
fn what_only_gpus_have_is_refused() {
    let saxpy = program().kernel("saxpy").unwrap();
    let stream = Device::host().stream().unwrap();
    let x = stream.upload(&[1.0f32; 16]).unwrap();
    let mut y = stream.upload(&[2.0f32; 16]).unwrap();
    let range = NdRange::linear_at_least(16, 16);
    for refused in [range.cooperative(), range.with_cluster([1]), range.programmatic_dependent()] {
        let args = [KernelArg::value(&3.0f32), KernelArg::buffer(&x), KernelArg::buffer_mut(&mut y)];
        // SAFETY: the buffers have an element for each work-item.
        let error = unsafe { saxpy.launch(&stream, refused, &args) }.unwrap_err();
        assert!(error.hint().is_some_and(|hint| hint.contains("host CPU")), "{error}");
    }
    assert_eq!(stream.download(&y).unwrap(), [2.0; 16]);
    let error = saxpy.max_cooperative_groups(range).unwrap_err().to_string();
    assert!(error.contains("no cooperative launches"), "{error}");
}
