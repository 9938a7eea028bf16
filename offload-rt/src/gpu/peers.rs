//! Peer access: copies between devices that do not go through the program's memory.

use super::api::DriverApi;
use super::context::Context;
use super::pool::{PoolAccess, RawPool};
use crate::variable::PEER_ACCESS;

/// Lets each of two devices use the memory of the other, where they are connected, at their first copy. A copy between
/// others is right too: the library sends it through the program's memory.
pub(super) fn connect<A: DriverApi>(first: &Context<A>, second: &Context<A>) {
    if first.add_peer(second.id()) && is_allowed() {
        enable(first, second);
        enable(second, first);
    }
}

/// Whether the user has not turned peer access off. Where an IOMMU redirects transfers between devices, drivers offer it
/// and copies arrive damaged.
#[allow(clippy::disallowed_methods, reason = "reads the environment")]
fn is_allowed() -> bool {
    std::env::var_os(PEER_ACCESS).is_none_or(|value| value != "0")
}

/// Lets the device of `context` use the memory of `owner`. A failure leaves nothing to be done.
fn enable<A: DriverApi>(context: &Context<A>, owner: &Context<A>) {
    let api = context.api();
    let device = A::ordinal(context.handle());
    let mut can_access = 0;
    // SAFETY: the function writes one number.
    let asked = unsafe { api.can_access_peer(&raw mut can_access, device, A::ordinal(owner.handle())) };
    if asked.is_err() || can_access == 0 {
        return;
    }
    if let Ok(_entered) = context.enter() {
        // SAFETY: both contexts live. It may be enabled already, by other code of the process too.
        let _ = unsafe { api.enable_peer_access(owner.handle()) };
    }
    if let Some(pool) = pool_of(owner) {
        let access = PoolAccess::for_device(device);
        // SAFETY: the pool lives; there is one description.
        let _ = unsafe { api.set_pool_access(pool, &raw const access, 1) };
    }
}

fn pool_of<A: DriverApi>(context: &Context<A>) -> Option<RawPool> {
    let _entered = context.enter().ok()?;
    context.pool()
}
