//! The host part of CUDA C++: functions with `kernel<<<grid, block, shared, stream>>>(...)` that Rust calls through C.
//!
//! `offload_build::Build::launchers` compiles them into the program. What they call of CUDA's runtime is here, under
//! names of its own (`offload_cudaLaunchKernel`), and works through the device's driver: nothing of the CUDA toolkit is
//! linked.
//!
//! ```no_run
//! use std::ffi::{c_int, c_void};
//!
//! unsafe extern "C" {
//!     // extern "C" int launch_scale(float *x, int n, cudaStream_t stream) { ...; return cudaGetLastError(); }
//!     fn launch_scale(x: *mut f32, n: c_int, stream: *mut c_void) -> c_int;
//! }
//! # mod host_part {
//! #     #[unsafe(no_mangle)]
//! #     extern "C" fn launch_scale(_: *mut f32, _: i32, _: *mut std::ffi::c_void) -> i32 { 0 }
//! # }
//! let device = offload_rt::cuda::devices()?[0].clone();
//! let stream = device.stream()?;
//! let x = stream.zeroed::<f32>(256)?;
//! let address = offload_rt::launchers::as_raw_address(&x)?;
//! // SAFETY: the function launches a kernel that stays within 256 values.
//! let code = unsafe { launch_scale(address, 256, offload_rt::launchers::as_raw_stream(&stream)?) };
//! if code != 0 {
//!     return Err(offload_rt::launchers::last_error().expect("a reason").into());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The same functions work on NVIDIA GPUs, on AMD GPUs through HIP's runtime, and on the program's own CPU: a call works on
//! the device of its stream, which may be of any crate on a GPU. Without a stream it works on the device of
//! [`set_device`]; if there was none, on CUDA's, or on HIP's on a machine without CUDA's driver.
//!
//! On CUDA, work goes to the context of the stream; without one, to the context that is current in the thread, which is
//! the primary one of device 0, or of that of `cudaSetDevice`, if there is none. The first launch of a module in a context
//! selects, decodes and loads its images as [`Module::load`](crate::Module::load) does. They stay loaded; a context that is
//! not a device's primary one has to outlive the program's launches.
//!
//! Linux links a function of this module where a host function calls it, if the crate mentions `offload_rt`, as
//! [`include_kernels!`](crate::include_kernels) does; without, write `use offload_rt as _;`.
#![allow(non_snake_case, reason = "the names of CUDA's functions")]

mod array;
mod array_copy;
mod channels;
mod configuration;
mod current;
mod device;
mod elements;
mod error_text;
mod event;
mod failure;
mod function;
mod gpu;
mod graph;
mod handles;
mod host;
mod kernels;
mod launch;
mod memory;
mod platform;
mod pool;
mod registration;
mod stream;
mod symbol;
mod texture;

pub use self::failure::last_error;
pub use self::handles::{as_raw_address, as_raw_stream, set_device};

#[cfg(test)]
mod tests;
