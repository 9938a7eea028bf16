//! Captures: making graphs of the work that a stream is given.

use std::sync::Arc;

use super::graph::Graph;
use super::graph_pool::{GraphPool, SharedPool};
use super::recording::RecordingStream;
use super::stream::Stream;
use crate::error::Error;

impl Stream {
    /// Records the work that `record` gives to the stream that it is called with, and makes a graph of it. Nothing runs
    /// before [`Graph::launch`].
    ///
    /// Launches, fills, copies on the device and writes are recorded. A write keeps a copy of its values, and does them at
    /// each launch of the graph, as [`Stream::upload`] and [`Stream::zeroed`] do; their buffers are allocated once, at
    /// the capture. [`Stream::fork`] makes streams that the graph may run beside the first. Whatever waits, as
    /// [`Stream::download`], is an error.
    ///
    /// The graph keeps the kernels and buffers that it uses, also those that are dropped here. A buffer that is made and
    /// dropped in the capture holds values during a launch alone, and its memory serves later buffers of the capture.
    /// Kernels of this crate's streams are recorded; calls of other libraries with a stream's raw handle are not.
    ///
    /// ```
    /// let stream = offload_rt::Device::host().stream()?;
    /// let x = stream.upload(&[1.0f32, 2.0, 3.0, 4.0])?;
    /// let mut y = stream.zeroed::<f32>(4)?;
    /// let graph = stream.capture(|stream| {
    ///     stream.fill(&mut y, 7.0)?;
    ///     stream.copy(x.slice(..2)?, y.slice_mut(2..)?)
    /// })?;
    /// assert_eq!(stream.download(&y)?, [0.0; 4]);
    /// graph.launch(&stream)?;
    /// assert_eq!(stream.download(&y)?, [7.0, 7.0, 1.0, 2.0]);
    /// # Ok::<(), offload_rt::Error>(())
    /// ```
    ///
    /// # Errors
    /// That of `record`; or the driver refuses the graph.
    ///
    /// # Safety of launches
    /// Who calls [`Kernel::launch`](crate::Kernel::launch) in `record` answers for its contract at each launch of the
    /// graph: other streams use its buffers only after an [`Event`](crate::Event) orders them.
    pub fn capture(&self, record: impl FnOnce(&Stream) -> Result<(), Error>) -> Result<Graph, Error> {
        self.capture_into(Arc::default(), record)
    }

    /// [`Stream::capture`], with memory of `pool` for the buffers that are made in `record`. Launches of the graph and of
    /// other graphs of the pool run one after the other.
    ///
    /// # Errors
    /// As [`Stream::capture`]; or the pool is of another device.
    ///
    /// # Safety of launches
    /// As there.
    pub fn capture_with_pool(
        &self,
        pool: &GraphPool,
        record: impl FnOnce(&Stream) -> Result<(), Error>,
    ) -> Result<Graph, Error> {
        self.capture_into(pool.shared.clone(), record)
    }

    fn capture_into(
        &self,
        pool: Arc<SharedPool>,
        record: impl FnOnce(&Stream) -> Result<(), Error>,
    ) -> Result<Graph, Error> {
        if self.recording().is_some() {
            return Err(self.problem("a capture cannot hold another capture".to_string().into()));
        }
        let recording = RecordingStream::new(self.device(), pool.clone())?;
        let recorded = record(&Stream::from_recording(self.device(), recording.clone()));
        // A capture that fails gives its memory back too.
        let work = recording.finish();
        recorded?;
        Graph::new(self.device(), work, recording.panics(), pool)
    }

    /// A new stream of the same device, whose work comes after what this stream has. In a capture it is a stream of the
    /// same capture, which the graph may run beside this one.
    ///
    /// ```
    /// # let stream = offload_rt::Device::host().stream()?;
    /// let mut x = stream.zeroed::<u32>(4)?;
    /// let mut y = stream.zeroed::<u32>(4)?;
    /// let beside = stream.fork()?;
    /// stream.fill(&mut x, 1)?;
    /// beside.fill(&mut y, 2)?;
    /// stream.wait_for(&beside.record()?)?;
    /// stream.copy(&x, &mut y)?;
    /// # Ok::<(), offload_rt::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::stream`](crate::Device::stream).
    pub fn fork(&self) -> Result<Stream, Error> {
        match self.recording() {
            Some(recording) => {
                let forked = recording.fork().map_err(|problem| self.problem(problem))?;
                Ok(Stream::from_recording(self.device(), forked))
            }
            None => {
                let stream = self.device().stream()?;
                stream.wait_for(&self.record()?)?;
                Ok(stream)
            }
        }
    }
}
