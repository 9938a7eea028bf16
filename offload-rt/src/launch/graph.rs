//! Graphs: recorded work that is launched as one.

use std::sync::{Arc, Mutex, PoisonError};

use super::check::check;
use super::graph_pool::SharedPool;
use super::program::Kernel;
use super::queued::Panics;
use super::stream::Stream;
use crate::backend::{BackendGraph, BackendKernel, BackendStream, GraphLaunch, KernelArg, KernelArgKind};
use crate::device::Device;
use crate::error::{Error, Problem};
use crate::recorded::{KeptArg, Operation, RecordedLaunch, RecordedWork};

/// Launches, copies and fills that are recorded once and launched as one, as often as needed; made by
/// [`Stream::capture`].
///
/// It keeps the kernels and buffers that it uses: dropping a [`Buffer`](crate::Buffer) after the capture is right. CUDA
/// and HIP launch it as a graph of their own, with one call; OpenCL devices and the host CPU are given the operations one by
/// one.
///
/// ```
/// let stream = offload_rt::Device::host().stream()?;
/// let mut counts = stream.zeroed::<u32>(8)?;
/// let graph = stream.capture(|stream| stream.fill(&mut counts, 3))?;
/// stream.fill(&mut counts, 1)?;
/// graph.launch(&stream)?;
/// assert_eq!(stream.download(&counts)?, [3; 8]);
/// # Ok::<(), offload_rt::Error>(())
/// ```
#[derive(Debug)]
pub struct Graph {
    device: Device,
    // Released before the work, which it uses.
    native: Option<Box<dyn BackendGraph>>,
    work: RecordedWork,
    /// Keeps the memory of temporaries, and orders launches.
    pool: Arc<SharedPool>,
    /// Of its host functions; `None` if it has none.
    panics: Option<Arc<Panics>>,
    /// Numbers of the operations that are launches.
    launches: Vec<usize>,
    /// Each kernel once.
    kernels: Vec<UsedKernel>,
    /// The streams that its memory is ready for, as numbers. It is locked during a launch: drivers do not synchronize
    /// launches of one graph by several threads, and operations that are given one by one must not mix.
    prepared: Mutex<Vec<usize>>,
}

#[derive(Debug)]
struct UsedKernel {
    name: Arc<str>,
    backend: Arc<dyn BackendKernel>,
}

impl Graph {
    pub(super) fn new(
        device: &Device,
        work: RecordedWork,
        panics: &Arc<Panics>,
        pool: Arc<SharedPool>,
    ) -> Result<Graph, Error> {
        // Drivers refuse graphs without nodes in some releases.
        let native = if work.operations.is_empty() { Ok(None) } else { device.backend().instantiate(&work) };
        let native = native.map_err(|problem| {
            Error::from_device(&device.to_string(), problem.during("cannot make a graph"))
        })?;
        let mut launches = Vec::new();
        let mut kernels: Vec<UsedKernel> = Vec::new();
        for (number, recorded) in work.operations.iter().enumerate() {
            let Operation::Launch(launch) = &recorded.operation else { continue };
            launches.push(number);
            if !kernels.iter().any(|used| Arc::ptr_eq(&used.backend, &launch.kernel)) {
                kernels.push(UsedKernel { name: launch.name.clone(), backend: launch.kernel.clone() });
            }
        }
        let mut operations = work.operations.iter().map(|recorded| &recorded.operation);
        let calls = operations.any(|operation| matches!(operation, Operation::Call { .. }));
        let panics = if calls { Some(panics.clone()) } else { None };
        Ok(Graph {
            device: device.clone(),
            native,
            work,
            pool,
            panics,
            launches,
            kernels,
            prepared: Mutex::default(),
        })
    }

    /// The device of the stream that it was captured with.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The number of its operations: launches, copies, fills, writes and host functions.
    pub fn len(&self) -> usize {
        self.work.operations.len()
    }

    /// Whether it does nothing.
    pub fn is_empty(&self) -> bool {
        self.work.operations.is_empty()
    }

    /// The kernels of its launches, in the order of the capture. A launch over a range without work-items is none.
    pub fn launches(&self) -> impl ExactSizeIterator<Item = &str> {
        self.launches.iter().map(|number| self.launch_of(*number).map_or("", |launch| &*launch.name))
    }

