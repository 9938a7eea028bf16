//! Recording streams: streams that keep their work for a graph.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::capture_memory::{CaptureMemory, PoolBlock, Use};
use super::graph_pool::SharedPool;
use super::queued::Panics;
#[cfg(unix)]
use crate::backend::BackendSemaphore;
use crate::backend::{
    BackendEvent, BackendKernel, BackendMemory, BackendStream, ContextId, FillPattern, HostFunction,
    ImageRange, KernelArg, KernelArgKind, Lease, MemoryPlace, MemoryRange, RepeatedFunction, downcast,
};
use crate::device::Device;
use crate::error::{Error, Problem};
use crate::images::FillColor;
use crate::range::NdRange;
use crate::recorded::{
    KeptArg, KeptRange, KeptRegion, Operation, RecordedLaunch, RecordedOperation, RecordedWork,
};

/// The stream of a capture: one lane of its work.
#[derive(Clone, Debug)]
pub(super) struct RecordingStream {
    recorder: Arc<Recorder>,
    lane: usize,
}

/// The work of a capture, which all its streams add to.
#[derive(Debug)]
struct Recorder {
    /// Allocates memory.
    stream: Box<dyn BackendStream>,
    pool: Arc<SharedPool>,
    state: Mutex<RecorderState>,
    /// Of the functions that the graph will call.
    panics: Arc<Panics>,
}

#[derive(Debug, Default)]
struct RecorderState {
    operations: Vec<RecordedOperation>,
    lanes: Vec<LaneEnd>,
    memory: CaptureMemory,
    is_finished: bool,
}

/// The end of a lane: the numbers of the operations that its next one comes after.
#[derive(Clone, Debug, Default)]
struct LaneEnd {
    own: Option<usize>,
    others: Vec<usize>,
}

/// The end of a lane at some time.
#[derive(Debug)]
pub(super) struct RecordedEvent {
    recorder: Arc<Recorder>,
    end: LaneEnd,
}

impl Recorder {
    fn new(device: &Device, pool: Arc<SharedPool>) -> Result<Recorder, Error> {
        let stream = device.backend().stream();
        let stream = stream.map_err(|problem| Error::from_device(&device.to_string(), problem))?;
        if !pool.is_of(stream.context()) {
            return Err(Error::device(&device.to_string(), "the graph pool is of another device")
                .with_hint("make it by `Device::graph_pool` of the stream's device"));
        }
        let state = RecorderState { lanes: vec![LaneEnd::default()], ..RecorderState::default() };
        Ok(Recorder { stream, pool, state: Mutex::new(state), panics: Arc::default() })
    }

    /// The work; nothing can be added from now on.
    fn finish(&self) -> RecordedWork {
        let mut state = self.lock();
        state.is_finished = true;
        self.pool.give_back(mem::take(&mut state.memory).into_unused());
        RecordedWork {
            context: self.stream.context(),
            lanes: state.lanes.len(),
            operations: mem::take(&mut state.operations),
        }
    }

    fn lock(&self) -> MutexGuard<'_, RecorderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// # Errors
    /// The capture has ended.
    fn open(&self) -> Result<MutexGuard<'_, RecorderState>, Problem> {
        let state = self.lock();
        if state.is_finished {
            return Err("the capture that the stream is of has ended".to_string().into());
        }
        Ok(state)
    }
}

impl RecorderState {
    fn end(&mut self, lane: usize) -> Result<&mut LaneEnd, Problem> {
        self.lanes.get_mut(lane).ok_or_else(|| "the capture lost a stream".to_string().into())
    }
}

impl LaneEnd {
    fn add(&mut self, operation: usize) {
        if self.own != Some(operation) && !self.others.contains(&operation) {
            self.others.push(operation);
        }
    }
}

impl RecordingStream {
    /// The first stream of a capture for `device`, with memory of `pool`.
    pub(super) fn new(device: &Device, pool: Arc<SharedPool>) -> Result<RecordingStream, Error> {
        Ok(RecordingStream { recorder: Arc::new(Recorder::new(device, pool)?), lane: 0 })
    }

    /// Memory for a buffer of `size` bytes, at least 1. What it holds is unspecified.
    pub(super) fn lease(&self, size: usize) -> Result<(Arc<dyn BackendMemory>, Arc<Lease>), Problem> {
        let mut state = self.recorder.open()?;
        if self.recorder.stream.reuses_memory() {
            if let Some(leased) = state.memory.lease_again(size, self.lane) {
                return Ok(leased);
            }
            if let Some(block) = self.recorder.pool.take(size) {
                return Ok(state.memory.lease(block));
            }
        }
        let memory = self.recorder.stream.allocate(size)?;
        Ok(state.memory.lease(PoolBlock { memory, size }))
    }

