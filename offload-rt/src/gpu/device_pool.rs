//! The memory pool of a device, as the launch layer asks for it.

use std::ffi::c_uint;
use std::sync::Arc;

use super::api::DriverApi;
use super::context::Context;
use super::pool::{RELEASE_THRESHOLD, RESERVED_CURRENT, RESERVED_HIGH, RawPool, USED_CURRENT, USED_HIGH};
use crate::backend::{BackendPool, PoolStatistics};
use crate::error::Problem;

/// The pool of a context that it keeps.
#[derive(Debug)]
pub(super) struct DevicePool<A: DriverApi> {
    context: Arc<Context<A>>,
    raw: RawPool,
}

// SAFETY: the library's functions may be called from any thread.
unsafe impl<A: DriverApi> Send for DevicePool<A> {}
// SAFETY: as above.
unsafe impl<A: DriverApi> Sync for DevicePool<A> {}

impl<A: DriverApi> DevicePool<A> {
    /// `None` if library or device have no pools.
    pub(super) fn new(context: Arc<Context<A>>) -> Result<Option<DevicePool<A>>, Problem> {
        let entered = context.enter()?;
        let raw = context.pool();
        drop(entered);
        Ok(raw.map(|raw| DevicePool { context, raw }))
    }

    fn attribute(&self, attribute: c_uint) -> Result<u64, Problem> {
        let entered = self.context.enter()?;
        let mut bytes = 0u64;
        // SAFETY: the pool lives as long as its context; the attribute is a number of this size.
        unsafe { entered.api().pool_attribute(self.raw, attribute, (&raw mut bytes).cast()) }?;
        Ok(bytes)
    }
}

impl<A: DriverApi> BackendPool for DevicePool<A> {
    fn statistics(&self) -> Result<PoolStatistics, Problem> {
        Ok(PoolStatistics {
            used: self.attribute(USED_CURRENT)?,
            max_used: self.attribute(USED_HIGH)?,
            reserved: self.attribute(RESERVED_CURRENT)?,
            max_reserved: self.attribute(RESERVED_HIGH)?,
        })
    }

    fn keep(&self, mut bytes: u64) -> Result<(), Problem> {
        let entered = self.context.enter()?;
        // SAFETY: as above.
        let set =
            unsafe { entered.api().set_pool_attribute(self.raw, RELEASE_THRESHOLD, (&raw mut bytes).cast()) };
        Ok(set?)
    }

    fn trim(&self, bytes: u64) -> Result<(), Problem> {
        let entered = self.context.enter()?;
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        // SAFETY: as above.
        Ok(unsafe { entered.api().trim_pool(self.raw, bytes) }?)
    }
}
