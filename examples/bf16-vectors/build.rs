//! Compiles the kernels with the library that the crate `bf16` exports.

fn main() {
    offload_build::Build::new().file("kernels/vectors.cl").import("bf16").compile("vectors");
}
