//! The settings of samplers
//! (<https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_API.html#_creating_sampler_objects>).

/// What a kernel reads beside an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AddressingMode {
    /// Unspecified elements: the kernel reads none beside the image. `CLK_ADDRESS_NONE`.
    None,
    /// The element at the edge. `CLK_ADDRESS_CLAMP_TO_EDGE`.
    ClampToEdge,
    /// The border color: 0, with alpha 1 if the format has red and no alpha. `CLK_ADDRESS_CLAMP`.
    Clamp,
    /// The image again, with normalised coordinates alone. `CLK_ADDRESS_REPEAT`.
    Repeat,
    /// The image again, every second time mirrored, with normalised coordinates alone. `CLK_ADDRESS_MIRRORED_REPEAT`.
    MirroredRepeat,
}

/// What a kernel reads between elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FilterMode {
    /// The nearest element. `CLK_FILTER_NEAREST`.
    Nearest,
    /// The weighted mean of the elements around, of normalised and floating-point channels alone. `CLK_FILTER_LINEAR`.
    Linear,
}

/// The unit of coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Coordinates {
    /// Elements. `CLK_NORMALIZED_COORDS_FALSE`.
    Elements,
    /// The size of the image, as floating-point numbers alone. `CLK_NORMALIZED_COORDS_TRUE`.
    Normalized,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SamplerSettings {
    pub(crate) addressing: AddressingMode,
    pub(crate) filter: FilterMode,
    pub(crate) coordinates: Coordinates,
}

impl SamplerSettings {
    /// Whether OpenCL has such samplers: `CL_INVALID_VALUE` otherwise.
    pub(crate) fn is_valid(self) -> bool {
        let repeats = matches!(self.addressing, AddressingMode::Repeat | AddressingMode::MirroredRepeat);
        !repeats || self.coordinates == Coordinates::Normalized
    }
}
