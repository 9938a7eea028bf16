//! Image types: how many dimensions an image has, and whether it is an array or lies in a buffer.

use std::fmt;

/// The type of an image, as kernels declare it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ImageType {
    /// `image1d_t`.
    D1,
    /// `image1d_array_t`.
    D1Array,
    /// `image1d_buffer_t`.
    D1Buffer,
    /// `image2d_t`.
    D2,
    /// `image2d_array_t`.
    D2Array,
    /// `image3d_t`.
    D3,
}

impl ImageType {
    const ALL: [ImageType; 6] = [
        ImageType::D1,
        ImageType::D1Array,
        ImageType::D1Buffer,
        ImageType::D2,
        ImageType::D2Array,
        ImageType::D3,
    ];

    /// That of OpenCL C's name.
    pub(crate) fn from_name(name: &str) -> Option<ImageType> {
        ImageType::ALL.into_iter().find(|one| one.name() == name)
    }

    /// The number of dimensions beside layers.
    #[cfg(any(feature = "cuda", feature = "hip"))]
    pub(crate) fn dimensions(self) -> usize {
        match self {
            ImageType::D1 | ImageType::D1Array | ImageType::D1Buffer => 1,
            ImageType::D2 | ImageType::D2Array => 2,
            ImageType::D3 => 3,
        }
    }

    /// OpenCL C's name.
    pub fn name(self) -> &'static str {
        match self {
            ImageType::D1 => "image1d_t",
            ImageType::D1Array => "image1d_array_t",
            ImageType::D1Buffer => "image1d_buffer_t",
            ImageType::D2 => "image2d_t",
            ImageType::D2Array => "image2d_array_t",
            ImageType::D3 => "image3d_t",
        }
    }
}

impl fmt::Display for ImageType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The dimensions of an [`Image`](crate::Image): one of [`D1`], [`D1Array`], [`D1Buffer`], [`D2`], [`D2Array`] and [`D3`].
pub trait ImageDimension: sealed::Sealed {
    /// Sizes and positions in elements: width, height, depth, as far as there are. The last one of an array counts
    /// its layers.
    type Extent: Copy + fmt::Debug + AsRef<[usize]>;

    /// The type of such images.
    const TYPE: ImageType;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! dimensions {
    ($($(#[doc = $text:literal])* $name:ident, $count:literal;)*) => {$(
        $(#[doc = $text])*
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl sealed::Sealed for $name {}

        impl ImageDimension for $name {
            type Extent = [usize; $count];
            const TYPE: ImageType = ImageType::$name;
        }
    )*};
}

dimensions! {
    /// One dimension: `image1d_t`.
    D1, 1;
    /// Layers of one dimension: `image1d_array_t`.
    D1Array, 2;
    /// One dimension in the memory of a buffer: `image1d_buffer_t`.
    D1Buffer, 1;
    /// Two dimensions: `image2d_t`.
    D2, 2;
    /// Layers of two dimensions: `image2d_array_t`.
    D2Array, 3;
    /// Three dimensions: `image3d_t`.
    D3, 3;
}

/// The type and the size of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ImageShape {
    pub(crate) image_type: ImageType,
    /// In elements, 1 where there is no such dimension. The layers of an array are in the second or third dimension.
    pub(crate) extent: [usize; 3],
}

/// A box of elements, as OpenCL's origin and region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ImageRegion {
    pub(crate) origin: [usize; 3],
    pub(crate) extent: [usize; 3],
}

impl ImageShape {
    pub(crate) fn new<D: ImageDimension>(extent: D::Extent) -> ImageShape {
        ImageShape { image_type: D::TYPE, extent: padded(extent.as_ref(), 1) }
    }

    /// The whole image.
    pub(crate) fn whole(&self) -> ImageRegion {
        ImageRegion { origin: [0; 3], extent: self.extent }
    }
}

impl ImageRegion {
    /// The region at `origin` of `extent`, if it lies within `shape`.
    pub(crate) fn within<D: ImageDimension>(
        shape: &ImageShape,
        origin: D::Extent,
        extent: D::Extent,
    ) -> Option<ImageRegion> {
        let region = ImageRegion { origin: padded(origin.as_ref(), 0), extent: padded(extent.as_ref(), 1) };
        let sizes = region.origin.iter().zip(&region.extent).zip(&shape.extent);
        for ((start, size), whole) in sizes {
            if start.checked_add(*size)? > *whole {
                return None;
            }
        }
        Some(region)
    }

    /// The number of elements; `None` above 2 to the 64.
    pub(crate) fn elements(&self) -> Option<usize> {
        let [width, height, depth] = self.extent;
        width.checked_mul(height)?.checked_mul(depth)
    }
}

/// Three numbers, the last of them `rest`.
fn padded(numbers: &[usize], rest: usize) -> [usize; 3] {
    let mut all = [rest; 3];
    for (to, from) in all.iter_mut().zip(numbers) {
        *to = *from;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_lie_within_their_image() {
        let shape = ImageShape::new::<D2Array>([4, 3, 2]);
        for (origin, extent, is_within) in [
            ([0, 0, 0], [4, 3, 2], true),
            ([3, 2, 1], [1, 1, 1], true),
            ([3, 2, 1], [1, 2, 1], false),
            ([4, 3, 2], [0, 0, 0], true),
            ([usize::MAX, 0, 0], [1, 1, 1], false),
        ] {
            let region = ImageRegion::within::<D2Array>(&shape, origin, extent);
            assert_eq!(region.is_some(), is_within, "{origin:?} {extent:?}");
        }
        let row = ImageShape::new::<D1>([5]);
        let region = ImageRegion::within::<D1>(&row, [1], [4]).unwrap();
        assert_eq!(region, ImageRegion { origin: [1, 0, 0], extent: [4, 1, 1] });
        assert_eq!(region.elements(), Some(4));
    }
}
