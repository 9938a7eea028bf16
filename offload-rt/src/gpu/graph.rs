//! Graphs of the library: recorded work that was captured once, and is launched with one call.
//!
//! The operations are given to streams that capture, so that a graph has what the streams of a program would be given:
//! <https://docs.nvidia.com/cuda/cuda-programming-guide/04-special-topics/cuda-graphs.html>.

use std::ptr;
use std::sync::{Arc, Mutex};

use super::api::{CaptureInfo, DriverApi, RawGraph, RawGraphExec, RawGraphNode};
use super::context::{Context, Entered};
use super::error::failed;
use super::event::GpuEvent;
use super::kernel::{GpuKernel, LaunchTarget};
use super::stream::GpuStream;
use super::stream_handle::GraphMemory;
use crate::backend::{BackendGraph, BackendStream, GraphLaunch, GraphWork, downcast};
use crate::error::Problem;

/// A graph, ready to be launched.
#[derive(Debug)]
pub(super) struct GpuGraph<A: DriverApi> {
    executable: RawGraphExec,
    graph: CapturedGraph<A>,
}

/// A graph as it was captured, whose nodes name the launches of the one that is launched.
#[derive(Debug)]
struct CapturedGraph<A: DriverApi> {
    raw: RawGraph,
    /// The node of each launch.
    launches: Vec<RawGraphNode>,
    /// The stream that has captured it, which keeps the graph's own memory.
    stream: GpuStream<A>,
    context: Arc<Context<A>>,
}

/// A capture that runs, with a stream for each lane.
struct Capture<'e, A: DriverApi> {
    entered: &'e Entered<'e, A>,
    context: &'e Arc<Context<A>>,
    first: GpuStream<A>,
    others: Vec<GpuStream<A>>,
    /// Of each operation so far, the event at its end, if another lane waits for it.
    ends: Vec<Option<GpuEvent<A>>>,
    launches: Vec<RawGraphNode>,
}

// SAFETY: the library's functions may be called from any thread.
unsafe impl<A: DriverApi> Send for GpuGraph<A> {}
// SAFETY: as above. The libraries do not synchronize calls for one graph: the launch layer launches it in one thread at a
// time, and an update has it to itself.
unsafe impl<A: DriverApi> Sync for GpuGraph<A> {}

impl<A: DriverApi> GpuGraph<A> {
    pub(super) fn new(context: &Arc<Context<A>>, work: &dyn GraphWork) -> Result<GpuGraph<A>, Problem> {
        let entered = context.enter()?;
        let graph = CapturedGraph::new(context, &entered, work)?;
        let mut executable = ptr::null_mut();
        // SAFETY: the graph lives; the function writes one handle.
        unsafe { entered.api().instantiate_graph(&raw mut executable, graph.raw) }?;
        Ok(GpuGraph { executable, graph })
    }
}

impl<A: DriverApi> CapturedGraph<A> {
    fn new(
        context: &Arc<Context<A>>,
        entered: &Entered<'_, A>,
        work: &dyn GraphWork,
    ) -> Result<CapturedGraph<A>, Problem> {
        let mut capture = Capture::begin(context, entered, work.lanes())?;
        let added = capture.add(work);
        // A capture is ended in any case.
        let ended = capture.end();
        let Capture { launches, first: stream, .. } = capture;
        let graph = ended.map(|raw| CapturedGraph { raw, launches, stream, context: context.clone() });
        added?;
        graph
    }
}

