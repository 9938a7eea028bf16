//! The kernels in flight in a stream, for the names in errors.
//!
//! Drivers report the failure of a kernel at the next wait, without its name.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[cfg(any(feature = "opencl", feature = "cuda", feature = "hip"))]
use crate::backend::{BackendKernel, BackendOutput, OutputMark};
use crate::device::Device;
use crate::error::{Error, Problem};
use crate::text::escape;

/// Of more kernels than this an error names the latest.
const MOST_NAMES: usize = 8;

/// Shared by a stream and its events.
#[derive(Clone, Debug, Default)]
pub(super) struct Queued {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Where the texts of `names` are. A launch compares its own with them, and takes the lock only if it is not there:
    /// nothing is read through these pointers, and no other text can be at the place of one that is kept.
    places: [AtomicPtr<u8>; MOST_NAMES],
    names: Mutex<KernelNames>,
    panics: Arc<Panics>,
    /// Those of graphs that the stream was given.
    graph_panics: Mutex<Vec<Arc<Panics>>>,
    /// The outputs of the kernels.
    #[cfg(any(feature = "opencl", feature = "cuda", feature = "hip"))]
    outputs: Mutex<Vec<UsedOutput>>,
}

/// The message of the first host function that panicked since the last wait. A function keeps this alone: what a driver
/// calls must not release what the stream uses.
#[derive(Debug, Default)]
pub(super) struct Panics(Mutex<Option<String>>);

impl Panics {
    /// Keeps the message of a panic, unless there is one.
    pub(super) fn add(&self, message: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(message);
    }

