//! The argument types and kernel tables of the typed methods of [`include_kernels!`](crate::include_kernels).

use std::marker::PhantomData;
use std::sync::OnceLock;

use super::args::Plain;
use super::bounds::Bound;
use super::program::{Kernel, Program};
use super::stream::Stream;
use crate::backend::KernelArg;
use crate::error::Error;
use crate::range::NdRange;

/// Local memory for some values of `T`, for each work-group: what a kernel with a `local` pointer takes.
///
/// ```
/// let scratch = offload_rt::Local::<f32>::new(256);
/// assert_eq!(scratch.len(), 256);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Local<T> {
    len: usize,
    values: PhantomData<fn() -> T>,
}

impl<T: Plain> Local<T> {
    /// Memory for `len` values.
    pub fn new(len: usize) -> Local<T> {
        Local { len, values: PhantomData }
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no values.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// The Rust type of a `half` of OpenCL C, or a `__half` of CUDA: its bits as a `u16`, or with the feature `half` the type
/// `f16` of the crate `half`.
///
/// Vectors of it are arrays.
pub trait Half: Plain {}

impl Half for u16 {}

#[cfg(feature = "half")]
impl Half for half::f16 {}

/// A program with its kernels by number; what the structs of generated modules hold.
#[derive(Debug)]
pub struct LoadedKernels {
    program: Program,
    names: &'static [&'static str],
    kernels: Box<[OnceLock<Result<Kernel, Error>>]>,
}

impl LoadedKernels {
    /// Looks up the kernels of a program of one image. Those of a split module are looked up when they are first used,
    /// so that parts that are not used cost nothing.
    ///
    /// A kernel that the image for this device lacks fails when it is launched.
    pub fn new(program: Program, names: &'static [&'static str]) -> LoadedKernels {
        let kernels = names.iter().map(|_| OnceLock::new()).collect();
        let loaded = LoadedKernels { program, names, kernels };
        if loaded.program.is_one_image() {
            for index in 0..names.len() {
                // The launch of the kernel reports the error.
                let _ = loaded.kernel(index);
            }
        }
        loaded
    }

    /// The program of the kernels.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The kernel with this number.
    ///
    /// # Errors
    /// As [`Program::kernel`].
    pub fn kernel(&self, index: usize) -> Result<&Kernel, Error> {
        let (Some(slot), Some(name)) = (self.kernels.get(index), self.names.get(index)) else {
            return Err(Error::launch("", format!("there is no kernel number {index}")));
        };
        slot.get_or_init(|| self.program.kernel(name)).as_ref().map_err(Clone::clone)
    }

    /// Puts the kernel with this number into `stream`.
    ///
    /// # Errors
    /// As [`Program::kernel`] and [`Kernel::launch`].
    ///
    /// # Safety
    /// As that of [`Kernel::launch`].
    #[allow(unsafe_code, reason = "what a kernel does is up to its author and the caller")]
    pub unsafe fn launch(
        &self,
        index: usize,
        stream: &Stream,
        range: NdRange,
        args: &[KernelArg<'_>],
    ) -> Result<(), Error> {
        // SAFETY: the contract is the same, and the caller's to keep.
        unsafe { self.kernel(index)?.launch(stream, range, args) }
    }

    /// Puts the kernel with this number into `stream`, if its arguments have what its bounds declare.
    ///
    /// # Errors
    /// An argument is smaller than its bound; as [`Program::kernel`] and [`Kernel::launch`].
    #[allow(unsafe_code, reason = "bounds are a promise of the kernel's author")]
    pub fn launch_within(
        &self,
        index: usize,
        stream: &Stream,
        range: NdRange,
        args: &mut [KernelArg<'_>],
        bounds: &[Bound],
    ) -> Result<(), Error> {
        let kernel = self.kernel(index)?;
        for bound in bounds {
            bound.apply(kernel, &range, args)?;
        }
        // SAFETY: the build script has promised that the kernel stays within these bounds, and that its work-items do
        // not race; buffers live until all streams that use them are done.
        unsafe { kernel.launch(stream, range, args) }
    }
}
