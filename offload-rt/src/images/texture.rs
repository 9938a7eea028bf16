//! Settings of textures of CUDA C++, and the formats that they have
//! (<https://docs.nvidia.com/cuda/cuda-c-programming-guide/#texture-object-api>).

use super::format::{ChannelOrder, ChannelType, ImageFormat};
use super::sampler::{AddressingMode, Coordinates, FilterMode};
use crate::error::Problem;

/// What a [`Texture`](crate::Texture) gives beside its image and between its elements, and the unit of coordinates:
/// `cudaTextureDesc`.
///
/// The read mode is that of the image's format: of [`ChannelType::UnormInt8`] a kernel reads numbers up to 1.0, as with
/// `cudaReadModeNormalizedFloat`, and of [`ChannelType::UnsignedInt8`] bytes, as with `cudaReadModeElementType`.
///
/// ```
/// use offload_rt::{AddressingMode, Coordinates, FilterMode, TextureSettings};
///
/// let wrapped =
///     TextureSettings::new(AddressingMode::Repeat, FilterMode::Linear, Coordinates::Normalized);
/// let cylinder = wrapped.with_addressing([AddressingMode::Repeat, AddressingMode::Clamp, AddressingMode::Clamp]);
/// assert_ne!(wrapped, cylinder.with_border([1.0, 0.0, 0.0, 1.0]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextureSettings {
    pub(crate) addressing: [AddressingMode; 3],
    pub(crate) filter: FilterMode,
    pub(crate) coordinates: Coordinates,
    pub(crate) border: [f32; 4],
}

impl TextureSettings {
    /// The same addressing mode in each dimension, and a border of zeros. CUDA's modes are `Repeat` (wrap), `ClampToEdge`
    /// (clamp), `MirroredRepeat` (mirror) and `Clamp` (border); `None` is as `ClampToEdge`.
    pub const fn new(
        addressing: AddressingMode,
        filter: FilterMode,
        coordinates: Coordinates,
    ) -> TextureSettings {
        TextureSettings { addressing: [addressing; 3], filter, coordinates, border: [0.0; 4] }
    }

    /// The settings for a texture of so many dimensions. A GPU filters one row as a plane, with the mode of the second
    /// dimension, of which the border would be half of each value.
    #[cfg(any(feature = "cuda", feature = "hip"))]
    pub(crate) fn in_dimensions(self, dimensions: usize) -> TextureSettings {
        let mut addressing = self.addressing;
        for unused in addressing.iter_mut().skip(dimensions) {
            *unused = AddressingMode::ClampToEdge;
        }
        TextureSettings { addressing, ..self }
    }

    /// Another addressing mode in each dimension.
    pub const fn with_addressing(self, addressing: [AddressingMode; 3]) -> TextureSettings {
        TextureSettings { addressing, ..self }
    }

    /// The border color of [`AddressingMode::Clamp`], for normalised channels, which take the nearest number that they
    /// have, and floating-point ones.
    pub const fn with_border(self, border: [f32; 4]) -> TextureSettings {
        TextureSettings { border, ..self }
    }

    /// The border color as elements of `format` have it.
    #[cfg(all(feature = "host", any(unix, windows)))]
    pub(crate) fn border_of(&self, format: ImageFormat) -> [f32; 4] {
        let rounded = |least: f32, most: f32| self.border.map(|channel| nearest(channel, least, most));
        match format.channel_type {
            ChannelType::UnormInt8 => rounded(0.0, 255.0),
            ChannelType::UnormInt16 => rounded(0.0, 65535.0),
            ChannelType::SnormInt8 => rounded(-1.0, 127.0),
            ChannelType::SnormInt16 => rounded(-1.0, 32767.0),
            _ => self.border,
        }
    }

    /// Refuses what CUDA's textures of `format` have not.
    pub(crate) fn check(&self, format: ImageFormat) -> Result<(), Problem> {
        let repeats = self
            .addressing
            .iter()
            .any(|mode| matches!(mode, AddressingMode::Repeat | AddressingMode::MirroredRepeat));
        if repeats && self.coordinates == Coordinates::Elements {
            let problem = "a texture that repeats its image has no coordinates in elements".to_string();
            return Err(Problem::with_hint(problem, "use Coordinates::Normalized"));
        }
        if self.filter == FilterMode::Linear && TextureFormat::new(format)?.is_integer {
            let problem = format!("elements of {format} are integers, which a linear filter does not take");
            return Err(Problem::with_hint(problem, "use FilterMode::Nearest, or normalised channels"));
        }
        Ok(())
    }
}

/// A format as textures and surfaces have it: one, two or four channels of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextureFormat {
    pub(crate) channels: u32,
    /// `CUarray_format` and `hipArray_Format`, whose numbers are the same.
    pub(crate) code: u32,
    /// Whether a kernel reads whole numbers.
    pub(crate) is_integer: bool,
    /// Whether a kernel reads linear numbers of what is sRGB.
    pub(crate) is_srgb: bool,
}

