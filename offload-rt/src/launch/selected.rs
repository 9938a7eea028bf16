//! The images of a selection as one program, each opened when one of its kernels is used.

use std::sync::OnceLock;
use std::time::Duration;

use super::{Arg, NdRange, Program, find};
use crate::device::Device;
use crate::entry::Entry;
use crate::error::Error;
use crate::select::Selection;
use offload_format::pack::KernelInfo;

/// All kernels of a selection; made by [`Device::open_selection`].
#[derive(Debug)]
pub(crate) struct SelectedProgram {
    device: Device,
    selection: Selection,
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    entry: Entry,
    opened: OnceLock<Result<Box<dyn Program>, Error>>,
}

impl SelectedProgram {
    /// A program of one image is opened now: there is nothing to save by waiting, and its errors come early.
    pub(crate) fn new(device: &Device, selection: &Selection) -> Result<SelectedProgram, Error> {
        let part = |entry: &Entry| Part { entry: entry.clone(), opened: OnceLock::new() };
        let parts: Vec<Part> = selection.entries().iter().map(part).collect();
        if let [only] = parts.as_slice() {
            only.open(device)?;
        }
        Ok(SelectedProgram { device: device.clone(), selection: selection.clone(), parts })
    }

    /// The opened image that has `kernel`.
    fn program_of(&self, kernel: &str) -> Result<&dyn Program, Error> {
        let part = self.selection.index_for(kernel).and_then(|index| self.parts.get(index));
        match part {
            Some(part) => part.open(&self.device),
            None => Err(self.selection.without(kernel)),
        }
    }
}

impl Part {
    fn open(&self, device: &Device) -> Result<&dyn Program, Error> {
        let opened = self.opened.get_or_init(|| device.open(&self.entry.load()?));
        opened.as_deref().map_err(Clone::clone)
    }
}

impl Program for SelectedProgram {
    fn kernels(&self) -> &[KernelInfo] {
        match self.parts.as_slice() {
            [only] => only.open(&self.device).map_or(self.selection.kernels(), Program::kernels),
            _ => self.selection.kernels(),
        }
    }

    fn kernel(&self, name: &str) -> Result<&KernelInfo, Error> {
        find(self.program_of(name)?.kernels(), name)
    }

    unsafe fn launch(&self, kernel: &str, range: &NdRange, args: &mut [Arg<'_>]) -> Result<Duration, Error> {
        // SAFETY: the contract is the same, and the caller's to keep.
        unsafe { self.program_of(kernel)?.launch(kernel, range, args) }
    }

    /// Each image has variables of its own: those of all images that have `name` are written.
    fn write_global(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let mut outcome = None;
        for part in &self.parts {
            let written = part.open(&self.device)?.write_global(name, bytes);
            outcome = match (outcome, written) {
                (Some(Ok(())), _) | (_, Ok(())) => Some(Ok(())),
                (Some(first), _) => Some(first),
                (None, failed) => Some(failed),
            };
        }
        outcome.unwrap_or(Ok(()))
    }
}
