//! Colors as elements of an image
//! (<https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_C.html#conversion-rules-for-normalized-integer-channel-data-types>).

use super::format::{ChannelOrder, ChannelType, FillColor, ImageFormat};

/// The bytes of an element of `color`, which is of the class of the format's channels.
pub(crate) fn encoded(format: ImageFormat, color: FillColor) -> Vec<u8> {
    match color {
        FillColor::Float(color) => match packed(format.channel_type, color) {
            Some(bytes) => bytes,
            None => {
                let color = if format.order.is_srgb() { srgb(color) } else { color };
                joined(format.order, color, |value| float_channel(format.channel_type, value))
            }
        },
        FillColor::Signed(color) => joined(format.order, color, |value| match format.channel_type {
            ChannelType::SignedInt8 => (value.clamp(-0x80, 0x7f) as i8).to_ne_bytes().to_vec(),
            ChannelType::SignedInt16 => (value.clamp(-0x8000, 0x7fff) as i16).to_ne_bytes().to_vec(),
            _ => value.to_ne_bytes().to_vec(),
        }),
        FillColor::Unsigned(color) => joined(format.order, color, |value| match format.channel_type {
            ChannelType::UnsignedInt8 => (value.min(0xff) as u8).to_ne_bytes().to_vec(),
            ChannelType::UnsignedInt16 => (value.min(0xffff) as u16).to_ne_bytes().to_vec(),
            _ => value.to_ne_bytes().to_vec(),
        }),
    }
}

/// The channels that memory has, in its order, each as `channel` has it.
fn joined<T: Copy>(order: ChannelOrder, color: [T; 4], channel: impl Fn(T) -> Vec<u8>) -> Vec<u8> {
    let [red, green, blue, alpha] = color;
    let stored: &[T] = match order {
        ChannelOrder::A => &[alpha],
        ChannelOrder::Rg | ChannelOrder::Rgx => &[red, green],
        ChannelOrder::Ra => &[red, alpha],
        ChannelOrder::Rgb | ChannelOrder::Rgbx | ChannelOrder::SRgb | ChannelOrder::SRgbx => {
            &[red, green, blue]
        }
        ChannelOrder::Rgba | ChannelOrder::SRgba => &[red, green, blue, alpha],
        ChannelOrder::Bgra | ChannelOrder::SBgra => &[blue, green, red, alpha],
        ChannelOrder::Argb => &[alpha, red, green, blue],
        ChannelOrder::Abgr => &[alpha, blue, green, red],
        ChannelOrder::R | ChannelOrder::Rx | ChannelOrder::Intensity | ChannelOrder::Luminance => &[red],
    };
    stored.iter().flat_map(|value| channel(*value)).collect()
}

fn float_channel(channel_type: ChannelType, value: f32) -> Vec<u8> {
    match channel_type {
        ChannelType::SnormInt8 => (normalized(value, -128.0, 127.0) as i8).to_ne_bytes().to_vec(),
        ChannelType::SnormInt16 => (normalized(value, -32768.0, 32767.0) as i16).to_ne_bytes().to_vec(),
        ChannelType::UnormInt8 => (normalized(value, 0.0, 255.0) as u8).to_ne_bytes().to_vec(),
        ChannelType::UnormInt16 => (normalized(value, 0.0, 65535.0) as u16).to_ne_bytes().to_vec(),
        ChannelType::HalfFloat => half(value).to_ne_bytes().to_vec(),
        _ => value.to_ne_bytes().to_vec(),
    }
}

/// A linear color as sRGB has it, which keeps alpha
/// (<https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_C.html#conversion-rules-for-srgba-and-sbgra-images>).
fn srgb(color: [f32; 4]) -> [f32; 4] {
    let [red, green, blue, alpha] = color;
    let [red, green, blue] = [red, green, blue].map(|linear| match linear {
        ..0.003_130_8 => 12.92 * linear,
        _ => 1.055 * linear.powf(1.0 / 2.4) - 0.055,
    });
    [red, green, blue, alpha]
}

/// `value` times `most`, rounded to the nearest even number between `least` and `most`; 0 for what is no number.
fn normalized(value: f32, least: f32, most: f32) -> f32 {
    if value.is_nan() {
        return 0.0;
    }
    (value * most).round_ties_even().clamp(least, most)
}

/// An element of several channels in one number.
fn packed(channel_type: ChannelType, color: [f32; 4]) -> Option<Vec<u8>> {
    let [red, green, blue, alpha] = color;
    let bits = |value, count: u32| normalized(value, 0.0, ((1u32 << count) - 1) as f32) as u32;
    Some(match channel_type {
        ChannelType::UnormShort565 => {
            let element = bits(red, 5) << 11 | bits(green, 6) << 5 | bits(blue, 5);
            (element as u16).to_ne_bytes().to_vec()
        }
        ChannelType::UnormShort555 => {
            let element = bits(red, 5) << 10 | bits(green, 5) << 5 | bits(blue, 5);
            (element as u16).to_ne_bytes().to_vec()
        }
        ChannelType::UnormInt101010 => {
            (bits(red, 10) << 20 | bits(green, 10) << 10 | bits(blue, 10)).to_ne_bytes().to_vec()
        }
        ChannelType::UnormInt1010102 => {
            let element = bits(red, 10) << 22 | bits(green, 10) << 12 | bits(blue, 10) << 2 | bits(alpha, 2);
            element.to_ne_bytes().to_vec()
        }
        _ => return None,
    })
}

