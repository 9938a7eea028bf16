//! Captures and graphs of the CPU: work that is kept, and done at each launch.
//!
//! A capture is the thread's: all streams of the CPU are one, and other threads go on working there. What the thread gives
//! to the stream is kept. The default stream is another, whose work is done at once.

use std::cell::{Cell, RefCell};
use std::ffi::{c_uint, c_void};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use offload_format::pack::{ArgInfo, ArgKind};

use super::objects::{BoxRows, HostEvent};
use crate::backend::{BackendKernel, downcast};
use crate::error::{Error, Problem};
use crate::gpu::{BoxCopy, RawHostFunction};
use crate::host::{HostKernel, HostMemory};
use crate::launch::Kernel;
use crate::launchers::failure::{
    CAPTURE_UNSUPPORTED, Failure, ILLEGAL_STATE, INVALID_VALUE, NOT_SUPPORTED, Outcome,
};
use crate::launchers::platform::{
    Copy, EventHandle, Fill, GraphExecHandle, GraphHandle, GraphUpdate, NO_CAPTURE, RowsCopy, StreamHandle,
    UPDATE_SUCCESS,
};
use crate::range::NdRange;
use crate::text::escape;

/// `cudaStreamCaptureStatusActive`.
const ACTIVE_CAPTURE: c_uint = 1;
/// `cudaStreamLegacy`; null is the same stream.
const LEGACY_STREAM: usize = 1;

/// Work of a stream.
#[derive(Debug)]
pub(super) enum Operation {
    Copy(Copy),
    CopyRows(RowsCopy),
    CopyBox(BoxCopy),
    Fill(Fill),
    Record(EventHandle),
    Call {
        function: RawHostFunction,
        data: *mut c_void,
    },
    Launch(KeptLaunch),
    Graph(Arc<HostGraph>),
    /// Memory that the stream frees: launches of the graph use it again.
    Keep {
        _memory: HostMemory,
    },
}

/// A launch with copies of its arguments.
#[derive(Debug)]
pub(super) struct KeptLaunch {
    kernel: Arc<dyn BackendKernel>,
    range: NdRange,
    _arguments: Vec<HostMemory>,
    pointers: Vec<*mut c_void>,
}

/// A `cudaGraph_t` is an [`Arc`] of it in a box.
#[derive(Debug)]
pub(super) struct HostGraph(Vec<Operation>);

/// A `cudaGraphExec_t`, locked during a launch.
#[derive(Debug)]
struct HostGraphExec(Mutex<Arc<HostGraph>>);

// SAFETY: pointers lead to memory of the program, whose use by the thread that launches is that program's promise.
unsafe impl Send for HostGraph {}
// SAFETY: as above; nothing changes a graph.
unsafe impl Sync for HostGraph {}

#[derive(Debug)]
struct Capture {
    stream: StreamHandle,
    operations: Vec<Operation>,
}

thread_local! {
    /// CUDA's interface has nothing to keep a capture by but the stream.
    static CAPTURE: RefCell<Option<Capture>> = const { RefCell::new(None) };
    /// Global, as threads start.
    static MODE: Cell<c_uint> = const { Cell::new(0) };
}

pub(super) fn exchange_mode(mode: c_uint) -> c_uint {
    MODE.replace(mode)
}

pub(super) fn begin(stream: StreamHandle) -> Outcome {
    if stream.addr() <= LEGACY_STREAM {
        return Err(Failure::new(CAPTURE_UNSUPPORTED, "the default stream cannot be captured"));
    }
    CAPTURE.with_borrow_mut(|capture| match capture {
        Some(_) => {
            Err(Failure::new(ILLEGAL_STATE, "the thread captures already: streams of the CPU are one"))
        }
        None => {
            *capture = Some(Capture { stream, operations: Vec::new() });
            Ok(())
        }
    })
}

