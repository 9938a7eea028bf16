//! The files of the crate, and what is known not to compile.

use super::Headers;

/// A file of kernels.
pub(super) struct File {
    pub(super) name: &'static str,
    /// Below the crate's `src`.
    pub(super) path: &'static str,
    /// Why it does not compile without NVIDIA's headers, if it does not.
    pub(super) lacks: Option<&'static str>,
    /// The macro with which it has no inline PTX, for others than NVIDIA.
    pub(super) define_elsewhere: Option<&'static str>,
    /// Why it does not compile for the CPU, if it does not.
    pub(super) lacks_on_host: Option<&'static str>,
    /// The same of `__CUDA_ARCH__`, where the default has some.
    pub(super) arch_elsewhere: Option<&'static str>,
}

impl File {
    /// Why the file does not compile this way, as far as that is known.
    pub(super) fn reason(&self, headers: Headers, target: &str) -> Option<&'static str> {
        match headers {
            Headers::Nvidia => None,
            Headers::Own if target.starts_with("host") => self.lacks.or(self.lacks_on_host),
            Headers::Own => self.lacks,
        }
    }
}

pub(super) const FILES: [File; 27] = [
    file("affine", "affine.cu"),
    file("binary", "binary.cu"),
    file("cast", "cast.cu"),
    file("conv", "conv.cu"),
    file("fill", "fill.cu"),
    file("indexing", "indexing.cu"),
    mmq("mmq_instance_q2_k", "mmq_gguf/mmq_instance_q2_k.cu"),
    mmq("mmq_instance_q3_k", "mmq_gguf/mmq_instance_q3_k.cu"),
    mmq("mmq_instance_q4_0", "mmq_gguf/mmq_instance_q4_0.cu"),
    mmq("mmq_instance_q4_1", "mmq_gguf/mmq_instance_q4_1.cu"),
    mmq("mmq_instance_q4_k", "mmq_gguf/mmq_instance_q4_k.cu"),
    mmq("mmq_instance_q5_0", "mmq_gguf/mmq_instance_q5_0.cu"),
    mmq("mmq_instance_q5_1", "mmq_gguf/mmq_instance_q5_1.cu"),
    mmq("mmq_instance_q5_k", "mmq_gguf/mmq_instance_q5_k.cu"),
    mmq("mmq_instance_q6_k", "mmq_gguf/mmq_instance_q6_k.cu"),
    mmq("mmq_instance_q8_0", "mmq_gguf/mmq_instance_q8_0.cu"),
    mmq("mmq_quantize", "mmq_gguf/mmq_quantize.cu"),
    file("mmvq_gguf", "mmvq_gguf.cu"),
    file("moe_align", "moe/moe_align.cu"),
    file("moe_gguf", "moe/moe_gguf.cu"),
    wmma("moe_wmma", "moe/moe_wmma.cu"),
    wmma("moe_wmma_gguf", "moe/moe_wmma_gguf.cu"),
    file("quantized", "quantized.cu"),
    file("reduce", "reduce.cu"),
    file("sort", "sort.cu"),
    file("ternary", "ternary.cu"),
    file("unary", "unary.cu"),
];

pub(super) const fn file(name: &'static str, path: &'static str) -> File {
    File { name, path, lacks: None, lacks_on_host: None, define_elsewhere: None, arch_elsewhere: None }
}

/// From 750 on these multiply by `mma.sync`.
const fn mmq(name: &'static str, path: &'static str) -> File {
    File { arch_elsewhere: Some("720"), ..file(name, path) }
}

const fn wmma(name: &'static str, path: &'static str) -> File {
    let lacks_on_host = Some("inline assembly, of one kind or another for each vendor's GPUs");
    File { lacks_on_host, define_elsewhere: Some("USE_ROCM"), ..file(name, path) }
}
