//! The launch limits of a HIP device.

use super::api::Properties;
use crate::gpu::Limits;

pub(super) fn limits(properties: &Properties) -> Limits {
    let most = properties.max_threads();
    Limits {
        interface: "HIP",
        block: properties.max_block().map(|size| size.min(most)),
        grid: properties.max_grid(),
        // The runtime multiplies blocks and threads to numbers of 32 bits, and checks the first dimension alone:
        // https://github.com/ROCm/clr/blob/rocm-6.2.x/hipamd/src/hip_module.cpp, hipModuleLaunchKernel.
        global: Some(u32::MAX),
        shared: properties.shared_memory(),
        shared_opt_in: properties.shared_memory(),
        sub_group: properties.warp_size(),
        units: properties.compute_units(),
    }
}
