//! Channel descriptions: `cudaChannelFormatDesc`
//! (<https://docs.nvidia.com/cuda/cuda-runtime-api/structcudaChannelFormatDesc.html>).

use std::ffi::{c_int, c_uint};

use super::failure::{CudaError, Failure, Outcome};
use crate::images::{ChannelOrder, ChannelType, ImageFormat};

const INVALID_CHANNELS: CudaError = 20;

// `cudaChannelFormatKind`.
const SIGNED: c_uint = 0;
const UNSIGNED: c_uint = 1;
const FLOAT: c_uint = 2;

/// Bits of the channels, and what they are.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct ChannelDescriptor {
    bits: [c_int; 4],
    kind: c_uint,
}

impl ChannelDescriptor {
    /// # Errors
    /// The channels are not one, two or four of one size.
    pub(super) fn format(&self) -> Outcome<ImageFormat> {
        let [bits, ..] = self.bits;
        let order = match self.bits {
            [_, 0, 0, 0] => Some(ChannelOrder::R),
            [_, second, 0, 0] if second == bits => Some(ChannelOrder::Rg),
            [_, second, third, fourth] if [second, third, fourth] == [bits; 3] => Some(ChannelOrder::Rgba),
            _ => None,
        };
        let channel_type = match (self.kind, bits) {
            (SIGNED, 8) => Some(ChannelType::SignedInt8),
            (SIGNED, 16) => Some(ChannelType::SignedInt16),
            (SIGNED, 32) => Some(ChannelType::SignedInt32),
            (UNSIGNED, 8) => Some(ChannelType::UnsignedInt8),
            (UNSIGNED, 16) => Some(ChannelType::UnsignedInt16),
            (UNSIGNED, 32) => Some(ChannelType::UnsignedInt32),
            (FLOAT, 16) => Some(ChannelType::HalfFloat),
            (FLOAT, 32) => Some(ChannelType::Float),
            _ => None,
        };
        match (order, channel_type) {
            (Some(order), Some(channel_type)) => Ok(ImageFormat::new(order, channel_type)),
            _ => Err(Failure::new(INVALID_CHANNELS, format!("there are no such channels: {self:?}"))),
        }
    }
}

/// `format` as `cudaReadModeNormalizedFloat` reads it, which is for integers of 8 and 16 bits.
pub(super) fn normalized(format: ImageFormat) -> ImageFormat {
    let channel_type = match format.channel_type {
        ChannelType::SignedInt8 => ChannelType::SnormInt8,
        ChannelType::SignedInt16 => ChannelType::SnormInt16,
        ChannelType::UnsignedInt8 => ChannelType::UnormInt8,
        ChannelType::UnsignedInt16 => ChannelType::UnormInt16,
        other => other,
    };
    ImageFormat { channel_type, ..format }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_of_one_size() {
        let format = |bits, kind| ChannelDescriptor { bits, kind }.format().ok();
        let halves = ImageFormat::new(ChannelOrder::Rg, ChannelType::HalfFloat);
        assert_eq!(format([16, 16, 0, 0], FLOAT), Some(halves));
        let bytes = ImageFormat::new(ChannelOrder::Rgba, ChannelType::UnsignedInt8);
        assert_eq!(format([8; 4], UNSIGNED), Some(bytes));
        assert_eq!(normalized(bytes).channel_type, ChannelType::UnormInt8);
        assert_eq!(normalized(halves), halves);
        for (bits, kind) in
            [([8, 8, 8, 0], UNSIGNED), ([8, 16, 0, 0], SIGNED), ([64, 0, 0, 0], FLOAT), ([8; 4], 3)]
        {
            assert_eq!(format(bits, kind), None, "{bits:?} {kind}");
        }
    }
}
