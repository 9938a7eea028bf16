//! How targets are called in a SYCLBIN.

use offload_format::Target;

/// The triples whose first part a runtime knows; the image of any other is passed over
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

/// The names of `target`; `None` if its images are no native images of SYCL: SPIR-V, PTX, OpenCL C, the program's CPU.
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
    let known = is_compile_target(&compile_target);
    Some(NativeTarget { triple, arch, compile_target: known.then_some(compile_target) })
}

/// Whether a runtime knows a device by this name.
pub(super) fn is_compile_target(name: &str) -> bool {
    let among =
        |prefix: &str, names: &[&str]| name.strip_prefix(prefix).is_some_and(|rest| names.contains(&rest));
    let version = |rest: &str| {
        rest.split('_').count() == 3
            && rest.split('_').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    name == "x86_64"
        || name == "spir64_x86_64"
        || among("intel_cpu_", INTEL_CPU)
        || among("intel_gpu_", INTEL)
        || name.strip_prefix("intel_gpu_").is_some_and(version)
        || among("nvidia_gpu_sm_", NVIDIA)
        || among("amd_gpu_gfx", AMD)
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