    /// The work of all streams of the capture, which take no more from now on.
    pub(super) fn finish(&self) -> RecordedWork {
        self.recorder.finish()
    }

    /// The panics of the functions that the graph will call.
    pub(super) fn panics(&self) -> &Arc<Panics> {
        &self.recorder.panics
    }

    /// Records the launch of `kernel`.
    pub(super) fn launch(
        &self,
        kernel: &Arc<dyn BackendKernel>,
        name: &Arc<str>,
        range: NdRange,
        args: &[KernelArg<'_>],
    ) -> Result<(), Problem> {
        let mut used = Vec::new();
        let mut kept = Vec::with_capacity(args.len());
        for arg in args {
            if let KernelArgKind::Memory(range) = arg.0 {
                used.push(range);
            }
            kept.push(KeptArg::new(arg)?);
        }
        let launch = RecordedLaunch { kernel: kernel.clone(), name: name.clone(), range, args: kept };
        self.add(&used, Operation::Launch(launch))
    }

    /// Adds `operation`, which uses the ranges `used`.
    fn add(&self, used: &[MemoryRange<'_>], operation: Operation) -> Result<(), Problem> {
        let mut state = self.recorder.open()?;
        let number = state.operations.len();
        let end = state.end(self.lane)?;
        let mut before = mem::replace(end, LaneEnd { own: Some(number), others: Vec::new() });
        for range in used {
            let after = state.memory.note_use(range, Use { lane: self.lane, operation: number });
            after.into_iter().for_each(|operation| before.add(operation));
        }
        state.operations.push(RecordedOperation { operation, lane: self.lane, after: before.others });
        Ok(())
    }

    /// A new lane that starts at the present end of this one.
    pub(super) fn fork(&self) -> Result<RecordingStream, Problem> {
        let mut state = self.recorder.open()?;
        let LaneEnd { own, others } = state.end(self.lane)?.clone();
        let mut end = LaneEnd { own: None, others };
        own.into_iter().for_each(|operation| end.add(operation));
        let lane = state.lanes.len();
        state.lanes.push(end);
        Ok(RecordingStream { recorder: self.recorder.clone(), lane })
    }
}

/// The error of an operation that waits for work.
fn cannot_wait(what: &str) -> Problem {
    let problem =
        format!("{what} waits, and the work of a capture does not run before the graph is launched");
    Problem::with_hint(problem, "do it after `graph.launch(&stream)`, with the stream of the launch")
}

/// The error of an operation with pinned memory.
fn cannot_pin(what: &str, hint: &'static str) -> Problem {
    Problem::with_hint(format!("a graph cannot keep the pinned memory of {what}"), hint)
}

/// The error of an operation with a semaphore, which has another value at each launch.
#[cfg(unix)]
fn no_semaphore() -> Problem {
    let problem = "a graph cannot use an external semaphore".to_string();
    Problem::with_hint(problem, "use it before and after `graph.launch(&stream)`, in the same stream")
}

impl BackendStream for RecordingStream {
    fn context(&self) -> ContextId {
        self.recorder.stream.context()
    }

    /// Memory that nothing else of the capture has.
    fn allocate(&self, size: usize) -> Result<Arc<dyn BackendMemory>, Problem> {
        self.recorder.stream.allocate(size)
    }

    fn write(&self, to: MemoryRange<'_>, bytes: &[u8]) -> Result<(), Problem> {
        self.add(&[to], Operation::Write { to: KeptRange::new(to)?, bytes: bytes.into() })
    }

    fn read(&self, _: MemoryRange<'_>, _: &mut [u8]) -> Result<(), Problem> {
        Err(cannot_wait("reading a buffer"))
    }

    unsafe fn write_later(&self, _: MemoryRange<'_>, _: *const u8) -> Result<Box<dyn BackendEvent>, Problem> {
        Err(cannot_pin("`write_async`", "`Stream::write` keeps a copy of the values"))
    }

    unsafe fn read_later(&self, _: MemoryRange<'_>, _: *mut u8) -> Result<Box<dyn BackendEvent>, Problem> {
        Err(cannot_wait("`read_async`"))
    }

    fn copy(&self, from: MemoryRange<'_>, to: MemoryRange<'_>) -> Result<(), Problem> {
        self.add(&[from, to], Operation::Copy { from: KeptRange::new(from)?, to: KeptRange::new(to)? })
    }

    fn copy_from(
        &self,
        _: &dyn BackendStream,
        _: MemoryRange<'_>,
        _: MemoryRange<'_>,
    ) -> Result<bool, Problem> {
        let problem = "a graph is of one device, and cannot copy from another".to_string();
        Err(Problem::with_hint(problem, "copy before or after `graph.launch(&stream)`"))
    }

    fn prefetch(&self, _: MemoryRange<'_>, _: MemoryPlace) -> Result<(), Problem> {
        let problem = "a graph cannot prefetch managed memory".to_string();
        Err(Problem::with_hint(problem, "prefetch before `graph.launch(&stream)`, in the same stream"))
    }

    fn fill(&self, to: MemoryRange<'_>, pattern: FillPattern) -> Result<(), Problem> {
        self.add(&[to], Operation::Fill { to: KeptRange::new(to)?, pattern })
    }

    fn write_image(&self, to: ImageRange<'_>, bytes: &[u8]) -> Result<(), Problem> {
        self.add(&[], Operation::WriteImage { to: KeptRegion::new(to), bytes: bytes.into() })
    }

    fn read_image(&self, _: ImageRange<'_>, _: &mut [u8]) -> Result<(), Problem> {
        Err(cannot_wait("reading an image"))
    }

    unsafe fn write_image_later(
        &self,
        _: ImageRange<'_>,
        _: *const u8,
    ) -> Result<Box<dyn BackendEvent>, Problem> {
        Err(cannot_pin("`write_image_async`", "`Stream::write_image` keeps a copy of the elements"))
    }

    unsafe fn read_image_later(
        &self,
        _: ImageRange<'_>,
        _: *mut u8,
    ) -> Result<Box<dyn BackendEvent>, Problem> {
        Err(cannot_wait("`read_image_async`"))
    }

    fn copy_to_image(&self, from: MemoryRange<'_>, to: ImageRange<'_>) -> Result<(), Problem> {
        self.add(&[from], Operation::CopyToImage { from: KeptRange::new(from)?, to: KeptRegion::new(to) })
    }

    fn copy_from_image(&self, from: ImageRange<'_>, to: MemoryRange<'_>) -> Result<(), Problem> {
        self.add(&[to], Operation::CopyFromImage { from: KeptRegion::new(from), to: KeptRange::new(to)? })
    }

    fn copy_image(&self, from: ImageRange<'_>, to: ImageRange<'_>) -> Result<(), Problem> {
        self.add(&[], Operation::CopyImage { from: KeptRegion::new(from), to: KeptRegion::new(to) })
    }

    fn fill_image(&self, to: ImageRange<'_>, color: FillColor) -> Result<(), Problem> {
        self.add(&[], Operation::FillImage { to: KeptRegion::new(to), color })
    }

    fn call(&self, _: HostFunction) -> Result<(), Problem> {
        let problem = "a graph cannot call a function that may be called once".to_string();
        let hint = "`Stream::call_each_time` takes one that each launch may call; or give it to the stream of the \
                    launch, before or after `graph.launch(&stream)`";
        Err(Problem::with_hint(problem, hint))
    }

    fn call_again(&self, function: &Arc<RepeatedFunction>) -> Result<(), Problem> {
        self.add(&[], Operation::Call { function: function.clone() })
    }

    fn record(&self) -> Result<Box<dyn BackendEvent>, Problem> {
        let end = self.recorder.open()?.end(self.lane)?.clone();
        Ok(Box::new(RecordedEvent { recorder: self.recorder.clone(), end }))
    }

    fn wait_for(&self, event: &dyn BackendEvent) -> Result<(), Problem> {
        let Ok(event) = downcast::<RecordedEvent>(event) else {
            let problem = "the event was recorded outside of the capture".to_string();
            let hint = "let the stream of the launch wait for it, before `graph.launch(&stream)`";
            return Err(Problem::with_hint(problem, hint));
        };
        if !Arc::ptr_eq(&event.recorder, &self.recorder) {
            return Err("the event is of another capture".to_string().into());
        }
        let mut state = self.recorder.open()?;
        let end = state.end(self.lane)?;
        event.end.own.iter().chain(&event.end.others).for_each(|operation| end.add(*operation));
        Ok(())
    }

    #[cfg(unix)]
    fn wait_external(&self, _: &dyn BackendSemaphore, _: u64) -> Result<(), Problem> {
        Err(no_semaphore())
    }

    #[cfg(unix)]
    fn signal_external(&self, _: &dyn BackendSemaphore, _: u64) -> Result<(), Problem> {
        Err(no_semaphore())
    }

    fn synchronize(&self) -> Result<(), Problem> {
        Err(cannot_wait("synchronizing a stream"))
    }
}

impl BackendEvent for RecordedEvent {
    fn context(&self) -> ContextId {
        self.recorder.stream.context()
    }

    fn wait(&self) -> Result<(), Problem> {
        Err(cannot_wait("an event"))
    }

    fn is_done(&self) -> Result<bool, Problem> {
        Err(cannot_wait("an event"))
    }

    fn since(&self, _: &dyn BackendEvent) -> Result<Duration, Problem> {
        Err(cannot_wait("an event"))
    }
}
