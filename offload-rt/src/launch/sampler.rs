//! Samplers of a device.

use std::sync::Arc;

use crate::backend::BackendSampler;
use crate::device::Device;
use crate::error::Error;
use crate::images::{AddressingMode, Coordinates, FilterMode, SamplerSettings};

/// How a kernel reads an image: what it reads beside the image and between its elements, and the unit of coordinates.
///
/// Kernels take it as `sampler_t`. The settings are those of
/// [OpenCL C](https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_C.html#image-addressing-and-filtering).
///
/// ```
/// use offload_rt::{AddressingMode, Coordinates, Device, FilterMode, Sampler};
///
/// let sampler =
///     Sampler::new(&Device::host(), AddressingMode::Repeat, FilterMode::Linear, Coordinates::Normalized)?;
/// # drop(sampler);
/// # Ok::<(), offload_rt::Error>(())
/// ```
#[derive(Debug)]
pub struct Sampler {
    backend: Arc<dyn BackendSampler>,
}

impl Sampler {
    /// A sampler for kernels on `device`.
    ///
    /// # Errors
    /// A mode that repeats the image has coordinates in elements, the device has no images, or the driver refuses.
    pub fn new(
        device: &Device,
        addressing: AddressingMode,
        filter: FilterMode,
        coordinates: Coordinates,
    ) -> Result<Sampler, Error> {
        let settings = SamplerSettings { addressing, filter, coordinates };
        if !settings.is_valid() {
            let problem = format!("a sampler of {addressing:?} has no coordinates in elements");
            return Err(Error::device(&device.to_string(), problem).with_hint("use Coordinates::Normalized"));
        }
        let backend = device.backend().sampler(settings);
        let backend = backend.map_err(|problem| {
            Error::from_device(&device.to_string(), problem.during("cannot make a sampler"))
        })?;
        Ok(Sampler { backend })
    }

    pub(super) fn backend(&self) -> &Arc<dyn BackendSampler> {
        &self.backend
    }
}

#[cfg(test)]
#[cfg(all(feature = "host", any(unix, windows)))]
mod tests {
    use super::*;

    #[test]
    fn modes_that_repeat_need_normalized_coordinates() {
        let host = Device::host();
        for (addressing, is_valid) in [
            (AddressingMode::None, true),
            (AddressingMode::Clamp, true),
            (AddressingMode::ClampToEdge, true),
            (AddressingMode::Repeat, false),
            (AddressingMode::MirroredRepeat, false),
        ] {
            let made = Sampler::new(&host, addressing, FilterMode::Nearest, Coordinates::Elements);
            assert_eq!(made.is_ok(), is_valid, "{addressing:?}");
            Sampler::new(&host, addressing, FilterMode::Nearest, Coordinates::Normalized).unwrap();
        }
    }
}