    /// Puts all its work into `stream`, after what the stream has, and returns at once; on the host CPU the work is done
    /// then. Launches of a graph run one after the other, in whatever streams.
    ///
    /// # Errors
    /// The stream is of another device or of a capture, or the driver refuses. A failure of a kernel is reported as for
    /// [`Kernel::launch`].
    #[allow(unsafe_code, reason = "launches kernels")]
    pub fn launch(&self, stream: &Stream) -> Result<(), Error> {
        self.check_stream(stream)?;
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        #[cfg(any(feature = "opencl", feature = "cuda", feature = "hip"))]
        for kernel in &self.kernels {
            stream.queued().prints(&*kernel.backend);
        }
        if let Some(panics) = &self.panics {
            stream.queued().reports(panics);
        }
        if self.native.is_some() && !self.pool.is_shared() {
            // The driver orders launches of one graph.
            self.give_to(stream, &mut prepared)?;
        } else {
            let mut launched = self.pool.lock_launches();
            if let Some(end) = &launched.end {
                stream.done(stream.backend().wait_for(&**end))?;
            }
            let given = self.give_to(stream, &mut prepared);
            // After an error a part of it may run.
            launched.end = Some(stream.done(stream.backend().mark())?);
            given?;
        }
        for kernel in &self.kernels {
            stream.queued().add(&kernel.name);
        }
        Ok(())
    }

    fn give_to(&self, stream: &Stream, prepared: &mut Vec<usize>) -> Result<(), Error> {
        match &self.native {
            Some(native) => {
                stream.done(self.prepare(stream.backend(), prepared))?;
                stream.done(native.launch(stream.backend()))
            }
            None => self.launch_one_by_one(stream),
        }
    }