/// The bits of the nearest `half`, the even one of two.
fn half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let size = bits & 0x7fff_ffff;
    let magnitude = match size {
        0x7f80_0001.. => 0x7e00 | (size >> 13 & 0x3ff),
        0x477f_f000.. => 0x7c00,
        // The exponent is smaller by 112; what is rounded up may go into it.
        0x3880_0000.. => shifted(size.saturating_sub(0x3800_0000), 13),
        0x3300_0000.. => shifted(size & 0x7f_ffff | 0x80_0000, 126u32.saturating_sub(size >> 23)),
        _ => 0,
    };
    sign | magnitude as u16
}

/// The upper bits, rounded to nearest, ties to even.
fn shifted(bits: u32, count: u32) -> u32 {
    let upper = bits >> count;
    let rest = bits & (1u32 << count).wrapping_sub(1);
    let middle = 1u32 << count.saturating_sub(1);
    let is_up = rest > middle || (rest == middle && upper & 1 == 1);
    upper.saturating_add(u32::from(is_up))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_in_the_order_of_the_format() {
        let color = FillColor::Unsigned([1, 2, 3, 4]);
        for (order, bytes) in [
            (ChannelOrder::R, &[1u8][..]),
            (ChannelOrder::A, &[4]),
            (ChannelOrder::Ra, &[1, 4]),
            (ChannelOrder::Rgba, &[1, 2, 3, 4]),
            (ChannelOrder::Bgra, &[3, 2, 1, 4]),
            (ChannelOrder::Argb, &[4, 1, 2, 3]),
            (ChannelOrder::Abgr, &[4, 3, 2, 1]),
        ] {
            assert_eq!(encoded(ImageFormat::new(order, ChannelType::UnsignedInt8), color), bytes, "{order}");
        }
    }

    #[test]
    fn numbers_are_rounded_to_even_and_kept_in_range() {
        let one = |channel_type, value| {
            encoded(ImageFormat::new(ChannelOrder::R, channel_type), FillColor::Float([value; 4]))
        };
        assert_eq!(one(ChannelType::UnormInt8, 0.5), [128]);
        assert_eq!(one(ChannelType::UnormInt8, f32::NAN), [0]);
        assert_eq!(one(ChannelType::UnormInt8, 7.0), [255]);
        assert_eq!(one(ChannelType::SnormInt8, -2.0), [0x80]);
        assert_eq!(one(ChannelType::SnormInt16, -1.0), (-32767i16).to_ne_bytes());
        let packed = |channel_type| {
            encoded(ImageFormat::new(ChannelOrder::Rgb, channel_type), FillColor::Float([1.0, 0.0, 1.0, 0.0]))
        };
        assert_eq!(packed(ChannelType::UnormShort565), 0xf81fu16.to_ne_bytes());
        assert_eq!(packed(ChannelType::UnormShort555), 0x7c1fu16.to_ne_bytes());
        let signed = encoded(
            ImageFormat::new(ChannelOrder::Rg, ChannelType::SignedInt16),
            FillColor::Signed([-40000, 7, 0, 0]),
        );
        assert_eq!(signed, [(-32768i16).to_ne_bytes(), 7i16.to_ne_bytes()].concat());
    }

    #[test]
    fn colors_of_srgb_are_converted_and_alpha_is_not() {
        let fill = |order| {
            encoded(ImageFormat::new(order, ChannelType::UnormInt8), FillColor::Float([0.5, 0.002, 7.0, 0.5]))
        };
        assert_eq!(fill(ChannelOrder::SRgba), [188, 7, 255, 128]);
        assert_eq!(fill(ChannelOrder::SBgra), [255, 7, 188, 128]);
        assert_eq!(fill(ChannelOrder::SRgb), [188, 7, 255]);
        let none = encoded(
            ImageFormat::new(ChannelOrder::SRgba, ChannelType::UnormInt8),
            FillColor::Float([f32::NAN, -1.0, 1.0, 0.0]),
        );
        assert_eq!(none, [0, 0, 255, 0]);
    }

    #[test]
    fn halves_are_the_nearest() {
        for (value, bits) in [
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (65504.0, 0x7bff),
            (65519.9, 0x7bff),
            (65520.0, 0x7c00),
            (f32::INFINITY, 0x7c00),
            (5.960_464_5e-8, 0x0001),
            (2.980_232_2e-8, 0x0000),
            (2.980_232_6e-8, 0x0001),
            (6.097_555e-5, 0x03ff),
            (1.000_488_3, 0x3c00),
            (1.001_464_8, 0x3c02),
        ] {
            assert_eq!(half(value), bits, "{value}");
        }
        assert_eq!(half(f32::NAN) & 0x7e00, 0x7e00);
    }
}
