//! Release of arrays, textures, surfaces, imported memory and semaphores after the work that uses them, which nothing waits
//! for.
//!
//! The libraries release them at once, and have no release in the order of a stream. So what is dropped waits in a list of
//! its context with an event of each stream that used it, and is released when a later drop, image or wait finds the events
//! done. A callback of the stream could not release it: those must not call the library.

use std::mem;
use std::ptr;
use std::sync::{PoisonError, TryLockError};

use super::api::{DriverApi, RawEvent};
use super::context::{Context, Entered};
use super::error::{ApiResult, NOT_READY};
use super::retired_list::{Retired, RetiredObject};
use super::stream_users::StreamUsers;

/// Releases `object` after the work of its users.
pub(super) fn retire<A: DriverApi>(context: &Context<A>, users: &StreamUsers<A>, object: RetiredObject) {
    let Ok(entered) = context.enter() else { return };
    let mut retired = Retired { object, after: Vec::new() };
    if record_ends(&entered, users, &mut retired.after).is_err() {
        release_all(entered.api(), vec![retired]);
        return;
    }
    context.retired().0.lock().unwrap_or_else(PoisonError::into_inner).push(retired);
    collect(context, &entered);
}

/// Records the present end of each user. An error says that work is not known, or that the library fails.
fn record_ends<A: DriverApi>(
    entered: &Entered<'_, A>,
    users: &StreamUsers<A>,
    ends: &mut Vec<RawEvent>,
) -> Result<(), ()> {
    for user in users.all().ok_or(())?.iter() {
        let mut event = ptr::null_mut();
        // SAFETY: the context is current; the function writes one handle.
        unsafe { entered.api().create_ordering_event(&raw mut event) }.map_err(|_| ())?;
        ends.push(event);
        // SAFETY: both are of the current context.
        unsafe { entered.api().record_event(event, user.raw) }.map_err(|_| ())?;
    }
    Ok(())
}

/// Releases what no work uses any more, unless another thread does.
pub(super) fn collect<A: DriverApi>(context: &Context<A>, entered: &Entered<'_, A>) {
    let mut waiting = match context.retired().0.try_lock() {
        Ok(waiting) => waiting,
        Err(TryLockError::Poisoned(error)) => error.into_inner(),
        Err(TryLockError::WouldBlock) => return,
    };
    let api = entered.api();
    for retired in mem::take(&mut *waiting) {
        let mut is_needed = false;
        for event in &retired.after {
            // SAFETY: the events live, and are of the current context.
            is_needed |= is_running::<A>(unsafe { api.query_event(*event) });
        }
        if is_needed {
            waiting.push(retired);
        } else {
            // SAFETY: the work that uses the object is done.
            unsafe { release(api, retired) };
        }
    }
}

/// A failure of the library is no reason to keep an object.
fn is_running<A: DriverApi>(queried: ApiResult<(), A>) -> bool {
    queried.is_err_and(|error| error.code() == Some(NOT_READY))
}

/// Releases objects of the current context after all of its work.
pub(crate) fn release_all<A: DriverApi>(api: &'static A, retired: Vec<Retired>) {
    // SAFETY: the context is current.
    let _ = unsafe { api.synchronize() };
    for retired in retired {
        // SAFETY: no work uses it any more.
        unsafe { release(api, retired) };
    }
}

/// # Safety
/// No work uses the object, and its context is current.
unsafe fn release<A: DriverApi>(api: &'static A, retired: Retired) {
    // SAFETY: each was made once. A failure leaves nothing to be done.
    unsafe {
        let _ = match retired.object {
            RetiredObject::Array(array) => api.destroy_array(array),
            RetiredObject::Texture(number) => api.destroy_texture(number),
            RetiredObject::Surface(number) => api.destroy_surface(number),
            #[cfg(unix)]
            RetiredObject::Memory { raw, address } => {
                if address != 0 {
                    let _ = api.free(address);
                }
                api.destroy_memory(raw)
            }
            #[cfg(unix)]
            RetiredObject::Semaphore(semaphore) => api.destroy_semaphore(semaphore),
        };
        for event in retired.after {
            let _ = api.destroy_event(event);
        }
    }
}
