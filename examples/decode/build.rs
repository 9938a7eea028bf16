//! Compiles the kernels for the targets of `offload.toml` and embeds the images.

fn main() {
    offload_build::Build::new().file("kernels/decode.cl").compile("kernels");
}
