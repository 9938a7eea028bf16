//! Images and samplers of OpenCL C, textures and surfaces of CUDA C++: formats, dimensions, colors as elements, and settings.
//!
//! [`Image`](crate::Image), [`Sampler`](crate::Sampler) and [`Texture`](crate::Texture) are values of a device, which are
//! made with these.

mod dimension;
#[cfg(any(all(feature = "host", any(unix, windows)), feature = "cuda", feature = "hip"))]
mod element;
mod format;
mod sampler;
mod texture;

pub use self::dimension::{D1, D1Array, D1Buffer, D2, D2Array, D3, ImageDimension, ImageType};
pub(crate) use self::dimension::{ImageRegion, ImageShape};
#[cfg(any(all(feature = "host", any(unix, windows)), feature = "cuda", feature = "hip"))]
pub(crate) use self::element::encoded;
pub use self::format::{ChannelOrder, ChannelType, FillColor, ImageFormat};
pub(crate) use self::sampler::SamplerSettings;
pub use self::sampler::{AddressingMode, Coordinates, FilterMode};
#[cfg(any(all(feature = "host", any(unix, windows)), feature = "cuda", feature = "hip"))]
pub(crate) use self::texture::TextureFormat;
pub use self::texture::TextureSettings;
