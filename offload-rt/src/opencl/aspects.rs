//! The aspects of a device, from its version, extensions and properties
//! (<https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_Env.html>, "Required Capabilities" and the sections
//! of the extensions).

use offload_format::Aspects;
use opencl_sys::{
    CL_DEVICE_DOUBLE_FP_CONFIG, CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT, CL_DEVICE_IMAGE_SUPPORT,
    CL_DEVICE_LINKER_AVAILABLE, CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS,
    CL_DEVICE_PIPE_SUPPORT, CL_DEVICE_VERSION, CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT,
};

use super::answers::{flag, has, long, text};
use super::api::DeviceId;

/// Extensions that stand for an aspect.
const EXTENSIONS: [(&str, Aspects); 13] = [
    ("cl_khr_fp16", Aspects::FP16),
    ("cl_intel_bfloat16_conversions", Aspects::BF16),
    ("cl_khr_subgroups", Aspects::GROUPS),
    ("cl_intel_subgroups", Aspects::GROUPS),
    ("cl_intel_subgroups", Aspects::INTEL_SUB_GROUPS),
    ("cl_khr_subgroup_non_uniform_vote", Aspects::SUB_GROUP_VOTE),
    ("cl_khr_subgroup_non_uniform_arithmetic", Aspects::SUB_GROUP_ARITHMETIC),
    ("cl_khr_subgroup_ballot", Aspects::SUB_GROUP_BALLOT),
    ("cl_khr_subgroup_shuffle", Aspects::SUB_GROUP_SHUFFLE),
    ("cl_khr_subgroup_shuffle_relative", Aspects::SUB_GROUP_SHUFFLE_RELATIVE),
    ("cl_khr_subgroup_clustered_reduce", Aspects::SUB_GROUP_CLUSTERED),
    ("cl_khr_integer_dot_product", Aspects::DOT_PRODUCT),
    ("cl_ext_float_atomics", Aspects::FLOAT_ATOMICS),
];

/// Both are needed for the capability `Int64Atomics`.
const ATOMIC64: [&str; 2] = ["cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"];

/// The features that a driver reports.
#[derive(Clone, Debug, Default)]
pub(super) struct DeviceFeatures {
    extensions: String,
    /// As `OpenCL 3.0 ...`.
    version: String,
    /// The aspects of boolean properties.
    has: Aspects,
}

impl DeviceFeatures {
    pub(super) fn query(id: DeviceId, extensions: &str) -> DeviceFeatures {
        let answers = [
            (long(id, CL_DEVICE_DOUBLE_FP_CONFIG).is_some_and(|config| config != 0), Aspects::FP64),
            (flag(id, CL_DEVICE_IMAGE_SUPPORT), Aspects::IMAGE),
            (flag(id, CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS), Aspects::IMAGE_READ_WRITE),
            (flag(id, CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT), Aspects::GENERIC_POINTER),
            (flag(id, CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT), Aspects::GROUPS),
            (flag(id, CL_DEVICE_PIPE_SUPPORT), Aspects::PIPES),
            (flag(id, CL_DEVICE_LINKER_AVAILABLE), Aspects::LINKER),
            (
                long(id, CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE).is_some_and(|size| size > 0),
                Aspects::GLOBAL_VARIABLES,
            ),
        ];
        let has = answers.into_iter().filter_map(|(yes, aspect)| yes.then_some(aspect)).collect();
        DeviceFeatures { extensions: extensions.to_string(), version: text(id, CL_DEVICE_VERSION), has }
    }

    pub(super) fn aspects(&self) -> Aspects {
        let extensions = EXTENSIONS.iter().filter(|(name, _)| has(&self.extensions, name));
        let extensions: Aspects = extensions.map(|(_, aspect)| *aspect).collect();
        let atomic64 = if ATOMIC64.iter().all(|name| has(&self.extensions, name)) {
            Aspects::ATOMIC64
        } else {
            Aspects::default()
        };
        // What OpenCL 3.0 asks for and makes a choice, OpenCL 2 has.
        let always = if self.version.starts_with("OpenCL 2.") {
            Aspects::GENERIC_POINTER | Aspects::GROUPS | Aspects::PIPES
        } else {
            Aspects::default()
        };
        self.has | extensions | atomic64 | always
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aspects_come_from_extensions_versions_and_answers() {
        let both = "cl_khr_int64_base_atomics cl_khr_int64_extended_atomics";
        let of_opencl_2 = Aspects::GENERIC_POINTER | Aspects::GROUPS | Aspects::PIPES;
        for (extensions, version, has, expected) in [
            ("", "OpenCL 1.2 x", Aspects::default(), Aspects::default()),
            ("cl_khr_fp16 cl_khr_fp64", "OpenCL 1.2", Aspects::default(), Aspects::FP16),
            ("", "OpenCL 1.2", Aspects::FP64, Aspects::FP64),
            (both, "OpenCL 1.2", Aspects::default(), Aspects::ATOMIC64),
            ("cl_khr_int64_base_atomics", "OpenCL 1.2", Aspects::default(), Aspects::default()),
            ("x_cl_khr_fp16 cl_khr_fp16_x", "OpenCL 1.2", Aspects::default(), Aspects::default()),
            ("cl_intel_bfloat16_conversions", "OpenCL 3.0", Aspects::default(), Aspects::BF16),
            ("", "OpenCL 2.1 NEO", Aspects::default(), of_opencl_2),
            ("", "OpenCL 3.0 NEO", Aspects::GENERIC_POINTER, Aspects::GENERIC_POINTER),
            (
                "cl_intel_subgroups cl_khr_subgroup_ballot",
                "OpenCL 3.0",
                Aspects::default(),
                Aspects::GROUPS | Aspects::INTEL_SUB_GROUPS | Aspects::SUB_GROUP_BALLOT,
            ),
        ] {
            let features =
                DeviceFeatures { extensions: extensions.to_string(), version: version.to_string(), has };
            assert_eq!(features.aspects(), expected, "{features:?}");
        }
    }
}
