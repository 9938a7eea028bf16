//! The kernels that a stream was given since its work was last known to be right.
//!
//! Drivers report the failure of a kernel to whoever waits next, without its name.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::device::Device;
use crate::error::{Error, Problem};
use crate::text::escape;

/// Of more kernels than this an error names the latest.
const MOST_NAMES: usize = 8;

/// Shared by a stream and its events.
#[derive(Clone, Debug, Default)]
pub(super) struct Queued {
    names: Arc<Mutex<Names>>,
}

/// Each name once; adding one allocates nothing.
#[derive(Debug, Default)]
struct Names {
    latest: [Option<Arc<str>>; MOST_NAMES],
    next: usize,
}

impl Queued {
    pub(super) fn add(&self, kernel: &Arc<str>) {
        let mut names = self.lock();
        if names.latest.iter().flatten().any(|known| Arc::ptr_eq(known, kernel)) {
            return;
        }
        let next = names.next % MOST_NAMES;
        if let Some(place) = names.latest.get_mut(next) {
            *place = Some(kernel.clone());
        }
        names.next = next + 1;
    }

    /// Everything has run.
    pub(super) fn clear(&self) {
        *self.lock() = Names::default();
    }

    /// The error of whoever waits.
    pub(super) fn failed(&self, device: &Device, mut problem: Problem) -> Error {
        let names = self.lock();
        let mut names: Vec<&str> = names.latest.iter().flatten().map(|name| &**name).collect();
        names.sort_unstable();
        names.dedup();
        match names.as_slice() {
            [] => Error::of_device(&device.to_string(), problem),
            [only] => Error::of_launch(only, problem),
            several => {
                let list: Vec<String> = several.iter().map(|name| format!("`{}`", escape(name))).collect();
                problem.text =
                    format!("{}: a kernel failed, which may be any of {}", problem.text, list.join(", "));
                Error::of_device(&device.to_string(), problem)
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Names> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(queued: &Queued) -> String {
        queued.failed(&Device::host(), Problem::from("it trapped".to_string())).to_string()
    }

    #[test]
    fn an_error_names_the_kernels_that_it_may_be_of() {
        let (queued, [a, b]) = (Queued::default(), ["a", "b"].map(Arc::<str>::from));
        assert!(text(&queued).starts_with("host CPU") && text(&queued).ends_with(": it trapped"));
        queued.add(&a);
        queued.add(&a);
        assert_eq!(text(&queued), "kernel `a`: it trapped");
        queued.add(&b);
        assert!(text(&queued).ends_with("it trapped: a kernel failed, which may be any of `a`, `b`"));
        queued.clear();
        assert!(!text(&queued).contains("kernel"));
    }

    #[test]
    fn the_latest_of_many_are_named() {
        let queued = Queued::default();
        let names: Vec<Arc<str>> = (0..20).map(|index| format!("k{index:02}").into()).collect();
        names.iter().for_each(|name| queued.add(name));
        let text = text(&queued);
        assert!(!text.contains("`k11`") && text.contains("`k12`") && text.contains("`k19`"), "{text}");
    }
}
