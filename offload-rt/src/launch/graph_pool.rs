//! Memory pools of graphs that never run at once.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::capture_memory::{PoolBlock, take_smallest};
use crate::backend::{BackendEvent, ContextId};
use crate::device::Device;

/// Memory that graphs share; made by [`Device::graph_pool`] for [`Stream::capture_with_pool`].
///
/// A buffer that is made and dropped in a capture is a temporary: it holds values during a launch of the graph, and its
/// memory serves later buffers of the capture, and of other captures with the same pool. So many graphs, say one for each
/// batch size, need as much memory for temporaries as the largest of them. A buffer that outlives its capture has memory
/// of its own.
///
/// Launches of the graphs of a pool run one after the other, in whatever streams: each waits on the device for the one
/// before. Memory goes back when the pool and its graphs are dropped.
///
/// ```
/// let device = offload_rt::Device::host();
/// let stream = device.stream()?;
/// let pool = device.graph_pool();
/// let mut sums = stream.zeroed::<u32>(8)?;
/// let mut graphs = Vec::new();
/// for len in [8, 4] {
///     graphs.push(stream.capture_with_pool(&pool, |stream| {
///         let ones = stream.allocate::<u32>(1 << 16)?;
///         let mut temporary = stream.allocate::<u32>(1 << 16)?;
///         stream.copy(&ones, &mut temporary)?;
///         stream.fill(sums.slice_mut(..len)?, len as u32)
///     })?);
/// }
/// for graph in &graphs {
///     graph.launch(&stream)?;
/// }
/// assert_eq!(stream.download(&sums)?, [4, 4, 4, 4, 8, 8, 8, 8]);
/// // That of two buffers, not of four.
/// assert_eq!(pool.unused(), 2 * 4 * (1 << 16));
/// # Ok::<(), offload_rt::Error>(())
/// ```
///
/// [`Stream::capture_with_pool`]: crate::Stream::capture_with_pool
pub struct GraphPool {
    device: Device,
    pub(super) shared: Arc<SharedPool>,
}

/// What graphs of a pool share.
#[derive(Debug, Default)]
pub(super) struct SharedPool {
    /// Whether it may have several graphs.
    is_shared: bool,
    context: OnceLock<ContextId>,
    /// Memory that no buffer has.
    unused: Mutex<Vec<PoolBlock>>,
    launched: Mutex<Launched>,
}

/// The end of the last launch of a pool's graphs.
#[derive(Debug, Default)]
pub(super) struct Launched {
    pub(super) end: Option<Box<dyn BackendEvent>>,
}

impl Device {
    /// A pool for graphs of this device that never run at once.
    pub fn graph_pool(&self) -> GraphPool {
        GraphPool {
            device: self.clone(),
            shared: Arc::new(SharedPool { is_shared: true, ..SharedPool::default() }),
        }
    }
}

impl GraphPool {
    /// The memory of temporaries in bytes, which the next capture can take. While a capture runs, it has what it took.
    pub fn unused(&self) -> u64 {
        self.shared.lock_unused().iter().map(|block| block.size as u64).sum()
    }
}

impl SharedPool {
    /// Whether the driver's order of one graph's launches is too little.
    pub(super) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Whether the pool is of `context`; it is of the first that asks.
    pub(super) fn is_of(&self, context: ContextId) -> bool {
        *self.context.get_or_init(|| context) == context
    }

    /// Takes memory for `size` bytes.
    pub(super) fn take(&self, size: usize) -> Option<PoolBlock> {
        take_smallest(&mut self.lock_unused(), size)
    }

    pub(super) fn give_back(&self, blocks: Vec<PoolBlock>) {
        self.lock_unused().extend(blocks);
    }

    /// Keeps other launches of the pool's graphs away.
    pub(super) fn lock_launches(&self) -> MutexGuard<'_, Launched> {
        self.launched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_unused(&self) -> MutexGuard<'_, Vec<PoolBlock>> {
        self.unused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for GraphPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphPool").field("device", &self.device).field("unused", &self.unused()).finish()
    }
}
