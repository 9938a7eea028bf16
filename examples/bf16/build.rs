//! Exports the functions of `include/bf16.h` to kernels of other crates, with images for those that link them at load.

use offload_build::{Build, Link};

fn main() {
    Build::new().file("device/bf16.cl").include("include").link(Link::Load).export("bf16", "include");
}