    /// Replaces the arguments of the launch of this number, in the order of [`launches`](Graph::launches), in launches of
    /// the graph from now on. Kernel and range stay.
    ///
    /// # Errors
    /// There is no such launch, the arguments do not fit the kernel, or the driver refuses.
    ///
    /// # Safety
    /// As that of [`Kernel::launch`], at each launch of the graph.
    #[allow(unsafe_code, reason = "what a kernel does is up to its author and the caller")]
    pub unsafe fn update(&mut self, launch: usize, args: &[KernelArg<'_>]) -> Result<(), Error> {
        let before = self.launches.get(launch).and_then(|number| self.launch_of(*number));
        let Some(before) = before else {
            let problem = format!("the graph has {} launches, and no launch {launch}", self.launches.len());
            return Err(Error::device(&self.device.to_string(), problem));
        };
        check_args(before, &self.device, args)?;
        let failed = |problem| Error::from_launch(&before.name, problem);
        for arg in args {
            if let KernelArgKind::Memory(range) = arg.0 {
                range.memory.end_lease();
            }
        }
        let kept = args.iter().map(KeptArg::new).collect::<Result<Vec<_>, Problem>>().map_err(failed)?;
        let after = RecordedLaunch { args: kept, ..before.clone() };
        if let Some(native) = &mut self.native {
            let args = after.args();
            let changed = GraphLaunch { kernel: &*after.kernel, range: &after.range, args: &args };
            native.update(launch, changed).map_err(|problem| Error::from_launch(&after.name, problem))?;
        }
        let number = self.launches.get(launch).copied().unwrap_or_default();
        if let Some(recorded) = self.work.operations.get_mut(number) {
            recorded.operation = Operation::Launch(after);
        }
        // The new memory is ready for none.
        self.prepared.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        Ok(())
    }

    /// Prepares the memory for work in `stream`, at the first launch there.
    #[cfg(any(feature = "cuda", feature = "hip"))]
    fn prepare(&self, stream: &dyn BackendStream, prepared: &mut Vec<usize>) -> Result<(), Problem> {
        let handle = stream.handle().addr();
        if prepared.contains(&handle) {
            return Ok(());
        }
        for recorded in &self.work.operations {
            recorded.operation.use_in(stream)?;
        }
        prepared.push(handle);
        Ok(())
    }

    /// Memory of other back ends is ready for every stream.
    #[cfg(not(any(feature = "cuda", feature = "hip")))]
    fn prepare(&self, _: &dyn BackendStream, _: &mut Vec<usize>) -> Result<(), Problem> {
        Ok(())
    }

    fn launch_of(&self, number: usize) -> Option<&RecordedLaunch> {
        match &self.work.operations.get(number)?.operation {
            Operation::Launch(launch) => Some(launch),
            _ => None,
        }
    }

    fn check_stream(&self, stream: &Stream) -> Result<(), Error> {
        if stream.recording().is_some() {
            let problem = "a graph cannot be launched in a capture";
            return Err(Error::device(&self.device.to_string(), problem));
        }
        if self.work.context != stream.backend().context() {
            let problem = format!("the graph is of {}, the stream of {}", self.device, stream.device());
            return Err(Error::device("graph", problem).with_hint("make the stream with the graph's device"));
        }
        Ok(())
    }

    #[allow(unsafe_code, reason = "launches kernels")]
    fn launch_one_by_one(&self, stream: &Stream) -> Result<(), Error> {
        for recorded in &self.work.operations {
            // SAFETY: who recorded a launch answers for it at each launch of the graph.
            let ran = unsafe { recorded.operation.run(stream.backend()) };
            match &recorded.operation {
                Operation::Launch(launch) => {
                    ran.map_err(|problem| Error::from_launch(&launch.name, problem))?;
                }
                _ => stream.done(ran)?,
            }
        }
        Ok(())
    }
}

/// Compares `args` with the kernel and the context of `launch`.
fn check_args(launch: &RecordedLaunch, device: &Device, args: &[KernelArg<'_>]) -> Result<(), Error> {
    check(launch.kernel.info(), &launch.range, args.iter().map(KernelArg::given))?;
    let own = launch.kernel.context();
    for (index, arg) in args.iter().enumerate() {
        if !arg.0.is_usable_in(own) {
            return Err(Kernel::other_device(&launch.name, index, arg, device));
        }
    }
    Ok(())
}

#[cfg(test)]
#[cfg(all(feature = "host", any(unix, windows)))]
mod tests {
    use super::*;
    use crate::launch::Buffer;

    fn stream() -> Stream {
        Device::host().stream().unwrap()
    }

    fn text<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn recorded_work_runs_at_each_launch_alone() {
        let stream = stream();
        let mut x = stream.upload(&[1u32, 2, 3, 4]).unwrap();
        let graph = stream.capture(|stream| {
            let zeros = stream.zeroed::<u32>(2)?;
            stream.copy(&zeros, x.slice_mut(2..)?)?;
            stream.write(x.slice_mut(..1)?, &[9])
        });
        let graph = graph.unwrap();
        assert_eq!(graph.len(), 3);
        assert_eq!(stream.download(&x).unwrap(), [1, 2, 3, 4]);
        graph.launch(&stream).unwrap();
        assert_eq!(stream.download(&x).unwrap(), [9, 2, 0, 0]);
        stream.fill(&mut x, 5).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(stream.download(&x).unwrap(), [9, 5, 0, 0]);
    }

    #[test]
    fn a_dropped_buffer_lives_as_long_as_the_graph() {
        let stream = stream();
        let mut out = stream.zeroed::<u64>(3).unwrap();
        let source = stream.upload(&[7u64, 8, 9]).unwrap();
        let graph = stream.capture(|stream| stream.copy(&source, &mut out)).unwrap();
        drop(source);
        let _others: Vec<Buffer<u64>> = (0..8).map(|_| stream.zeroed(3).unwrap()).collect();
        graph.launch(&stream).unwrap();
        assert_eq!(stream.download(&out).unwrap(), [7, 8, 9]);
    }

    #[test]
    fn what_waits_or_belongs_elsewhere_is_refused() {
        let stream = stream();
        let x = stream.upload(&[1u32; 4]).unwrap();
        let outside = stream.record().unwrap();
        let mut inside = None;
        let mut escaped = None;
        stream
            .capture(|stream| {
                assert!(text(stream.download(&x)).contains("waits"));
                assert!(text(stream.synchronize()).contains("hint: "));
                assert!(text(stream.wait_for(&outside)).contains("outside of the capture"));
                assert!(text(stream.capture(|_| Ok(()))).contains("another capture"));
                let empty = Device::host().stream()?.capture(|_| Ok(()))?;
                assert!(empty.is_empty());
                assert!(text(empty.launch(stream)).contains("in a capture"));
                let event = stream.record()?;
                assert!(text(event.wait()).contains("waits") && event.is_done().is_err());
                inside = Some(event);
                escaped = Some(stream.fork()?);
                Ok(())
            })
            .unwrap();
        let inside = inside.unwrap();
        assert!(text(stream.wait_for(&inside)).contains("event of a capture"));
        assert!(text(escaped.unwrap().zeroed::<u32>(1)).contains("has ended"));
        let other = stream.capture(|stream| stream.wait_for(&inside));
        assert!(text(other).contains("another capture"));
    }

    #[test]
    fn an_error_of_the_capture_is_returned() {
        let stream = stream();
        let x = stream.upload(&[1u32; 4]).unwrap();
        let error = text(stream.capture(|stream| stream.copy(&x, &mut stream.zeroed::<u32>(3)?)));
        assert!(error.contains("16 bytes"), "{error}");
    }

    #[test]
    fn operations_come_after_those_that_their_lane_waits_for() {
        let stream = stream();
        let mut x = stream.zeroed::<u32>(1).unwrap();
        let mut y = stream.zeroed::<u32>(1).unwrap();
        let graph = stream.capture(|stream| {
            stream.fill(&mut x, 1)?;
            let beside = stream.fork()?;
            beside.fill(&mut y, 2)?;
            stream.fill(&mut x, 3)?;
            beside.wait_for(&stream.record()?)?;
            stream.wait_for(&beside.record()?)?;
            stream.copy(&x, &mut y)
        });
        let graph = graph.unwrap();
        let places: Vec<(usize, Vec<usize>)> =
            graph.work.operations.iter().map(|recorded| (recorded.lane, recorded.after.clone())).collect();
        assert_eq!(places, [(0, vec![]), (1, vec![0]), (0, vec![]), (0, vec![1])]);
        assert_eq!(graph.work.lanes, 2);
    }

    /// Bytes of a pool's temporaries after a capture.
    fn unused_after(record: impl FnOnce(&Stream) -> Result<(), Error>) -> u64 {
        let stream = stream();
        let pool = stream.device().graph_pool();
        stream.capture_with_pool(&pool, record).unwrap();
        pool.unused()
    }

    #[test]
    fn dropped_buffers_of_a_capture_lend_their_memory_to_later_ones() {
        let unused = unused_after(|stream| {
            drop(stream.zeroed::<u8>(1000)?);
            drop(stream.zeroed::<u8>(900)?);
            // Too small a part of it, and too large.
            let _small = stream.zeroed::<u8>(400)?;
            drop(stream.zeroed::<u8>(1001)?);
            Ok(())
        });
        assert_eq!(unused, 1000 + 400 + 1001);
    }

    #[test]
    fn a_buffer_that_is_used_outside_of_its_capture_keeps_its_memory() {
        let outside = stream();
        let mut kept = None;
        let unused = unused_after(|stream| {
            kept = Some(stream.zeroed::<u8>(100)?);
            let mut written = stream.zeroed::<u8>(200)?;
            outside.fill(&mut written, 1)?;
            let recorded = stream.zeroed::<u8>(300)?;
            outside.capture(|stream| stream.copy(&recorded, &mut stream.allocate::<u8>(300)?))?;
            drop(stream.zeroed::<u8>(400)?);
            Ok(())
        });
        assert_eq!(unused, 400);
        assert_eq!(outside.download(&kept.unwrap()).unwrap().len(), 100);
    }

    #[test]
    fn memory_goes_to_another_lane_by_a_dependency_alone() {
        let stream = stream();
        let pool = stream.device().graph_pool();
        let graph = stream.capture_with_pool(&pool, |stream| {
            let beside = stream.fork()?;
            drop(stream.zeroed::<u8>(64)?);
            // It has memory of its own, as its lane is not ordered with the first.
            drop(beside.zeroed::<u8>(64)?);
            let mut again = stream.allocate::<u8>(64)?;
            beside.fill(&mut again, 1)
        });
        let graph = graph.unwrap();
        assert_eq!(pool.unused(), 128);
        let places: Vec<(usize, Vec<usize>)> =
            graph.work.operations.iter().map(|recorded| (recorded.lane, recorded.after.clone())).collect();
        assert_eq!(places, [(0, vec![]), (1, vec![]), (1, vec![0])]);
    }

    #[test]
    fn a_capture_that_fails_gives_its_memory_back() {
        let stream = stream();
        let pool = stream.device().graph_pool();
        let captured = stream.capture_with_pool(&pool, |stream| {
            drop(stream.zeroed::<u8>(64)?);
            stream.synchronize()
        });
        assert!(text(captured).contains("waits"));
        assert_eq!(pool.unused(), 64);
    }

    #[test]
    fn graphs_of_a_pool_have_right_results_in_any_order() {
        let stream = stream();
        let pool = stream.device().graph_pool();
        let mut out = stream.zeroed::<u32>(2).unwrap();
        let mut graphs = Vec::new();
        for number in 0..2usize {
            let graph = stream.capture_with_pool(&pool, |stream| {
                let first = stream.upload(&[number as u32 + 1])?;
                let mut second = stream.zeroed::<u32>(1)?;
                stream.copy(&first, &mut second)?;
                drop(first);
                drop(stream.upload(&[99u32])?);
                stream.copy(&second, out.slice_mut(number..=number)?)
            });
            graphs.push(graph.unwrap());
        }
        assert_eq!(pool.unused(), 8);
        for graph in [1, 0, 0, 1] {
            stream.fill(&mut out, 0).unwrap();
            graphs[graph].launch(&stream).unwrap();
            let mut expected = [0; 2];
            expected[graph] = graph as u32 + 1;
            assert_eq!(stream.download(&out).unwrap(), expected);
        }
    }
}
