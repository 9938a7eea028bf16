//! The images of a split module as one program, each opened when it is first used.
#![cfg(all(feature = "host", target_os = "linux"))]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Barrier;

use crate::common::TestPack;
use offload_format::pack::{ArgInfo, ArgKind, KernelInfo, NewImage};
use offload_rt::{Arg, Device, Error, NdRange, Program, Registry};

/// A host image with one kernel, which adds `number` to its buffer, and which notes in the file `log` that it was
/// loaded.
fn object(directory: &Path, (kernel, number): (&str, u32)) -> Vec<u8> {
    let (source, object, log) =
        (directory.join("image.c"), directory.join("image.so"), log(directory, kernel));
    let text = format!(
        "#include <stdint.h>
         #include <stdio.h>
         const uint32_t __offload_host_abi = 2;
         __attribute__((constructor)) static void loaded(void) {{
           FILE *file = fopen({log:?}, \"a\");
           fputc('x', file);
           fclose(file);
         }}
         const uint64_t __offload_frame_{kernel} = 0;
         uint32_t __offload_run_{kernel}(const void *group, void *const *args, const uint64_t *first, const uint64_t *last) {{
           uint32_t *x = *(uint32_t **)args[0];
           for (uint64_t i = first[0]; i < last[0]; i++) x[i] += {number};
           return 0;
         }}"
    );
    std::fs::write(&source, text).unwrap();
    let cc = Command::new("cc").args(["-shared", "-fPIC", "-Werror", "-o"]).args([&object, &source]).status();
    assert!(cc.unwrap().success());
    std::fs::read(object).unwrap()
}

fn log(directory: &Path, kernel: &str) -> PathBuf {
    directory.join(format!("{kernel}.log"))
}

/// How often the image with `kernel` was loaded.
fn loads(directory: &Path, kernel: &str) -> usize {
    std::fs::read(log(directory, kernel)).map_or(0, |bytes| bytes.len())
}

fn part(target: &str, kernel: &str) -> NewImage {
    let arg = ArgInfo::new(ArgKind::Global).named("x", "uint*");
    let kernels = vec![{
        let mut info = KernelInfo::new(kernel);
        info.args = Some(vec![arg]);
        info
    }];
    NewImage { part: kernel.into(), kernels, ..NewImage::new("m", target.parse().unwrap()) }
}

/// The kernels `one` and `two` in good images, `bad` in one that is none, and `gpu` in one for another device.
fn registry(directory: &Path) -> Registry {
    let pack = TestPack::new("p")
        .image(part("host", "one"), &object(directory, ("one", 1)))
        .image(part("host", "two"), &object(directory, ("two", 2)))
        .image(part("host", "bad"), b"no shared object")
        .image(part("spirv64", "gpu"), b"no module");
    Registry::from_pack(pack.bytes())
}

fn launch(program: &Program, kernel: &str) -> Result<u32, Error> {
    let mut x = [10u32; 4];
    let range = NdRange::new([4], [4]);
    // SAFETY: the buffer has an element for each work-item.
    unsafe { program.launch(kernel, range, &mut [Arg::in_out(&mut x)]) }?;
    assert!(x.iter().all(|value| *value == x[0]));
    Ok(x[0])
}

fn open(registry: &Registry) -> Program {
    let device = Device::host();
    device.open_selection(&registry.request("m").select(&device).unwrap()).unwrap()
}

#[test]
fn an_image_is_opened_when_its_kernel_is_used_and_only_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let program = open(&registry(path));
    let names: Vec<&str> = program.kernels().iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["bad", "one", "two"]);
    assert_eq!((loads(path, "one"), loads(path, "two")), (0, 0));

    let start = Barrier::new(16);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                start.wait();
                assert_eq!(launch(&program, "one").unwrap(), 11);
            });
        }
    });
    assert_eq!((loads(path, "one"), loads(path, "two")), (1, 0));
    assert_eq!(program.kernel("two").unwrap().info().name, "two");
    assert_eq!(loads(path, "two"), 1);
    assert_eq!(launch(&program, "two").unwrap(), 12);
    assert_eq!((loads(path, "one"), loads(path, "two")), (1, 1));
}

#[test]
fn a_part_that_cannot_be_opened_is_an_error_of_its_kernels_alone() {
    let directory = tempfile::tempdir().unwrap();
    let program = open(&registry(directory.path()));
    let first = launch(&program, "bad").unwrap_err().to_string();
    assert!(first.contains("cannot load m [bad] for host"), "{first}");
    assert_eq!(launch(&program, "bad").unwrap_err().to_string(), first);
    assert_eq!(program.kernel("bad").unwrap_err().to_string(), first);
    assert_eq!(launch(&program, "one").unwrap(), 11);
}

#[test]
fn a_kernel_without_a_fitting_image_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let registry = registry(directory.path());
    let program = open(&registry);
    let error = launch(&program, "gpu").unwrap_err().to_string();
    assert!(error.contains("spirv64 [gpu]: it is for an OpenCL device, not for the host CPU"), "{error}");
    assert!(error.ends_with("use the other kernels: bad, one, two"), "{error}");
    let selection = registry.request("m").select(&Device::host()).unwrap();
    assert_eq!(selection.entry_for("gpu").unwrap_err().to_string(), error);
    let error = launch(&program, "three").unwrap_err().to_string();
    assert!(error.contains("has no such kernel\nhint: it has bad, one, two"), "{error}");
}

#[test]
fn a_single_image_is_opened_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let pack = TestPack::new("p").image(part("host", "one"), &object(path, ("one", 1)));
    let program = open(&Registry::from_pack(pack.bytes()));
    assert_eq!(loads(path, "one"), 1);
    assert_eq!(launch(&program, "one").unwrap(), 11);

    let pack = TestPack::new("p").image(part("host", "bad"), b"no shared object");
    let selection = Registry::from_pack(pack.bytes()).request("m").select(&Device::host()).unwrap();
    let error = Device::host().open_selection(&selection).unwrap_err().to_string();
    assert!(error.contains("cannot load m [bad] for host"), "{error}");
}
