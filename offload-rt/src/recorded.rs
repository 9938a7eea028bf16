//! Recorded work of a graph: its operations in order, what each comes after, and the kernels and the memory that they keep.

use std::sync::Arc;

use crate::backend::{
    BackendImage, BackendKernel, BackendMemory, BackendSampler, BackendStream, BackendTexture, ContextId,
    FillPattern, GraphWork, ImageRange, KernelArg, KernelArgKind, MemoryRange, MemoryRef, OperationPlace,
    RepeatedFunction,
};
use crate::error::Problem;
use crate::images::{FillColor, ImageRegion, ImageType};
use crate::range::NdRange;

/// The operations of a graph in an order that keeps all their dependencies.
#[derive(Debug)]
#[allow(dead_code, reason = "back ends without graphs run one lane")]
pub(crate) struct RecordedWork {
    /// Of the stream that was captured.
    pub(crate) context: ContextId,
    pub(crate) operations: Vec<RecordedOperation>,
    /// The number of lanes: streams of the capture.
    pub(crate) lanes: usize,
}

/// An operation and its place.
#[derive(Debug)]
#[allow(dead_code, reason = "back ends without graphs run one lane")]
pub(crate) struct RecordedOperation {
    pub(crate) operation: Operation,
    /// It comes after the operations of the same lane before it.
    pub(crate) lane: usize,
    /// Numbers of operations of other lanes that it comes after.
    pub(crate) after: Vec<usize>,
}

/// What is done at each launch of a graph.
#[derive(Debug)]
pub(crate) enum Operation {
    Launch(RecordedLaunch),
    Write { to: KeptRange, bytes: Box<[u8]> },
    Copy { from: KeptRange, to: KeptRange },
    Fill { to: KeptRange, pattern: FillPattern },
    WriteImage { to: KeptRegion, bytes: Box<[u8]> },
    CopyImage { from: KeptRegion, to: KeptRegion },
    CopyToImage { from: KeptRange, to: KeptRegion },
    CopyFromImage { from: KeptRegion, to: KeptRange },
    FillImage { to: KeptRegion, color: FillColor },
    Call { function: Arc<RepeatedFunction> },
}

/// A launch that keeps its kernel and its arguments.
#[derive(Clone, Debug)]
pub(crate) struct RecordedLaunch {
    pub(crate) kernel: Arc<dyn BackendKernel>,
    pub(crate) name: Arc<str>,
    pub(crate) range: NdRange,
    pub(crate) args: Vec<KeptArg>,
}

/// An argument of a launch, as [`KernelArgKind`].
#[derive(Clone, Debug)]
pub(crate) enum KeptArg {
    Value(Box<[u8]>),
    Memory(KeptRange),
    Local(usize),
    Image(Arc<dyn BackendImage>, ImageType),
    Sampler(Arc<dyn BackendSampler>),
    Texture(Arc<dyn BackendTexture>),
}

/// A range of memory that it keeps, in bytes.
#[derive(Clone, Debug)]
pub(crate) struct KeptRange {
    pub(crate) memory: Arc<dyn BackendMemory>,
    offset: usize,
    size: usize,
    element: usize,
    is_bounded: bool,
}

/// A region of an image that it keeps.
#[derive(Clone, Debug)]
pub(crate) struct KeptRegion {
    image: Arc<dyn BackendImage>,
    region: ImageRegion,
    size: usize,
}

impl GraphWork for RecordedWork {
    fn lanes(&self) -> usize {
        self.lanes
    }

    fn places(&self) -> Vec<OperationPlace<'_>> {
        let mut places = Vec::with_capacity(self.operations.len());
        for recorded in &self.operations {
            let is_launch = matches!(recorded.operation, Operation::Launch(_));
            places.push(OperationPlace { lane: recorded.lane, after: &recorded.after, is_launch });
        }
        places
    }

    #[allow(unsafe_code, reason = "what a kernel does is up to its author and the caller")]
    unsafe fn run(&self, number: usize, stream: &dyn BackendStream) -> Result<(), Problem> {
        match self.operations.get(number) {
            // SAFETY: the contract is the same.
            Some(recorded) => unsafe { recorded.operation.run(stream) },
            None => Err("the graph lost an operation".to_string().into()),
        }
    }
}

impl Operation {
    /// Prepares its memory for work in `stream`.
    #[cfg(any(feature = "cuda", feature = "hip"))]
    pub(crate) fn use_in(&self, stream: &dyn BackendStream) -> Result<(), Problem> {
        match self {
            Operation::Launch(launch) => {
                for arg in &launch.args {
                    match arg {
                        KeptArg::Memory(range) => range.use_in(stream)?,
                        KeptArg::Texture(texture) => stream.prepare_texture(&**texture)?,
                        _ => {}
                    }
                }
                Ok(())
            }
            Operation::Write { to, .. } | Operation::Fill { to, .. } => to.use_in(stream),
            Operation::CopyFromImage { from, to } => {
                stream.prepare_image(&*from.image)?;
                to.use_in(stream)
            }
            Operation::CopyToImage { from, to } => {
                from.use_in(stream)?;
                stream.prepare_image(&*to.image)
            }
            Operation::Copy { from, to } => {
                from.use_in(stream)?;
                to.use_in(stream)
            }
            Operation::WriteImage { to, .. } | Operation::FillImage { to, .. } => {
                stream.prepare_image(&*to.image)
            }
            Operation::CopyImage { from, to } => {
                stream.prepare_image(&*from.image)?;
                stream.prepare_image(&*to.image)
            }
            Operation::Call { .. } => Ok(()),
        }
    }

