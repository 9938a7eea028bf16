//! The launch layer: streams, buffers, events, programs and kernels of every device.
//!
//! The backends implement the traits of the module `backend`.

mod advice;
mod args;
mod bounds;
mod buffer;
mod call;
mod capture;
mod capture_memory;
mod check;
#[cfg(feature = "futures")]
mod completion;
mod copies;
#[allow(unsafe_code, reason = "memory of the host CPU as a slice")]
mod copy;
mod event;
#[cfg(unix)]
mod external;
mod graph;
mod graph_pool;
mod image;
mod image_copies;
mod ipc;
mod kernel_arg;
#[allow(unsafe_code, reason = "memory of a driver as a slice")]
mod managed;
#[cfg(debug_assertions)]
mod newer;
mod pinned;
mod pool;
mod priority;
mod program;
mod queued;
#[allow(unsafe_code, reason = "implements unsafe operations of streams")]
mod recording;
mod sampler;
mod signature;
mod stream;
mod texture;
mod transfer;
mod typed;

pub use self::advice::{Advice, MemoryLocation};
pub use self::args::{Arg, Plain};
pub use self::bounds::{Bound, Extent};
pub use self::buffer::{Buffer, Slice, SliceMut};
#[cfg(feature = "futures")]
pub use self::completion::Completion;
pub use self::event::Event;
#[cfg(unix)]
pub use self::external::ExternalSemaphore;
pub use self::graph::Graph;
pub use self::graph_pool::GraphPool;
pub use self::image::{
    Image, Image1d, Image1dArray, Image1dBuffer, Image2d, Image2dArray, Image3d, ImageSlice, ImageSliceMut,
};
pub use self::ipc::ExportedBuffer;
pub use self::managed::Managed;
pub use self::pinned::Pinned;
pub use self::pool::MemoryPool;
pub use self::program::{Kernel, Program};
pub use self::sampler::Sampler;
pub use self::stream::Stream;
pub use self::texture::{Surface, Texture};
pub use self::transfer::Transfer;
pub use self::typed::{Half, LoadedKernels, Local};
