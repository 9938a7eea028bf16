//! `printf` and `assert` in kernels: on the host CPU they run; for NVIDIA and AMD GPUs tools accept the images, whose
//! messages go through the launch layer. `cargo xtask gpu` runs them on a GPU.

use crate::support::Project;

const KERNELS: &str = r#"#include <assert.h>
static int checked(int i, int most) {
  assert(i < most && "a, b");
  return i;
}
kernel void count(global int *out, int most) {
  local int sums[8];
  int i = get_global_id(0);
  sums[get_local_id(0)] = checked(i, most);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) {
    int sum = 0;
    for (int j = 0; j < 8; ++j) sum += sums[j];
    out[get_group_id(0)] = sum;
    printf("group %d: %d of %s %v2d\n", (int)get_group_id(0), sum, "eight", (int2)(sum, -sum));
  }
}
kernel void plain(global int *out, int most) {
  out[get_global_id(0)] = checked(get_global_id(0), most);
}
"#;

const MAIN: &str = r#"use offload_rt::{Device, KernelArg, NdRange};

offload_rt::include_kernels!("square");

fn main() {
    let mut devices = vec![Device::host()];
    devices.extend(offload_rt::opencl::devices().unwrap_or_default());
    for entry in offload_rt::Registry::process().entries() {
        let bytes = entry.load().unwrap();
        let has = |text: &[u8]| bytes.bytes().windows(text.len()).any(|part| part == text);
        println!("{}: ring {}, vprintf {}", entry.target_text(), has(b"__offload_output"), has(b"extern .func  (.param .b32 func_retval0) vprintf"));
    }
    for device in devices {
        let Ok(program) = square::module().open(&device) else { continue };
        println!("on {}", device.name());
        let stream = device.stream().unwrap();
        let mut out = stream.zeroed::<i32>(64).unwrap();
        for (kernel, most) in [("count", 64), ("plain", 64), ("count", 11), ("plain", 11), ("count", 64)] {
            let args = [KernelArg::buffer_mut(&mut out), KernelArg::value(&most)];
            let kernel = program.kernel(kernel).unwrap();
            // SAFETY: the kernels write at most 64 elements.
            let launched = unsafe { kernel.launch(&stream, &NdRange::linear(16, 8).unwrap(), &args) };
            match launched.and_then(|()| stream.synchronize()) {
                Ok(()) => println!("right"),
                Err(error) => println!("error: {error}"),
            }
        }
    }
}
"#;

/// The project keeps the program's directory.
fn run(source: &str, name: &str, targets: &str) -> String {
    let project = Project::new("debugged");
    project.write("kernels/square.cl", source);
    project.write("src/main.rs", MAIN);
    project.write("offload.toml", &format!("targets = [{targets}]\n{name}"));
    let output = std::process::Command::new(project.program()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_failed_assertion_on_the_host_names_kernel_work_item_and_line() {
    let text = run(KERNELS, "", "\"host\"");
    let lines = "group 0: 28 of eight 28,-28\ngroup 1: 92 of eight 92,-92\n";
    assert_eq!(text.matches(lines).count(), 2, "{text}");
    for kernel in ["count", "plain"] {
        let failed =
            format!("error: kernel `{kernel}`: assertion `i < most && \"a, b\"` failed in work-item (");
        let line = text.lines().find(|line| line.starts_with(&failed)).expect(&text);
        let (item, place) = line.strip_prefix(&failed).unwrap().split_once(", 0, 0): ").unwrap();
        assert_eq!(place, "kernels/square.cl:3, in `checked`");
        assert!((11..16).contains(&item.parse().unwrap()), "{line}");
    }
    assert!(text.trim_end().ends_with("right"), "{text}");
}

#[test]
fn kernels_for_gpus_print_and_assert() {
    let text = run(
        KERNELS,
        "",
        "\"nvptx:sm_75\", \"cubin:sm_90\", \"amdgcn:gfx1100\", \"amdgcn:gfx90a\", \"spirv64\", \"opencl-c\"",
    );
    for target in ["nvptx:sm_75", "cubin:sm_90", "amdgcn:gfx1100", "amdgcn:gfx90a"] {
        assert!(text.contains(&format!("{target}: ring true, vprintf false\n")), "{text}");
    }
    for target in ["spirv64", "opencl-c"] {
        assert!(text.contains(&format!("{target}: ring false, vprintf false\n")), "{text}");
    }
}
