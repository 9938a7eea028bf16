//! Buffers of OpenCL devices.

use super::api::{Buffer, ClResult};
use super::context::{ClContext, id_of};
use crate::backend::{BackendMemory, ContextId};

#[derive(Debug)]
pub(super) struct ClMemory {
    pub(super) buffer: Buffer,
    context: ContextId,
}

impl ClMemory {
    pub(super) fn new(buffer: Buffer, context: &ClContext) -> ClMemory {
        ClMemory { buffer, context: context.id() }
    }

    /// The caller's memory.
    pub(super) fn from_buffer(buffer: Buffer) -> ClResult<ClMemory> {
        let context = id_of(buffer.context_handle()?);
        Ok(ClMemory { buffer, context })
    }
}

impl BackendMemory for ClMemory {
    fn context(&self) -> ContextId {
        self.context
    }
}
