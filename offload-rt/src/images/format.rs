//! Image formats: the channels of an element, their order, and their type
//! (<https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_API.html#image-format-descriptor>).

use std::fmt;

macro_rules! codes {
    ($(#[doc = $about:literal])* $name:ident { $($(#[doc = $text:literal])* $variant:ident = $code:literal, $word:literal;)* }) => {
        $(#[doc = $about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[doc = $text])* $variant,)*
        }

        impl $name {
            pub(crate) const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// OpenCL's number, which kernels see too.
            pub fn code(self) -> u32 {
                match self {
                    $($name::$variant => $code,)*
                }
            }

            /// That of OpenCL's number; `None` if it is not among these.
            pub fn from_code(code: u32) -> Option<$name> {
                $name::ALL.iter().copied().find(|one| one.code() == code)
            }
        }

        impl fmt::Display for $name {
            /// OpenCL's name without `CL_`.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self {
                    $($name::$variant => $word,)*
                })
            }
        }
    };
}

codes! {
    /// The channels of an element, in the order in which memory has them. A kernel reads red, green, blue and alpha,
    /// whatever the order; of channels that are missing it reads 0, and 1 for alpha.
    ///
    /// A kernel reads and writes linear numbers, also where memory has those of sRGB.
    ///
    /// Those that end in `x` differ in their border color alone, whose alpha is 0.
    ChannelOrder {
        /// Red.
        R = 0x10b0, "R";
        /// Alpha.
        A = 0x10b1, "A";
        /// Red, green.
        Rg = 0x10b2, "RG";
        /// Red, alpha.
        Ra = 0x10b3, "RA";
        /// Red, green, blue, in the packed types alone.
        Rgb = 0x10b4, "RGB";
        /// Red, green, blue, alpha.
        Rgba = 0x10b5, "RGBA";
        /// Blue, green, red, alpha, of 8 bits each.
        Bgra = 0x10b6, "BGRA";
        /// Alpha, red, green, blue, of 8 bits each.
        Argb = 0x10b7, "ARGB";
        /// One channel, which is red, green, blue and alpha.
        Intensity = 0x10b8, "INTENSITY";
        /// One channel, which is red, green and blue.
        Luminance = 0x10b9, "LUMINANCE";
        /// Red, with a border of alpha 0.
        Rx = 0x10ba, "Rx";
        /// Red, green, with a border of alpha 0.
        Rgx = 0x10bb, "RGx";
        /// Red, green, blue, with a border of alpha 0, in the packed types alone.
        Rgbx = 0x10bc, "RGBx";
        /// Red, green and blue of sRGB, in [`ChannelType::UnormInt8`] alone.
        SRgb = 0x10bf, "sRGB";
        /// Red, green and blue of sRGB, with a border of alpha 0, in [`ChannelType::UnormInt8`] alone.
        SRgbx = 0x10c0, "sRGBx";
        /// Red, green and blue of sRGB, and alpha, in [`ChannelType::UnormInt8`] alone.
        SRgba = 0x10c1, "sRGBA";
        /// Blue, green and red of sRGB, and alpha, in [`ChannelType::UnormInt8`] alone.
        SBgra = 0x10c2, "sBGRA";
        /// Alpha, blue, green, red, of 8 bits each.
        Abgr = 0x10c3, "ABGR";
    }
}

codes! {
    /// The type of a channel.
    ///
    /// Kernels read normalised and floating-point channels with `read_imagef`, signed ones with `read_imagei` and
    /// unsigned ones with `read_imageui`.
    ChannelType {
        /// -1.0 to 1.0 in 8 bits.
        SnormInt8 = 0x10d0, "SNORM_INT8";
        /// -1.0 to 1.0 in 16 bits.
        SnormInt16 = 0x10d1, "SNORM_INT16";
        /// 0.0 to 1.0 in 8 bits.
        UnormInt8 = 0x10d2, "UNORM_INT8";
        /// 0.0 to 1.0 in 16 bits.
        UnormInt16 = 0x10d3, "UNORM_INT16";
        /// Three channels in 16 bits: red in the upper 5, green in 6, blue in 5.
        UnormShort565 = 0x10d4, "UNORM_SHORT_565";
        /// Three channels in 16 bits: the highest is unused, then red, green and blue in 5 each.
        UnormShort555 = 0x10d5, "UNORM_SHORT_555";
        /// Three channels in 32 bits: the upper two are unused, then red, green and blue in 10 each.
        UnormInt101010 = 0x10d6, "UNORM_INT_101010";
        /// `i8`.
        SignedInt8 = 0x10d7, "SIGNED_INT8";
        /// `i16`.
        SignedInt16 = 0x10d8, "SIGNED_INT16";
        /// `i32`.
        SignedInt32 = 0x10d9, "SIGNED_INT32";
        /// `u8`.
        UnsignedInt8 = 0x10da, "UNSIGNED_INT8";
        /// `u16`.
        UnsignedInt16 = 0x10db, "UNSIGNED_INT16";
        /// `u32`.
        UnsignedInt32 = 0x10dc, "UNSIGNED_INT32";
        /// 16 bits, as [`Half`](crate::Half).
        HalfFloat = 0x10dd, "HALF_FLOAT";
        /// `f32`.
        Float = 0x10de, "FLOAT";
        /// Four channels in 32 bits: red, green and blue in the upper 10 each, alpha in 2.
        UnormInt1010102 = 0x10e0, "UNORM_INT_101010_2";
    }
}

