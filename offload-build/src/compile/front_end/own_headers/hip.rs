//! Headers of HIP: layers over those of CUDA C++, and the names of its host functions, which are CUDA's with another
//! beginning.

use std::collections::BTreeSet;

/// What functions for the host call.
const HOST_API: &str =
    concat!(include_str!("../../device/cuda/host_api.h"), include_str!("../../device/cuda/textures.h"));
const LANGUAGE: &str = include_str!("../../device/hip/language.h");

/// Of headers whose content comes before each file.
const RUNTIME: &str = include_str!("../../device/hip/include/hip/hip_runtime.h");

/// The headers by the names that HIP has for them.
pub(super) const HEADERS: &[(&str, &str)] = &[
    ("hip/device_functions.h", RUNTIME),
    ("hip/hip_bf16.h", include_str!("../../device/hip/include/hip/hip_bf16.h")),
    ("hip/hip_bfloat16.h", include_str!("../../device/hip/include/hip/hip_bfloat16.h")),
    ("hip/hip_complex.h", include_str!("../../device/hip/include/hip/hip_complex.h")),
    ("hip/hip_cooperative_groups.h", include_str!("../../device/hip/include/hip/hip_cooperative_groups.h")),
    ("hip/hip_fp16.h", include_str!("../../device/hip/include/hip/hip_fp16.h")),
    ("hip/hip_runtime.h", RUNTIME),
    ("hip/hip_runtime_api.h", RUNTIME),
    ("hip/hip_vector_types.h", RUNTIME),
    ("hip/math_functions.h", RUNTIME),
    ("hipcub/hipcub.hpp", include_str!("../../device/hip/include/hipcub/hipcub.hpp")),
];

const NAMES_BEGIN: &str = include_str!("../../device/cuda/include/offload_names_begin.h");
const NAMES_END: &str = include_str!("../../device/cuda/include/offload_names_end.h");

/// The prologue of each file of HIP C++.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HipHeader {
    /// The layers of a target.
    pub(crate) before: &'static str,
    /// What reads textures and surfaces, behind their types.
    pub(crate) textures: &'static str,
}

impl HipHeader {
    /// The layers with what HIP has beside them.
    pub(crate) fn text(&self) -> String {
        let names = host_names();
        [
            NAMES_BEGIN,
            self.before,
            HOST_API,
            self.textures,
            LANGUAGE,
            &names,
            NAMES_END,
            "# 1 \"<stdin>\" 2\n",
        ]
        .concat()
    }
}

/// Macros with HIP's names of all that host functions call.
fn host_names() -> String {
    let words = HOST_API.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let mut names = BTreeSet::new();
    for word in words {
        let name =
            word.strip_prefix("cuda").filter(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()));
        names.extend(name);
    }
    let mut text = String::new();
    for name in names {
        text.push_str(&format!("#define hip{name} cuda{name}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_functions_have_names_of_hip() {
        let names = host_names();
        for name in ["Malloc", "StreamSynchronize", "Error_t", "MemcpyHostToDevice", "CreateTextureObject"] {
            assert!(names.contains(&format!("#define hip{name} cuda{name}\n")), "{name}");
        }
        assert!(!names.contains("hip_") && names.lines().count() > 250, "{names}");
    }
}
