//! Images and samplers of OpenCL C: formats, dimensions and the settings of samplers.
//!
//! [`Image`](crate::Image) and [`Sampler`](crate::Sampler) are values of a device, which are made with these.

mod dimension;
mod format;
mod sampler;

pub use self::dimension::{D1, D1Array, D1Buffer, D2, D2Array, D3, ImageDimension, ImageType};
pub(crate) use self::dimension::{ImageRegion, ImageShape};
pub use self::format::{ChannelOrder, ChannelType, FillColor, ImageFormat};
pub(crate) use self::sampler::SamplerSettings;
pub use self::sampler::{AddressingMode, Coordinates, FilterMode};