pub(super) fn end(stream: StreamHandle) -> Outcome<GraphHandle> {
    let capture = CAPTURE.with_borrow_mut(|capture| capture.take_if(|capture| capture.stream == stream));
    match capture {
        Some(capture) => Ok(Box::into_raw(Box::new(Arc::new(HostGraph(capture.operations)))).cast()),
        None => Err(Failure::new(ILLEGAL_STATE, "the thread does not capture this stream")),
    }
}

pub(super) fn is_capturing(stream: StreamHandle) -> bool {
    CAPTURE.with_borrow(|capture| capture.as_ref().is_some_and(|capture| capture.stream == stream))
}

pub(super) fn status(stream: StreamHandle) -> c_uint {
    if is_capturing(stream) { ACTIVE_CAPTURE } else { NO_CAPTURE }
}

/// Refuses to wait for work that is kept.
pub(super) fn refuse_wait(stream: StreamHandle) -> Outcome {
    if is_capturing(stream) {
        return Err(Failure::new(CAPTURE_UNSUPPORTED, "the stream captures: nothing of its work is done"));
    }
    Ok(())
}

/// Refuses to wait for the device while the thread captures.
pub(super) fn refuse_wait_for_all() -> Outcome {
    CAPTURE.with_borrow(|capture| capture.as_ref().map_or(Ok(()), |capture| refuse_wait(capture.stream)))
}

/// Does the work, or keeps it if the stream captures.
///
/// # Safety
/// That of the operations of [`Platform`](crate::launchers::platform::Platform).
pub(super) unsafe fn run_or_keep(stream: StreamHandle, operation: Operation) -> Outcome {
    let given = CAPTURE.with_borrow_mut(|capture| match capture {
        Some(capture) if capture.stream == stream => {
            capture.operations.push(operation);
            None
        }
        _ => Some(operation),
    });
    match given {
        None => Ok(()),
        // SAFETY: by the contract.
        Some(operation) => unsafe { operation.run() },
    }
}

/// # Safety
/// `graph` is one of [`end`] that was not destroyed.
pub(super) unsafe fn instantiate(graph: GraphHandle) -> GraphExecHandle {
    // SAFETY: by the contract.
    let graph = unsafe { &*graph.cast::<Arc<HostGraph>>() };
    Box::into_raw(Box::new(HostGraphExec(Mutex::new(graph.clone())))).cast()
}

/// Any graph can take the place of another.
///
/// # Safety
/// The handles are of [`instantiate`] and [`end`], and were not destroyed.
pub(super) unsafe fn update(executable: GraphExecHandle, graph: GraphHandle) -> GraphUpdate {
    // SAFETY: by the contract.
    let (HostGraphExec(place), graph) = unsafe { (&*executable.cast(), &*graph.cast::<Arc<HostGraph>>()) };
    *place.lock().unwrap_or_else(PoisonError::into_inner) = graph.clone();
    GraphUpdate::with_result(UPDATE_SUCCESS)
}

/// # Safety
/// `executable` is one of [`instantiate`] that was not destroyed, and what the graph uses lives.
pub(super) unsafe fn launch(executable: GraphExecHandle, stream: StreamHandle) -> Outcome {
    // SAFETY: by the contract.
    let HostGraphExec(graph) = unsafe { &*executable.cast() };
    let graph = graph.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: by the contract.
    unsafe { run_or_keep(stream, Operation::Graph(graph.clone())) }
}

/// # Safety
/// `graph` is one of [`end`], and is destroyed once.
pub(super) unsafe fn destroy(graph: GraphHandle) {
    // SAFETY: by the contract.
    drop(unsafe { Box::from_raw(graph.cast::<Arc<HostGraph>>()) });
}

/// # Safety
/// `executable` is one of [`instantiate`], and is destroyed once.
pub(super) unsafe fn destroy_exec(executable: GraphExecHandle) {
    // SAFETY: by the contract.
    drop(unsafe { Box::from_raw(executable.cast::<HostGraphExec>()) });
}