impl TextureFormat {
    pub(crate) fn new(format: ImageFormat) -> Result<TextureFormat, Problem> {
        let is_srgb = format.order.is_srgb();
        let channels = channels(format.order);
        let code =
            code(format.channel_type).filter(|_| !is_srgb || format.channel_type == ChannelType::UnormInt8);
        let (Some(channels), Some(code)) = (channels, code) else {
            let problem = format!("textures and surfaces have no format {format}");
            let hint = "channels are R, RG or RGBA, of a type that is not packed, or sRGBA of UNORM_INT8";
            return Err(Problem::with_hint(problem, hint));
        };
        let is_integer = matches!(
            format.channel_type,
            ChannelType::SignedInt8
                | ChannelType::SignedInt16
                | ChannelType::SignedInt32
                | ChannelType::UnsignedInt8
                | ChannelType::UnsignedInt16
                | ChannelType::UnsignedInt32
        );
        Ok(TextureFormat { channels, code, is_integer, is_srgb })
    }

    /// All formats.
    #[cfg(any(feature = "cuda", feature = "hip"))]
    pub(crate) fn all() -> Vec<ImageFormat> {
        let mut all = Vec::new();
        for order in ChannelOrder::ALL {
            for channel_type in ChannelType::ALL {
                let format = ImageFormat::new(*order, *channel_type);
                if TextureFormat::new(format).is_ok() {
                    all.push(format);
                }
            }
        }
        all
    }
}

/// The nearest of the numbers of a normalised channel from `least` to 1.0, which is `most`; of two the smaller one, as an
/// H200 has it.
#[cfg(all(feature = "host", any(unix, windows)))]
fn nearest(value: f32, least: f32, most: f32) -> f32 {
    let value = value.clamp(least, 1.0);
    ((value.abs() * most - 0.5).ceil() / most).copysign(value)
}

fn channels(order: ChannelOrder) -> Option<u32> {
    match order {
        ChannelOrder::R => Some(1),
        ChannelOrder::Rg => Some(2),
        ChannelOrder::Rgba | ChannelOrder::SRgba => Some(4),
        _ => None,
    }
}

/// <https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html>
fn code(channel_type: ChannelType) -> Option<u32> {
    match channel_type {
        ChannelType::UnsignedInt8 | ChannelType::UnormInt8 => Some(0x01),
        ChannelType::UnsignedInt16 | ChannelType::UnormInt16 => Some(0x02),
        ChannelType::UnsignedInt32 => Some(0x03),
        ChannelType::SignedInt8 | ChannelType::SnormInt8 => Some(0x08),
        ChannelType::SignedInt16 | ChannelType::SnormInt16 => Some(0x09),
        ChannelType::SignedInt32 => Some(0x0a),
        ChannelType::HalfFloat => Some(0x10),
        ChannelType::Float => Some(0x20),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_those_of_cuda_s_arrays() {
        let bytes = TextureFormat::new(ImageFormat::new(ChannelOrder::Rgba, ChannelType::UnsignedInt8));
        assert_eq!(bytes, Ok(TextureFormat { channels: 4, code: 1, is_integer: true, is_srgb: false }));
        let shares = TextureFormat::new(ImageFormat::new(ChannelOrder::Rg, ChannelType::SnormInt16));
        assert_eq!(shares, Ok(TextureFormat { channels: 2, code: 9, is_integer: false, is_srgb: false }));
        let colors = TextureFormat::new(ImageFormat::new(ChannelOrder::SRgba, ChannelType::UnormInt8));
        assert_eq!(colors, Ok(TextureFormat { channels: 4, code: 1, is_integer: false, is_srgb: true }));
        assert!(TextureFormat::new(ImageFormat::new(ChannelOrder::SRgba, ChannelType::Float)).is_err());
        let refused = TextureFormat::new(ImageFormat::new(ChannelOrder::Bgra, ChannelType::UnormInt8));
        assert!(refused.unwrap_err().text.contains("BGRA UNORM_INT8"));
    }

    #[test]
    #[cfg(all(feature = "host", any(unix, windows)))]
    fn borders_are_numbers_of_the_format() {
        let settings =
            TextureSettings::new(AddressingMode::Clamp, FilterMode::Nearest, Coordinates::Elements);
        let settings = settings.with_border([0.25, 0.5, -0.5, 7.0]);
        let border = |channel_type| settings.border_of(ImageFormat::new(ChannelOrder::Rgba, channel_type));
        assert_eq!(border(ChannelType::Float), [0.25, 0.5, -0.5, 7.0]);
        assert_eq!(border(ChannelType::UnormInt8), [64.0 / 255.0, 127.0 / 255.0, 0.0, 1.0]);
        assert_eq!(border(ChannelType::SnormInt8), [32.0 / 127.0, 63.0 / 127.0, -63.0 / 127.0, 1.0]);
    }

    #[test]
    fn settings_that_cuda_lacks_are_refused() {
        let floats = ImageFormat::new(ChannelOrder::R, ChannelType::Float);
        let numbers = ImageFormat::new(ChannelOrder::R, ChannelType::SignedInt32);
        let settings = TextureSettings::new;
        for (settings, format, is_right) in [
            (settings(AddressingMode::Repeat, FilterMode::Linear, Coordinates::Normalized), floats, true),
            (settings(AddressingMode::Repeat, FilterMode::Linear, Coordinates::Elements), floats, false),
            (settings(AddressingMode::Clamp, FilterMode::Linear, Coordinates::Elements), floats, true),
            (settings(AddressingMode::Clamp, FilterMode::Linear, Coordinates::Elements), numbers, false),
            (settings(AddressingMode::Clamp, FilterMode::Nearest, Coordinates::Elements), numbers, true),
        ] {
            assert_eq!(settings.check(format).is_ok(), is_right, "{settings:?} {format}");
        }
    }
}
