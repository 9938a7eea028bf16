//! Advice to drivers on where managed memory is best.

use super::args::Plain;
use super::managed::Managed;
use crate::backend::{AdviceKind, MemoryAdvice, MemoryPlace};
use crate::device::Device;
use crate::error::Error;

/// How the values of a [`Managed`] buffer are used, for [`Managed::advise`]. It changes the speed of accesses alone.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Advice<'d> {
    /// They are mostly read: each device that reads them, and the program, may have a copy, until one of them writes.
    ReadMostly,
    /// They stay there where they can, and others use them from afar.
    PreferredLocation(MemoryLocation<'d>),
    /// They are mapped for it, wherever they are, so that its accesses cause no page faults.
    AccessedBy(MemoryLocation<'d>),
}

/// A place of memory, in [`Advice`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum MemoryLocation<'d> {
    /// The memory of a device, of the same driver as the buffer.
    Device(&'d Device),
    /// The program's memory.
    Program,
}

/// Advice, and the device that it is given to.
struct DirectedAdvice<'d> {
    kind: AdviceKind,
    place: MemoryPlace,
    device: &'d Device,
}

impl<'d> DirectedAdvice<'d> {
    /// `advice` on memory of `own`.
    fn new(advice: Advice<'d>, own: &'d Device) -> DirectedAdvice<'d> {
        match advice {
            Advice::ReadMostly => {
                DirectedAdvice { kind: AdviceKind::ReadMostly, place: MemoryPlace::Device, device: own }
            }
            Advice::PreferredLocation(location) => {
                DirectedAdvice::with_location(AdviceKind::PreferredLocation, location, own)
            }
            Advice::AccessedBy(location) => {
                DirectedAdvice::with_location(AdviceKind::AccessedBy, location, own)
            }
        }
    }

    fn with_location(kind: AdviceKind, location: MemoryLocation<'d>, own: &'d Device) -> DirectedAdvice<'d> {
        match location {
            MemoryLocation::Device(device) => DirectedAdvice { kind, place: MemoryPlace::Device, device },
            MemoryLocation::Program => DirectedAdvice { kind, place: MemoryPlace::Program, device: own },
        }
    }
}

impl<T: Plain> Managed<T> {
    /// Tells the driver how the values are used. Each advice stays until it is [withdrawn](Managed::withdraw_advice); it
    /// moves nothing by itself, as [`Stream::prefetch`](crate::Stream::prefetch) does.
    ///
    /// It has no effect where the driver takes no advice, as on OpenCL devices and the host CPU:
    /// [`DeviceProperties::takes_memory_advice`](crate::DeviceProperties::takes_memory_advice) shows it.
    ///
    /// ```
    /// use offload_rt::{Advice, Device, MemoryLocation};
    ///
    /// let device = Device::host();
    /// let mut table = device.managed::<f32>(1 << 20)?;
    /// table.access(|table| table.fill(1.5))?;
    /// table.advise(Advice::ReadMostly)?;
    /// table.advise(Advice::PreferredLocation(MemoryLocation::Device(&device)))?;
    /// assert_eq!(device.properties()?.takes_memory_advice, Some(false));
    /// # Ok::<(), offload_rt::Error>(())
    /// ```
    ///
    /// # Errors
    /// The device of the advice is of another driver than the buffer, or cannot use managed memory while the program does; or
    /// the driver refuses.
    pub fn advise(&self, advice: Advice<'_>) -> Result<(), Error> {
        self.give(advice, false)
    }

    /// Undoes [`Managed::advise`] of the same advice.
    ///
    /// # Errors
    /// As there.
    pub fn withdraw_advice(&self, advice: Advice<'_>) -> Result<(), Error> {
        self.give(advice, true)
    }

    fn give(&self, advice: Advice<'_>, is_withdrawn: bool) -> Result<(), Error> {
        let DirectedAdvice { kind, place, device } = DirectedAdvice::new(advice, self.device());
        let size = self.len().saturating_mul(size_of::<T>());
        if size == 0 {
            return Ok(());
        }
        let advice = MemoryAdvice { kind, place, size, is_withdrawn };
        let given = device.backend().advise(self.memory(), advice);
        given.map_err(|problem| {
            Error::from_device(
                &device.to_string(),
                problem.during("it takes no advice on the managed memory"),
            )
        })
    }
}

#[cfg(test)]
#[cfg(all(feature = "host", any(unix, windows)))]
mod tests {
    use super::*;

    #[test]
    fn advice_is_directed_to_the_device_that_it_names() {
        let own = Device::host();
        let other = Device::host();
        let location = MemoryLocation::Device(&other);
        for (advice, kind, place, device) in [
            (Advice::ReadMostly, AdviceKind::ReadMostly, MemoryPlace::Device, &own),
            (Advice::AccessedBy(location), AdviceKind::AccessedBy, MemoryPlace::Device, &other),
            (
                Advice::PreferredLocation(MemoryLocation::Program),
                AdviceKind::PreferredLocation,
                MemoryPlace::Program,
                &own,
            ),
        ] {
            let directed = DirectedAdvice::new(advice, &own);
            assert_eq!((directed.kind, directed.place), (kind, place));
            assert!(std::ptr::eq(directed.device, device));
        }
    }

    #[test]
    fn advice_changes_no_value_of_the_host() {
        let device = Device::host();
        let mut values = device.managed::<u32>(100).unwrap();
        values.access(|values| values.fill(7)).unwrap();
        values.advise(Advice::AccessedBy(MemoryLocation::Program)).unwrap();
        values.withdraw_advice(Advice::AccessedBy(MemoryLocation::Program)).unwrap();
        assert!(values.access(|values| values.iter().all(|value| *value == 7)).unwrap());
        device.managed::<u32>(0).unwrap().advise(Advice::ReadMostly).unwrap();
    }
}