impl Operation {
    /// # Safety
    /// What the operation uses lives, and has its size.
    unsafe fn run(&self) -> Outcome {
        // SAFETY: by the contract.
        unsafe {
            match self {
                Operation::Copy(Copy { to, from, size }) => to.copy_from(*from, *size),
                Operation::CopyRows(copy) => copy_rows(copy),
                Operation::CopyBox(copy) => return copy_box(copy),
                Operation::Fill(Fill { to, value, size }) => to.write_bytes(*value, *size),
                Operation::Record(event) => record(*event),
                Operation::Call { function, data } => function(*data),
                Operation::Launch(launch) => return launch.run(),
                Operation::Graph(graph) => {
                    for operation in &graph.0 {
                        operation.run()?;
                    }
                }
                Operation::Keep { .. } => {}
            }
        }
        Ok(())
    }
}

unsafe fn copy_rows(copy: &RowsCopy) {
    for row in 0..copy.height {
        let to = copy.to.wrapping_byte_add(row.saturating_mul(copy.to_pitch));
        let from = copy.from.wrapping_byte_add(row.saturating_mul(copy.from_pitch));
        // SAFETY: by the contract.
        unsafe { to.copy_from(from, copy.width) };
    }
}

unsafe fn copy_box(copy: &BoxCopy) -> Outcome {
    // SAFETY: by the contract.
    let from = unsafe { BoxRows::new(copy.from) };
    // SAFETY: by the contract.
    let to = unsafe { BoxRows::new(copy.to) };
    if !from.hold(copy) || !to.hold(copy) {
        return Err(Failure::new(INVALID_VALUE, format!("{copy:?} is beside its arrays")));
    }
    for slice in 0..copy.depth {
        for row in 0..copy.height {
            // SAFETY: the box lies within the arrays, and by the contract within other memory.
            unsafe { to.row(row, slice).copy_from(from.row(row, slice), copy.width_in_bytes) };
        }
    }
    Ok(())
}

unsafe fn record(event: EventHandle) {
    // SAFETY: by the contract.
    let HostEvent(recorded) = unsafe { &*event.cast() };
    *recorded.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
}

impl KeptLaunch {
    /// Copies what `arguments` leads to.
    ///
    /// # Safety
    /// It leads to a pointer to each argument of `kernel`.
    pub(super) unsafe fn new(
        kernel: &Kernel,
        range: NdRange,
        arguments: *const *mut c_void,
    ) -> Outcome<KeptLaunch> {
        let info = kernel.info();
        let unknown = || {
            let problem = format!(
                "a graph of the CPU cannot keep `{}`: sizes of arguments are unknown",
                escape(&info.name)
            );
            Failure::new(NOT_SUPPORTED, problem)
        };
        let mut kept = KeptLaunch {
            kernel: kernel.backend().clone(),
            range,
            _arguments: Vec::new(),
            pointers: Vec::new(),
        };
        for (number, arg) in info.args.as_ref().ok_or_else(unknown)?.iter().enumerate() {
            let size = size(arg).ok_or_else(unknown)?;
            let copy = HostMemory::zeroed(size).map_err(|problem| Error::from_launch(&info.name, problem))?;
            // SAFETY: by the contract; the copy is as large.
            unsafe {
                let from = arguments.add(number).read();
                copy.address().copy_from_nonoverlapping(from.cast(), size);
            }
            kept.pointers.push(copy.address().cast());
            kept._arguments.push(copy);
        }
        Ok(kept)
    }

    /// # Safety
    /// The kernel stays within its memory.
    unsafe fn run(&self) -> Outcome {
        let kernel = downcast::<HostKernel>(&*self.kernel);
        // SAFETY: the arguments are those of the kernel, and the rest is the contract.
        let ran = kernel
            .and_then(|kernel| unsafe { kernel.launch_with_pointers(&self.range, self.pointers.as_ptr()) });
        ran.map_err(|problem: Problem| Failure::from(Error::from_launch(&self.kernel.info().name, problem)))
    }
}

/// The bytes of an argument, if they are known.
fn size(arg: &ArgInfo) -> Option<usize> {
    match arg.kind {
        ArgKind::Global | ArgKind::Constant => Some(size_of::<*mut c_void>()),
        _ => usize::try_from(arg.size?).ok(),
    }
}