    /// Puts the operation into `stream`.
    ///
    /// # Safety
    /// As that of [`Kernel::launch`](crate::Kernel::launch), if it is a launch.
    #[allow(unsafe_code, reason = "what a kernel does is up to its author and the caller")]
    pub(crate) unsafe fn run(&self, stream: &dyn BackendStream) -> Result<(), Problem> {
        match self {
            Operation::Launch(launch) => {
                let args = launch.args();
                // SAFETY: the contract is the same.
                unsafe { launch.kernel.launch(stream, &launch.range, &args) }
            }
            Operation::Write { to, bytes } => stream.write(to.range(), bytes),
            Operation::Copy { from, to } => stream.copy(from.range(), to.range()),
            Operation::Fill { to, pattern } => stream.fill(to.range(), *pattern),
            Operation::WriteImage { to, bytes } => stream.write_image(to.range(), bytes),
            Operation::CopyImage { from, to } => stream.copy_image(from.range(), to.range()),
            Operation::CopyToImage { from, to } => stream.copy_to_image(from.range(), to.range()),
            Operation::CopyFromImage { from, to } => stream.copy_from_image(from.range(), to.range()),
            Operation::FillImage { to, color } => stream.fill_image(to.range(), *color),
            Operation::Call { function } => stream.call_again(function),
        }
    }
}

impl RecordedLaunch {
    /// The arguments, as back ends take them.
    pub(crate) fn args(&self) -> Vec<KernelArg<'_>> {
        self.args.iter().map(KeptArg::arg).collect()
    }
}

impl KeptArg {
    /// # Errors
    /// The memory is there for one call only.
    pub(crate) fn new(arg: &KernelArg<'_>) -> Result<KeptArg, Problem> {
        Ok(match arg.0 {
            KernelArgKind::Value(bytes) => KeptArg::Value(bytes.into()),
            KernelArgKind::Memory(range) => KeptArg::Memory(KeptRange::new(range)?),
            KernelArgKind::Local(size) => KeptArg::Local(size),
            KernelArgKind::Image(image, image_type) => KeptArg::Image(image.clone(), image_type),
            KernelArgKind::Sampler(sampler) => KeptArg::Sampler(sampler.clone()),
            KernelArgKind::Texture(texture) => KeptArg::Texture(texture.clone()),
        })
    }

    fn arg(&self) -> KernelArg<'_> {
        KernelArg(match self {
            KeptArg::Value(bytes) => KernelArgKind::Value(bytes),
            KeptArg::Memory(range) => KernelArgKind::Memory(range.range()),
            KeptArg::Local(size) => KernelArgKind::Local(*size),
            KeptArg::Image(image, image_type) => KernelArgKind::Image(image, *image_type),
            KeptArg::Sampler(sampler) => KernelArgKind::Sampler(sampler),
            KeptArg::Texture(texture) => KernelArgKind::Texture(texture),
        })
    }
}

impl KeptRange {
    /// # Errors
    /// The memory is there for one call only.
    pub(crate) fn new(range: MemoryRange<'_>) -> Result<KeptRange, Problem> {
        let MemoryRange { memory, offset, size, element, is_bounded } = range;
        match memory {
            MemoryRef::Shared(memory) | MemoryRef::Leased(memory, _) => {
                Ok(KeptRange { memory: memory.clone(), offset, size, element, is_bounded })
            }
            MemoryRef::Borrowed(_) => {
                let problem = "a graph cannot keep memory that is borrowed for one call".to_string();
                Err(Problem::with_hint(problem, "copy the values to a `Buffer` before the capture"))
            }
        }
    }

    #[cfg(any(feature = "cuda", feature = "hip"))]
    fn use_in(&self, stream: &dyn BackendStream) -> Result<(), Problem> {
        if self.memory.device_address().home == stream.handle().addr() {
            return Ok(());
        }
        stream.prepare(&*self.memory)
    }

    pub(crate) fn range(&self) -> MemoryRange<'_> {
        MemoryRange {
            memory: MemoryRef::Shared(&self.memory),
            offset: self.offset,
            size: self.size,
            element: self.element,
            is_bounded: self.is_bounded,
        }
    }
}

impl KeptRegion {
    pub(crate) fn new(range: ImageRange<'_>) -> KeptRegion {
        KeptRegion { image: range.image.clone(), region: range.region, size: range.size }
    }

    fn range(&self) -> ImageRange<'_> {
        ImageRange { image: &self.image, region: self.region, size: self.size }
    }
}