impl<'e, A: DriverApi> Capture<'e, A> {
    fn begin(
        context: &'e Arc<Context<A>>,
        entered: &'e Entered<'e, A>,
        lanes: usize,
    ) -> Result<Capture<'e, A>, Problem> {
        let memory = Arc::new(GraphMemory(Mutex::default()));
        let first = GpuStream::for_capture(context.clone(), memory.clone())?;
        let mut others = Vec::new();
        for _ in 1..lanes {
            others.push(GpuStream::for_capture(context.clone(), memory.clone())?);
        }
        // SAFETY: the stream lives.
        unsafe { entered.api().begin_capture(first.raw) }?;
        Ok(Capture { entered, context, first, others, ends: Vec::new(), launches: Vec::new() })
    }

    /// Gives all operations to the streams of their lanes.
    fn add(&mut self, work: &dyn GraphWork) -> Result<(), Problem> {
        // A stream takes part in the capture when it waits for one that does.
        let start = self.event(&self.first)?;
        for stream in &self.others {
            stream.wait_for(&start)?;
        }
        let places = work.places();
        let mut is_awaited = vec![false; places.len()];
        for number in places.iter().flat_map(|place| place.after) {
            if let Some(is_awaited) = is_awaited.get_mut(*number) {
                *is_awaited = true;
            }
        }
        for (number, (place, is_awaited)) in places.iter().zip(is_awaited).enumerate() {
            let stream = self.lane(place.lane)?;
            for before in place.after {
                if let Some(Some(end)) = self.ends.get(*before) {
                    stream.wait_for(end)?;
                }
            }
            // SAFETY: nothing runs before the graph is launched; who recorded a launch answers for it then.
            unsafe { work.run(number, stream) }?;
            let end = if is_awaited { Some(self.event(stream)?) } else { None };
            if place.is_launch {
                let node = self.last_node(stream)?;
                self.launches.push(node);
            }
            self.ends.push(end);
        }
        // All streams come back to the first.
        for stream in &self.others {
            self.first.wait_for(&self.event(stream)?)?;
        }
        Ok(())
    }

    fn end(&self) -> Result<RawGraph, Problem> {
        let mut graph = ptr::null_mut();
        // SAFETY: the stream captures; the function writes one handle.
        unsafe { self.entered.api().end_capture(self.first.raw, &raw mut graph) }?;
        Ok(graph)
    }

    fn lane(&self, lane: usize) -> Result<&GpuStream<A>, Problem> {
        let stream = match lane.checked_sub(1) {
            None => Some(&self.first),
            Some(other) => self.others.get(other),
        };
        stream.ok_or_else(|| "the capture lost a stream".to_string().into())
    }

    fn event(&self, stream: &GpuStream<A>) -> Result<GpuEvent<A>, Problem> {
        let event = GpuEvent::new(self.context, self.entered)?;
        event.record(stream.raw, self.entered)?;
        Ok(event)
    }

    /// The node of what `stream` was given last.
    fn last_node(&self, stream: &GpuStream<A>) -> Result<RawGraphNode, Problem> {
        let mut info = CaptureInfo::empty();
        // SAFETY: the stream captures; the function writes all of `info`, and the nodes are read before the stream is given
        // more.
        unsafe {
            self.entered.api().capture_info(stream.raw, &mut info)?;
            if info.count == 0 {
                return Err("the capture lost a launch".to_string().into());
            }
            Ok(info.nodes.read())
        }
    }
}

impl<A: DriverApi> BackendGraph for GpuGraph<A> {
    fn launch(&self, stream: &dyn BackendStream) -> Result<(), Problem> {
        let failed = failed("cannot launch the graph");
        let stream = downcast::<GpuStream<A>>(stream)?;
        let entered = self.graph.context.enter().map_err(&failed)?;
        // SAFETY: graph and stream are of the current context. The memory and the kernels that the graph uses are kept by
        // the launch layer, which releases them after the graph.
        unsafe { entered.api().launch_graph(self.executable, stream.raw) }.map_err(failed)
    }

    fn update(&mut self, number: usize, launch: GraphLaunch<'_>) -> Result<(), Problem> {
        let Some(node) = self.graph.launches.get(number) else {
            return Err("the graph lost a launch".to_string().into());
        };
        let kernel = downcast::<GpuKernel<A>>(launch.kernel)?;
        let target = LaunchTarget::Node { executable: self.executable, node: *node };
        // SAFETY: nothing runs now; the caller answers for the launches of the graph.
        unsafe { kernel.launch_in(target, &self.graph.stream, launch.range, launch.args) }
    }
}

impl<A: DriverApi> Drop for GpuGraph<A> {
    fn drop(&mut self) {
        if let Ok(entered) = self.graph.context.enter() {
            // SAFETY: it was made once, in this context. Launches of it may still run: neither documentation says that
            // releasing it waits for them.
            unsafe {
                let _ = entered.api().synchronize();
                let _ = entered.api().destroy_graph_exec(self.executable);
            }
        }
    }
}

impl<A: DriverApi> Drop for CapturedGraph<A> {
    fn drop(&mut self) {
        if let Ok(entered) = self.context.enter() {
            // SAFETY: it was made once.
            let _ = unsafe { entered.api().destroy_graph(self.raw) };
        }
    }
}
