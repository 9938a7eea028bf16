//! The launch limits of a CUDA device.

use super::api::{
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, CU_DEVICE_ATTRIBUTE_WARP_SIZE, CuResult, DeviceId,
};
use crate::gpu::Limits;

pub(super) fn limits(device: DeviceId) -> CuResult<Limits> {
    let shared = device.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?;
    // Drivers before CUDA 9 do not know the question.
    let opt_in = device.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN).unwrap_or(0);
    Ok(Limits {
        interface: "CUDA",
        block: [
            device.attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
            device.attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
            device.attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
        ],
        grid: [
            device.attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
            device.attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
            device.attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
        ],
        global: None,
        shared,
        shared_opt_in: opt_in.max(shared),
        sub_group: device.attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
        units: device.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
    })
}
