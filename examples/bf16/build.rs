//! Exports the functions of `include/bf16.h` to kernels of other crates.

fn main() {
    offload_build::Build::new().file("device/bf16.cl").include("include").export("bf16", "include");
}
