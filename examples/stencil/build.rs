//! Compiles the kernel for the targets of `offload.toml` and embeds the images.

fn main() {
    offload_build::Build::new().file("kernels/heat.cl").compile("heat");
}
