//! Launches with attributes: cooperative ones, clusters, and programmatic dependent launches.
//!
//! <https://docs.nvidia.com/cuda/cuda-driver-api/structCUlaunchAttributeValue.html>

use std::ptr;

use super::api::{
    CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
    CU_LAUNCH_ATTRIBUTE_COOPERATIVE, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
    CUlaunchAttribute, CUlaunchConfig, CUstream, CuResult, CudaApi,
};
use crate::gpu::{NodeLaunch, call};
use crate::range::LaunchMode;

/// "The maximum portable cluster size": more takes an opt-in of the kernel.
const PORTABLE_CLUSTER: u32 = 8;

/// # Safety
/// That of [`DriverApi::launch_in_mode`](crate::gpu::DriverApi::launch_in_mode).
pub(super) unsafe fn launch(
    api: &'static CudaApi,
    launch: &NodeLaunch<'_>,
    mode: &LaunchMode,
    stream: CUstream,
) -> CuResult<()> {
    let NodeLaunch { function, shape, parameters } = *launch;
    let [gx, gy, gz] = shape.grid;
    let [bx, by, bz] = shape.block;
    if mode.cluster.is_none() && !mode.is_dependent {
        // Drivers before CUDA 11.8 have this alone.
        // SAFETY: by the contract.
        return unsafe {
            call!(
                api,
                cuLaunchCooperativeKernel(function, gx, gy, gz, bx, by, bz, shape.shared, stream, parameters)
            )
        };
    }
    if mode.cluster.is_some_and(|[x, y, z]| x.saturating_mul(y).saturating_mul(z) > PORTABLE_CLUSTER) {
        let attribute = CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
        // SAFETY: by the contract.
        unsafe { call!(api, cuFuncSetAttribute(function, attribute, 1)) }?;
    }
    let mut attributes = attributes(mode);
    let config = CUlaunchConfig {
        grid: shape.grid,
        block: shape.block,
        shared_mem_bytes: shape.shared,
        stream,
        attributes: attributes.as_mut_ptr(),
        count: attributes.len() as u32,
    };
    // SAFETY: by the contract; the attributes live during the call.
    unsafe { call!(api, cuLaunchKernelEx(&raw const config, function, parameters, ptr::null_mut())) }
}

fn attributes(mode: &LaunchMode) -> Vec<CUlaunchAttribute> {
    let mut attributes = Vec::new();
    if mode.is_cooperative {
        attributes.push(CUlaunchAttribute::new(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, [1, 0, 0]));
    }
    if let Some(cluster) = mode.cluster {
        attributes.push(CUlaunchAttribute::new(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, cluster));
    }
    if mode.is_dependent {
        let id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        attributes.push(CUlaunchAttribute::new(id, [1, 0, 0]));
    }
    attributes
}
