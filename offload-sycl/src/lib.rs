//! Kernel bundles: SYCLBIN files at run time, on the OpenCL devices of [`offload_rt`]
//! (<https://github.com/intel/llvm/blob/sycl/sycl/doc/extensions/proposed/sycl_ext_oneapi_syclbin.asciidoc>).
//!
//! - A [`Context`] has devices and [`Rules`];
//! - [`Context::open_file`] and [`Context::open`] make a [`Bundle`] of a file in the state that the type asks for:
//!   [`Input`] is compiled by [`Bundle::compile`], [`Object`] linked by [`link`], [`Executable`] launched through
//!   [`Bundle::program`];
//! - modules that no device takes are left out, and [`Bundle::missing`] says why;
//! - `content` gives the bundle back as a file of the same state.
//!
//! ```no_run
//! use offload_sycl::{Bundle, Context, Executable, Object, Rules, link};
//! use offload_rt::{Arg, NdRange};
//!
//! let devices = offload_rt::opencl::devices()?;
//! let context = Context::new(&devices[..1], Rules::Spec)?;
//! let kernels: Bundle<Object> = context.open_file("kernels.syclbin")?;
//! let library: Bundle<Object> = context.open_file("library.syclbin")?;
//! let bundle = link(&[&kernels, &library])?;
//! let x = [1.0f32; 256];
//! let mut y = [2.0f32; 256];
//! let mut args = [Arg::value(&3.0f32), Arg::input(&x), Arg::in_out(&mut y)];
//! // SAFETY: the kernel stays within 256 elements.
//! unsafe { bundle.program(&devices[0])?.launch("saxpy", NdRange::new([256], [64]), &mut args)? };
//! // The next run need not compile.
//! let cached = bundle.content()?;
//! let again: Bundle<Executable> = context.open(cached)?;
//! # let _ = again;
//! # Ok::<(), offload_rt::Error>(())
//! ```

#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod choose;
mod context;
#[allow(unsafe_code, reason = "what a kernel does is up to its author and the caller")]
mod executable;
mod links;
mod named_syclbin;
mod needs;
mod rules;
mod state;
mod traits;

pub use self::context::{Context, MissingModule};
pub use self::executable::BundleProgram;
pub use self::rules::Rules;
pub use self::state::{Bundle, BundleState, Executable, Input, Object, link};