    fn is_pending(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// An output that work of the stream prints to, and its end before that work.
#[cfg(any(feature = "opencl", feature = "cuda", feature = "hip"))]
#[derive(Clone, Debug)]
struct UsedOutput {
    output: Arc<dyn BackendOutput>,
    before: OutputMark,
}

/// Each name once; adding one allocates nothing.
#[derive(Debug, Default)]
struct KernelNames {
    latest: [Option<Arc<str>>; MOST_NAMES],
    next: usize,
}

impl KernelNames {
    /// Whether the stream was given a kernel of this name, as far as that is known.
    #[cfg(any(feature = "opencl", feature = "cuda", feature = "hip"))]
    fn may_have(&self, kernel: &str) -> bool {
        self.next > MOST_NAMES || self.latest.iter().flatten().any(|name| **name == *kernel)
    }
}

impl Queued {
    pub(super) fn add(&self, kernel: &Arc<str>) {
        let own = place(kernel);
        if !self.shared.places.iter().any(|known| known.load(Ordering::Acquire) == own) {
            self.remember(kernel);
        }
    }

    #[cold]
    fn remember(&self, kernel: &Arc<str>) {
        let mut names = self.lock();
        if names.latest.iter().flatten().any(|known| Arc::ptr_eq(known, kernel)) {
            return;
        }
        let next = names.next % MOST_NAMES;
        if let (Some(name), Some(known)) = (names.latest.get_mut(next), self.shared.places.get(next)) {
            // The one before goes after its place does.
            known.store(place(kernel), Ordering::Release);
            *name = Some(kernel.clone());
        }
        names.next = next + 1;
    }

    /// Everything has run.
    pub(super) fn clear(&self) {
        let mut names = self.lock();
        self.shared.places.iter().for_each(|known| known.store(ptr::null_mut(), Ordering::Release));
        *names = KernelNames::default();
        drop(names);
        #[cfg(any(feature = "opencl", feature = "cuda", feature = "hip"))]
        self.shared.outputs.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The error of a wait that failed.
    pub(super) fn failed(&self, device: &Device, mut problem: Problem) -> Error {
        let names = self.lock();
        let mut names: Vec<&str> = names.latest.iter().flatten().map(|name| &**name).collect();
        names.sort_unstable();
        names.dedup();
        match names.as_slice() {
            [] => Error::from_device(&device.to_string(), problem),
            [only] => Error::from_launch(only, problem),
            several => {
                let list: Vec<String> = several.iter().map(|name| format!("`{}`", escape(name))).collect();
                problem.text =
                    format!("{}: a kernel failed, which may be any of {}", problem.text, list.join(", "));
                Error::from_device(&device.to_string(), problem)
            }
        }
    }

    /// Remembers that `kernel` prints, if it does.
    #[cfg(any(feature = "opencl", feature = "cuda", feature = "hip"))]
    pub(super) fn prints(&self, kernel: &dyn BackendKernel) {
        let Some(output) = kernel.output() else { return };
        let mut outputs = self.shared.outputs.lock().unwrap_or_else(PoisonError::into_inner);
        if !outputs.iter().any(|used| Arc::ptr_eq(&used.output, &output)) {
            outputs.push(UsedOutput { before: output.mark(), output });
        }
    }

    pub(super) fn panics(&self) -> &Arc<Panics> {
        &self.shared.panics
    }

    /// Reports the panics of a graph as its own from now on.
    pub(super) fn reports(&self, panics: &Arc<Panics>) {
        let mut graphs = self.shared.graph_panics.lock().unwrap_or_else(PoisonError::into_inner);
        // Those of graphs that are gone, whose functions are called no more, stay until they are reported.
        graphs.retain(|known| Arc::strong_count(known) > 1 || known.is_pending());
        if !graphs.iter().any(|known| Arc::ptr_eq(known, panics)) {
            graphs.push(panics.clone());
        }
    }

    fn take_panic(&self) -> Option<String> {
        let own = self.shared.panics.take();
        let graphs = self.shared.graph_panics.lock().unwrap_or_else(PoisonError::into_inner);
        own.or_else(|| graphs.iter().find_map(|panics| panics.take()))
    }

    /// Prints what kernels have printed, after their work was waited for, and returns the first failed assertion, or the
    /// panic of a host function.
    pub(super) fn conclude(&self, device: &Device) -> Result<(), Error> {
        let printed = self.print(device);
        let Some(message) = self.take_panic() else { return printed };
        let problem = format!("a host function of the stream panicked: {}", escape(&message));
        printed.and(Err(Error::device(&device.to_string(), problem)))
    }

    #[cfg(any(feature = "opencl", feature = "cuda", feature = "hip"))]
    fn print(&self, device: &Device) -> Result<(), Error> {
        let outputs = self.shared.outputs.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut first = Ok(());
        for UsedOutput { output, before } in outputs {
            let failed = match output.print(before, &|kernel| self.lock().may_have(kernel)) {
                Ok(None) => continue,
                Ok(Some(failure)) if failure.kernel.is_empty() => self.failed(device, failure.text.into()),
                Ok(Some(failure)) => Error::from_launch(&failure.kernel, failure.text.into()),
                Err(problem) => self.failed(device, problem.during("cannot read what kernels print")),
            };
            first = first.and(Err(failed));
        }
        first
    }

    #[cfg(not(any(feature = "opencl", feature = "cuda", feature = "hip")))]
    fn print(&self, _: &Device) -> Result<(), Error> {
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, KernelNames> {
        self.shared.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn place(name: &Arc<str>) -> *mut u8 {
    name.as_ptr().cast_mut()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(queued: &Queued) -> String {
        queued.failed(&Device::host(), Problem::from("it trapped".to_string())).to_string()
    }

    #[test]
    fn an_error_names_the_kernels_that_it_may_be_of() {
        let queued = Queued::default();
        let [a, b] = ["a", "b"].map(Arc::<str>::from);
        assert!(text(&queued).starts_with("host CPU") && text(&queued).ends_with(": it trapped"));
        queued.add(&a);
        queued.add(&a);
        assert_eq!(text(&queued), "kernel `a`: it trapped");
        queued.add(&b);
        assert!(text(&queued).ends_with("it trapped: a kernel failed, which may be any of `a`, `b`"));
        queued.clear();
        assert!(!text(&queued).contains("kernel"));
    }

    /// The first launch after waiting adds its name again.
    #[test]
    fn a_kernel_is_named_again_after_everything_has_run() {
        let queued = Queued::default();
        let kernel = Arc::<str>::from("again");
        for _ in 0..2 {
            queued.add(&kernel);
            queued.add(&kernel);
            assert_eq!(
                (text(&queued).as_str(), Arc::strong_count(&kernel)),
                ("kernel `again`: it trapped", 2)
            );
            queued.clear();
            assert_eq!(Arc::strong_count(&kernel), 1);
        }
    }

    /// A known name waits for no lock.
    #[test]
    fn a_launch_of_a_known_kernel_takes_no_lock() {
        let queued = Queued::default();
        let kernel = Arc::<str>::from("known");
        queued.add(&kernel);
        let held = queued.lock();
        queued.add(&kernel);
        assert_eq!(held.next, 1);
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
