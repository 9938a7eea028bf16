// The generated kernels of `tests/data/typed.cl`, over images of the C compiler.

use std::io::Write;
use std::process::{Command, Stdio};

use offload_format::codec::{self, Codec};
use offload_format::pack::{KernelInfo, NewImage, PackBuilder};

/// The kernels that the tests launch, as entries of an image for `host`.
const KERNELS: &str = "
#include <stdint.h>
struct offload_group { uint64_t global_offset[3], global_size[3], local_size[3], num_groups[3], group_id[3]; };
#define KERNEL(name) void __offload_run_##name(const struct offload_group *g, void *const *args, \\
                                              const uint64_t *first, const uint64_t *last)
#define EACH for (uint64_t l = first[0], i = g->group_id[0] * g->local_size[0] + l; l < last[0]; l++, i++)
const uint32_t __offload_host_abi = 1;
KERNEL(saxpy) {
  float a = *(float *)args[0], *x = *(float **)args[1], *y = *(float **)args[2];
  uint32_t n = *(uint32_t *)args[3];
  EACH if (i < n) y[i] = a * x[i] + y[i];
}
KERNEL(sums) {
  float *weights = *(float **)args[0], *x = *(float **)args[1], *sums = *(float **)args[2];
  float *scratch = *(float **)args[3];
  EACH { scratch[l] = x[i] * weights[l]; sums[g->group_id[0]] += scratch[l]; }
}
KERNEL(vectors) {
  float *by = args[0], *x = *(float **)args[3];
  EACH for (int k = 0; k < 4; k++) x[4 * i + k] += by[k];
}
KERNEL(halves) {
  uint16_t *from = *(uint16_t **)args[0];
  float *to = *(float **)args[1];
  EACH to[i] = from[i];
}
struct particle { float place[4]; uint32_t cell, pad[3]; };
KERNEL(move) {
  struct particle *by = args[0], *self = *(struct particle **)args[1];
  uint32_t type = *(uint32_t *)args[2];
  EACH for (int k = 0; k < 4; k++) self[type].place[k] += by->place[k];
}
";

/// A pack with them.
fn pack() -> &'static [u8] {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("image.so");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-O1", "-nostdlib", "-fno-builtin", "-x", "c", "-", "-o"]).arg(&path);
    let mut cc = cc.stdin(Stdio::piped()).spawn().unwrap();
    cc.stdin.take().unwrap().write_all(KERNELS.as_bytes()).unwrap();
    assert!(cc.wait().unwrap().success());
    let frame = codec::encode(&std::fs::read(path).unwrap(), Codec::Zstd, 1).unwrap();
    let mut builder = PackBuilder::new("test", "1.0.0");
    let kernels = ["saxpy", "sums", "vectors", "halves", "move"].map(KernelInfo::new).into();
    builder.image(NewImage { kernels, ..NewImage::new("typed", "host".parse().unwrap()) }, frame.info()).unwrap();
    builder.finish().unwrap().with_frames([&frame]).unwrap().leak()
}

#[forbid(unsafe_code)]
#[deny(missing_docs)]
/// What a build generates.
pub mod typed {
    offload_rt::included_kernel_module!("typed", super::pack());
    include!("../../../tests/data/typed.rs");
}