/// The format of an image's elements.
///
/// ```
/// use offload_rt::{ChannelOrder, ChannelType, ImageFormat};
///
/// let format = ImageFormat::new(ChannelOrder::Rgba, ChannelType::UnormInt8);
/// assert_eq!(format.element_size(), 4);
/// assert_eq!(format.to_string(), "RGBA UNORM_INT8");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageFormat {
    /// The channels.
    pub order: ChannelOrder,
    /// The type of each.
    pub channel_type: ChannelType,
}

/// The type of what a kernel reads from an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChannelClass {
    Float,
    Signed,
    Unsigned,
}

impl ImageFormat {
    /// Channels of `order`, each of `channel_type`. Which formats a device has, it tells when an image is made.
    pub const fn new(order: ChannelOrder, channel_type: ChannelType) -> ImageFormat {
        ImageFormat { order, channel_type }
    }

    /// The size of an element in bytes.
    pub fn element_size(self) -> usize {
        let channel = match self.channel_type {
            ChannelType::UnormShort565 | ChannelType::UnormShort555 => return 2,
            ChannelType::UnormInt101010 | ChannelType::UnormInt1010102 => return 4,
            ChannelType::SnormInt8
            | ChannelType::UnormInt8
            | ChannelType::SignedInt8
            | ChannelType::UnsignedInt8 => 1,
            ChannelType::SnormInt16
            | ChannelType::UnormInt16
            | ChannelType::SignedInt16
            | ChannelType::UnsignedInt16
            | ChannelType::HalfFloat => 2,
            ChannelType::SignedInt32 | ChannelType::UnsignedInt32 | ChannelType::Float => 4,
        };
        channel * self.order.channels()
    }

    pub(crate) fn class(self) -> ChannelClass {
        match self.channel_type {
            ChannelType::SignedInt8 | ChannelType::SignedInt16 | ChannelType::SignedInt32 => {
                ChannelClass::Signed
            }
            ChannelType::UnsignedInt8 | ChannelType::UnsignedInt16 | ChannelType::UnsignedInt32 => {
                ChannelClass::Unsigned
            }
            _ => ChannelClass::Float,
        }
    }
}

impl ChannelOrder {
    /// Whether memory has red, green and blue of sRGB.
    pub(crate) fn is_srgb(self) -> bool {
        matches!(self, ChannelOrder::SRgb | ChannelOrder::SRgbx | ChannelOrder::SRgba | ChannelOrder::SBgra)
    }

    /// The number of channels in memory.
    pub(crate) fn channels(self) -> usize {
        match self {
            ChannelOrder::R
            | ChannelOrder::A
            | ChannelOrder::Rx
            | ChannelOrder::Intensity
            | ChannelOrder::Luminance => 1,
            ChannelOrder::Rg | ChannelOrder::Ra | ChannelOrder::Rgx => 2,
            ChannelOrder::Rgb | ChannelOrder::Rgbx | ChannelOrder::SRgb | ChannelOrder::SRgbx => 3,
            ChannelOrder::Rgba
            | ChannelOrder::Bgra
            | ChannelOrder::Argb
            | ChannelOrder::Abgr
            | ChannelOrder::SRgba
            | ChannelOrder::SBgra => 4,
        }
    }
}

impl fmt::Display for ImageFormat {
    /// As `RGBA UNORM_INT8`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.order, self.channel_type)
    }
}

/// Red, green, blue and alpha that an image is filled with, of the type that a kernel writes: made of `[f32; 4]`,
/// `[i32; 4]` or `[u32; 4]`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum FillColor {
    /// For normalised and floating-point channels.
    Float([f32; 4]),
    /// For signed channels.
    Signed([i32; 4]),
    /// For unsigned channels.
    Unsigned([u32; 4]),
}

impl FillColor {
    pub(crate) fn class(self) -> ChannelClass {
        match self {
            FillColor::Float(_) => ChannelClass::Float,
            FillColor::Signed(_) => ChannelClass::Signed,
            FillColor::Unsigned(_) => ChannelClass::Unsigned,
        }
    }
}

impl From<[f32; 4]> for FillColor {
    fn from(color: [f32; 4]) -> FillColor {
        FillColor::Float(color)
    }
}

impl From<[i32; 4]> for FillColor {
    fn from(color: [i32; 4]) -> FillColor {
        FillColor::Signed(color)
    }
}

impl From<[u32; 4]> for FillColor {
    fn from(color: [u32; 4]) -> FillColor {
        FillColor::Unsigned(color)
    }
}

impl fmt::Display for ChannelClass {
    /// As the function that reads it is called.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ChannelClass::Float => "[f32; 4]",
            ChannelClass::Signed => "[i32; 4]",
            ChannelClass::Unsigned => "[u32; 4]",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_channels_or_of_packed_elements() {
        for (order, channel_type, size) in [
            (ChannelOrder::R, ChannelType::Float, 4),
            (ChannelOrder::Rgx, ChannelType::HalfFloat, 4),
            (ChannelOrder::Bgra, ChannelType::UnormInt8, 4),
            (ChannelOrder::SRgb, ChannelType::UnormInt8, 3),
            (ChannelOrder::Rgba, ChannelType::SignedInt32, 16),
            (ChannelOrder::Rgb, ChannelType::UnormShort565, 2),
            (ChannelOrder::Rgba, ChannelType::UnormInt1010102, 4),
        ] {
            assert_eq!(ImageFormat::new(order, channel_type).element_size(), size, "{order} {channel_type}");
        }
    }

    #[test]
    fn numbers_name_one_format_each() {
        for order in ChannelOrder::ALL {
            assert_eq!(ChannelOrder::from_code(order.code()), Some(*order));
        }
        for channel_type in ChannelType::ALL {
            assert_eq!(ChannelType::from_code(channel_type.code()), Some(*channel_type));
        }
        assert_eq!(ChannelOrder::from_code(ChannelType::Float.code()), None);
    }
}
