//! The names of targets in a SYCLBIN.

use offload_format::Target;

/// The architectures of triples that a runtime knows; it ignores other images
/// (<https://github.com/intel/llvm/blob/sycl/sycl/source/detail/compiler.hpp>).
pub(super) const KNOWN_ARCHES: [&str; 7] =
    ["spir", "spir64", "spir64_x86_64", "spir64_gen", "nvptx64", "amdgcn", "native_cpu"];

/// Every `compile_target` of Intel's devices
/// (<https://github.com/intel/llvm/blob/sycl/sycl/include/sycl/ext/oneapi/experimental/device_architecture.def>).
const INTEL: &[&str] = &[
    "bdw", "skl", "kbl", "cfl", "apl", "bxt", "glk", "whl", "aml", "cml", "icllp", "icl", "ehl", "jsl",
    "tgllp", "tgl", "rkl", "adl_s", "rpl_s", "adl_p", "adl_n", "dg1", "acm_g10", "dg2_g10", "acm_g11",
    "dg2_g11", "acm_g12", "dg2_g12", "pvc", "pvc_vg", "mtl_u", "mtl_s", "arl_u", "arl_s", "mtl_h", "arl_h",
    "bmg_g21", "bmg_g31", "lnl_m", "ptl_h", "ptl_u", "wcl", "nvl_s", "nvl_hx", "nvl_ul", "nvl_u", "nvl_h",
    "nvl_p", "cri",
];
const INTEL_CPU: &[&str] = &["spr", "gnr", "dmr"];
const NVIDIA: &[&str] =
    &["50", "52", "53", "60", "61", "62", "70", "72", "75", "80", "86", "87", "89", "90", "90a"];
const AMD: &[&str] = &[
    "700", "701", "702", "703", "704", "705", "801", "802", "803", "805", "810", "900", "902", "904", "906",
    "908", "909", "90a", "90c", "940", "941", "942", "1010", "1011", "1012", "1013", "1030", "1031", "1032",
    "1033", "1034", "1035", "1036", "1100", "1101", "1102", "1103", "1150", "1151", "1200", "1201",
];

/// The names of a native image's target.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NativeTarget {
    /// The property `target`.
    pub triple: &'static str,
    /// The property `arch`.
    pub arch: String,
    /// The requirement `compile_target`, if the runtime knows the architecture.
    pub compile_target: Option<String>,
}

/// The names of `target`; `None` if SYCL has no native images for it: SPIR-V, PTX, OpenCL C, the host CPU.
///
/// ```
/// use offload_containers::syclbin::native_target;
///
/// let target = native_target(&"intel:acm-g10".parse()?).unwrap();
/// assert_eq!((target.triple, target.arch.as_str()), ("spir64_gen-unknown-unknown", "intel_gpu_acm_g10"));
/// # Ok::<(), offload_format::UnknownTarget>(())
/// ```
pub fn native_target(target: &Target) -> Option<NativeTarget> {
    let (triple, arch, compile_target) = match target {
        Target::Intel(arch) => {
            let name = format!("intel_gpu_{}", arch.name().replace(['-', '.'], "_"));
            ("spir64_gen-unknown-unknown", name.clone(), name)
        }
        Target::Cubin(sm) => ("nvptx64-nvidia-cuda", sm.to_string(), format!("nvidia_gpu_{sm}")),
        Target::Amdgcn(arch) => {
            ("amdgcn-amd-amdhsa", arch.to_string(), format!("amd_gpu_{}", arch.processor()))
        }
        _ => return None,
    };
    let compile_target = Some(compile_target).filter(|name| is_compile_target(name));
    Some(NativeTarget { triple, arch, compile_target })
}

/// Whether a runtime knows a device by this name.
pub(super) fn is_compile_target(name: &str) -> bool {
    for (prefix, names) in
        [("intel_cpu_", INTEL_CPU), ("intel_gpu_", INTEL), ("nvidia_gpu_sm_", NVIDIA), ("amd_gpu_gfx", AMD)]
    {
        if let Some(rest) = name.strip_prefix(prefix) {
            return names.contains(&rest) || prefix == "intel_gpu_" && is_ip_version(rest);
        }
    }
    name == "x86_64" || name == "spir64_x86_64"
}

/// `12_60_7`.
fn is_ip_version(name: &str) -> bool {
    let numbers: Vec<&str> = name.split('_').collect();
    numbers.len() == 3
        && numbers.iter().all(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_have_the_runtime_s_names() {
        for (target, triple, arch, compile_target) in [
            ("intel:pvc", "spir64_gen-unknown-unknown", "intel_gpu_pvc", Some("intel_gpu_pvc")),
            ("intel:12.60.7", "spir64_gen-unknown-unknown", "intel_gpu_12_60_7", Some("intel_gpu_12_60_7")),
            ("intel:xe-hpg", "spir64_gen-unknown-unknown", "intel_gpu_xe_hpg", None),
            ("cubin:sm_90", "nvptx64-nvidia-cuda", "sm_90", Some("nvidia_gpu_sm_90")),
            ("cubin:sm_120", "nvptx64-nvidia-cuda", "sm_120", None),
            ("amdgcn:gfx90a:xnack+", "amdgcn-amd-amdhsa", "gfx90a:xnack+", Some("amd_gpu_gfx90a")),
        ] {
            let found = native_target(&target.parse().unwrap()).unwrap();
            assert_eq!((found.triple, found.arch.as_str()), (triple, arch));
            assert_eq!(found.compile_target.as_deref(), compile_target, "{target}");
        }
        for target in ["spirv64", "nvptx:sm_90", "opencl-c", "host"] {
            assert_eq!(native_target(&target.parse().unwrap()), None, "{target}");
        }
    }
}
