//! OpenCL as its specification has it: the functions of a library that is opened at run time, and objects that release
//! themselves.
//!
//! Nothing here knows of packs and images. Each object carries the table of functions that it was made with.

mod device;
mod error;
#[cfg(unix)]
mod external;
mod handle;
mod image;
pub(super) mod info;
mod library;
mod object;
mod program;
mod queue;
mod svm;
#[cfg(test)]
mod tests;

pub(super) use self::device::{DeviceId, Platform, platforms};
pub(super) use self::error::{ClError, ClResult};
#[cfg(all(test, unix))]
pub(super) use self::external::tests as external_tests;
#[cfg(unix)]
pub(super) use self::external::{ExternalBuffer, Semaphore};
pub(super) use self::image::{ImageDescriptor, SamplerDescriptor};
pub(super) use self::object::{Buffer, CommandQueue, Context, Event, Image, Kernel, Program, Sampler};
pub(super) use self::program::KernelArg;
pub(super) use self::queue::Region;
pub(super) use self::svm::SharedMemory;
