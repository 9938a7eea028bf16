//! Macros of OpenCL C that clang leaves to the platform: the version, and extensions and features of each target.
//!
//! clang takes everything for supported on SPIR-V and on CPUs, and AMD's drivers for the target on AMD GPUs. Sources ask
//! by macros (<https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_C.html#preprocessor-directives-and-macros>)
//! and take the way that a macro shows: what is defined here is what images have functions for.

use offload_format::{HostLevel, PtxVersion, SpirvVersion};

use crate::module::Sources;

/// `__OPENCL_VERSION__`, the version of the device, is that of the language: a source that is compiled as OpenCL C 1.2 may
/// use nothing later. `std` is the flag for it. Nothing where the user's flags define it.
pub(crate) fn version(sources: &Sources, std: &str) -> Option<String> {
    if sources.flags.iter().any(|flag| flag.to_str().is_some_and(|flag| flag.starts_with(DEFINED))) {
        return None;
    }
    let mut given =
        sources.flags.iter().filter_map(|flag| flag.to_str().filter(|flag| flag.starts_with("-cl-std=")));
    let version = match given.next_back().unwrap_or(std) {
        "-cl-std=CL1.0" | "-cl-std=cl1.0" => "100",
        "-cl-std=CL1.1" | "-cl-std=cl1.1" => "110",
        "-cl-std=CL1.2" | "-cl-std=cl1.2" => "120",
        "-cl-std=CL2.0" | "-cl-std=cl2.0" => "200",
        // C++ for OpenCL 2021 is on top of it.
        _ => "300",
    };
    Some(format!("{DEFINED}={version}"))
}

const DEFINED: &str = "-D__OPENCL_VERSION__";

/// What every target has.
const EVERYWHERE: &[&str] = &[
    "__cl_clang_bitfields",
    "__cl_clang_function_pointers",
    "__cl_clang_non_portable_kernel_param_types",
    "__cl_clang_variadic_functions",
    "cl_clang_storage_class_specifiers",
    "cl_khr_byte_addressable_store",
    "cl_khr_fp64",
    "cl_khr_global_int32_base_atomics",
    "cl_khr_global_int32_extended_atomics",
    "cl_khr_int64_base_atomics",
    "cl_khr_int64_extended_atomics",
    "cl_khr_local_int32_base_atomics",
    "cl_khr_local_int32_extended_atomics",
    "__opencl_c_atomic_order_acq_rel",
    "__opencl_c_atomic_order_seq_cst",
    "__opencl_c_atomic_scope_all_devices",
    "__opencl_c_atomic_scope_device",
    "__opencl_c_fp64",
    "__opencl_c_generic_address_space",
    "__opencl_c_int64",
    "__opencl_c_program_scope_global_variables",
];

/// What all have but NVIDIA GPUs, for which libclc has no functions of `half`.
const HALF: &[&str] = &["cl_khr_fp16"];

/// Functions of AMD's own (`amdgcn_media.cl`).
const MEDIA: &[&str] = &["cl_amd_media_ops", "cl_amd_media_ops2"];

/// Instructions of SPIR-V that no library has functions for.
const SPIRV: &[&str] = &[
    "cl_khr_3d_image_writes",
    "cl_khr_depth_images",
    "cl_khr_gl_msaa_sharing",
    "cl_khr_mipmap_image",
    "cl_khr_mipmap_image_writes",
    "cl_khr_srgb_image_writes",
    "__opencl_c_3d_image_writes",
    "__opencl_c_images",
    "__opencl_c_read_write_images",
    "__opencl_c_work_group_collective_functions",
];

/// What `host_images.c` has functions for.
const IMAGES: &[&str] = &[
    "cl_khr_3d_image_writes",
    "__opencl_c_3d_image_writes",
    "__opencl_c_images",
    "__opencl_c_read_write_images",
];

/// The same before OpenCL C 3.0. clang defines it for SPIR-V alone.
const IMAGE_SUPPORT: &str = "-D__IMAGE_SUPPORT__=1";

/// Functions of sub-groups, for all of their work-items: of SPIR-V, `host_sub_groups.c` and `gpu_sub_groups.cl`.
const SUB_GROUPS: &[&str] = &[
    "cl_intel_required_subgroup_size",
    "cl_khr_subgroup_extended_types",
    "cl_khr_subgroups",
    "__opencl_c_subgroups",
];

/// Those for some of their work-items. SPIR-V has them from version 1.3 on
/// (<https://registry.khronos.org/SPIR-V/specs/unified1/SPIRV.html#Capability>, `GroupNonUniform`).
const ACTIVE_SUB_GROUPS: &[&str] = &[
    "cl_khr_subgroup_ballot",
    "cl_khr_subgroup_clustered_reduce",
    "cl_khr_subgroup_non_uniform_arithmetic",
    "cl_khr_subgroup_non_uniform_vote",
    "cl_khr_subgroup_shuffle",
    "cl_khr_subgroup_shuffle_relative",
];

/// The first version of PTX with the instruction for the active lanes
/// (<https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-activemask>):
/// that of architectures from sm_75 on.
const SUB_GROUP_PTX: PtxVersion = PtxVersion { major: 6, minor: 2 };

/// Where `fma` takes no longer than a multiplication and an addition.
const FAST_FMA: [&str; 2] = ["-DFP_FAST_FMAF=1", "-DFP_FAST_FMA=1"];

pub(crate) fn for_spirv(version: SpirvVersion) -> Vec<String> {
    let later = if version.minor() < 3 { &[] } else { ACTIVE_SUB_GROUPS };
    extensions(&[EVERYWHERE, HALF, SPIRV, SUB_GROUPS, later])
}

pub(crate) fn for_nvptx(version: PtxVersion) -> Vec<String> {
    let has_sub_groups = version >= SUB_GROUP_PTX;
    let sub_groups: [&[&str]; 2] = if has_sub_groups { [SUB_GROUPS, ACTIVE_SUB_GROUPS] } else { [&[], &[]] };
    let mut flags = extensions(&[&[EVERYWHERE], &sub_groups[..]].concat());
    flags.extend(FAST_FMA.map(str::to_string));
    flags
}

pub(crate) fn for_amdgcn() -> Vec<String> {
    extensions(&[EVERYWHERE, HALF, MEDIA, SUB_GROUPS, ACTIVE_SUB_GROUPS])
}

pub(crate) fn for_host(arch: &str, level: HostLevel) -> Vec<String> {
    let mut flags = extensions(&[EVERYWHERE, HALF, IMAGES, SUB_GROUPS, ACTIVE_SUB_GROUPS]);
    flags.push(IMAGE_SUPPORT.to_string());
    if arch == "aarch64" || matches!(level, HostLevel::X86V3 | HostLevel::X86V4) {
        flags.extend(FAST_FMA.map(str::to_string));
    }
    flags
}

/// The flag of clang that says that there is all of `lists`, and nothing else.
fn extensions(lists: &[&[&str]]) -> Vec<String> {
    let names = lists.concat().join(",+");
    ["-Xclang".to_string(), format!("-cl-ext=-all,+{names}")].into()
}
