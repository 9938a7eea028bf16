//! Images of a device, and regions of them.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::args::Plain;
use super::buffer::Buffer;
use crate::backend::{BackendImage, BackendMemory, ImageLayout, ImageRange};
use crate::device::Device;
use crate::error::Error;
use crate::images::{
    D1, D1Array, D1Buffer, D2, D2Array, D3, ImageDimension, ImageFormat, ImageRegion, ImageShape,
};

/// An image of OpenCL C in the memory of a device, of one type: `D` is [`D1`], [`D1Array`], [`D1Buffer`], [`D2`],
/// [`D2Array`] or [`D3`].
///
/// Kernels read it through samplers, and write it. [`Stream::write_image`](crate::Stream::write_image) and its like copy
/// elements, one row after the other, as the format has them. Every stream of the device may use it, and so may the
/// kernels of all modules. Dropping it is right at any time, as for a [`Buffer`].
///
/// ```
/// use offload_rt::{ChannelOrder, ChannelType, Device, Image2d, ImageFormat};
///
/// let device = Device::host();
/// let stream = device.stream()?;
/// let format = ImageFormat::new(ChannelOrder::Rgba, ChannelType::UnormInt8);
/// let mut image = Image2d::new(&device, format, [640, 480])?;
/// stream.fill_image(&mut image, [0.0, 0.0, 0.0, 1.0])?;
/// stream.write_image(image.slice_mut([10, 20], [2, 1])?, &[[255u8, 0, 0, 255], [0, 255, 0, 255]])?;
/// let row: Vec<[u8; 4]> = stream.download_image(image.slice([9, 20], [3, 1])?)?;
/// assert_eq!(row, [[0, 0, 0, 255], [255, 0, 0, 255], [0, 255, 0, 255]]);
/// # Ok::<(), offload_rt::Error>(())
/// ```
pub struct Image<D: ImageDimension> {
    backend: Arc<dyn BackendImage>,
    extent: D::Extent,
    format: ImageFormat,
}

/// An `image1d_t`.
pub type Image1d = Image<D1>;
/// An `image1d_array_t`.
pub type Image1dArray = Image<D1Array>;
/// An `image1d_buffer_t`.
pub type Image1dBuffer = Image<D1Buffer>;
/// An `image2d_t`.
pub type Image2d = Image<D2>;
/// An `image2d_array_t`.
pub type Image2dArray = Image<D2Array>;
/// An `image3d_t`.
pub type Image3d = Image<D3>;

/// A region of an [`Image`] that is read.
pub struct ImageSlice<'a> {
    part: ImagePart<'a>,
}

/// A region of an [`Image`] that is written.
pub struct ImageSliceMut<'a> {
    part: ImagePart<'a>,
    /// It borrows the image for writing.
    written: PhantomData<&'a mut ()>,
}

#[derive(Clone, Copy)]
pub(super) struct ImagePart<'a> {
    pub(super) range: ImageRange<'a>,
    pub(super) format: ImageFormat,
}

impl<D: ImageDimension> Image<D> {
    /// An image of `device`, whose elements are unspecified until they are written. `extent` is the number of elements
    /// in each dimension, and of layers.
    ///
    /// # Errors
    /// The device has no images, none of this format or of this size, or no memory for it. The message names the
    /// formats that it has.
    pub fn new(device: &Device, format: ImageFormat, extent: D::Extent) -> Result<Image<D>, Error> {
        Image::with_memory(device, format, extent, None)
    }

    /// The formats that `device` has for such images.
    ///
    /// ```
    /// use offload_rt::{ChannelOrder, ChannelType, Device, Image3d, ImageFormat};
    ///
    /// let formats = Image3d::formats(&Device::host())?;
    /// assert!(formats.contains(&ImageFormat::new(ChannelOrder::Rgba, ChannelType::Float)));
    /// # Ok::<(), offload_rt::Error>(())
    /// ```
    ///
    /// # Errors
    /// The device has no images, or the driver does not answer.
    pub fn formats(device: &Device) -> Result<Vec<ImageFormat>, Error> {
        let formats = device.backend().image_formats(D::TYPE);
        formats.map_err(|problem| Error::from_device(&device.to_string(), problem))
    }

    fn with_memory(
        device: &Device,
        format: ImageFormat,
        extent: D::Extent,
        memory: Option<&Arc<dyn BackendMemory>>,
    ) -> Result<Image<D>, Error> {
        let shape = ImageShape::new::<D>(extent);
        let failed = |problem: crate::error::Problem| {
            let what =
                format!("cannot make an `{}` of {format} with {:?} elements", D::TYPE, extent.as_ref());
            Error::from_device(&device.to_string(), problem.during(&what))
        };
        let size = shape.whole().elements().and_then(|count| count.checked_mul(format.element_size()));
        let size = match size {
            Some(0) => return Err(failed("an image has at least one element".to_string().into())),
            Some(size) => size,
            None => return Err(failed("it is more than 2^64 bytes".to_string().into())),
        };
        let layout = ImageLayout { shape, format, size, memory };
        let backend = device.backend().image(&layout).map_err(failed)?;
        Ok(Image { backend, extent, format })
    }

    /// The number of elements in each dimension, and of layers.
    pub fn extent(&self) -> D::Extent {
        self.extent
    }

    /// The format of its elements.
    pub fn format(&self) -> ImageFormat {
        self.format
    }

    /// The region of `extent` elements at `origin`, to be read. Origin and extent of an array have the first layer and the
    /// number of layers last.
    ///
    /// # Errors
    /// The region is not within the image.
    pub fn slice(&self, origin: D::Extent, extent: D::Extent) -> Result<ImageSlice<'_>, Error> {
        Ok(ImageSlice { part: self.part(origin, extent)? })
    }

    /// The region of `extent` elements at `origin`, to be written.
    ///
    /// # Errors
    /// As [`Image::slice`].
    pub fn slice_mut(&mut self, origin: D::Extent, extent: D::Extent) -> Result<ImageSliceMut<'_>, Error> {
        Ok(ImageSliceMut { part: self.part(origin, extent)?, written: PhantomData })
    }

    fn part(&self, origin: D::Extent, extent: D::Extent) -> Result<ImagePart<'_>, Error> {
        let shape = ImageShape::new::<D>(self.extent);
        match ImageRegion::within::<D>(&shape, origin, extent) {
            Some(region) => Ok(self.region(region)),
            None => {
                let problem = format!(
                    "it has {:?} elements: there is no region of {:?} at {:?}",
                    self.extent.as_ref(),
                    extent.as_ref(),
                    origin.as_ref()
                );
                Err(Error::device("image", problem))
            }
        }
    }

    fn whole(&self) -> ImagePart<'_> {
        self.region(ImageShape::new::<D>(self.extent).whole())
    }

    /// The size of a region fits: the image was made.
    fn region(&self, region: ImageRegion) -> ImagePart<'_> {
        let size = region.elements().unwrap_or(0).saturating_mul(self.format.element_size());
        let range = ImageRange { image: &self.backend, region, size };
        ImagePart { range, format: self.format }
    }

    pub(super) fn backend(&self) -> &Arc<dyn BackendImage> {
        &self.backend
    }
}

impl Image<D1Buffer> {
    /// An image in the memory of `buffer`, of as many elements as it has whole ones.
    ///
    /// ```
    /// use offload_rt::{ChannelOrder, ChannelType, Device, Image1dBuffer, ImageFormat};
    ///
    /// let device = Device::host();
    /// let stream = device.stream()?;
    /// let buffer = stream.upload(&[1u8, 2, 3, 4, 5])?;
    /// let format = ImageFormat::new(ChannelOrder::Rg, ChannelType::UnsignedInt8);
    /// let image = Image1dBuffer::from_buffer(&device, format, buffer)?;
    /// assert_eq!(image.extent(), [2]);
    /// assert_eq!(stream.download_image::<[u8; 2]>(&image)?, [[1, 2], [3, 4]]);
    /// # Ok::<(), offload_rt::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Image::new`]; or the buffer is of another device.
    pub fn from_buffer<T: Plain>(
        device: &Device,
        format: ImageFormat,
        buffer: Buffer<T>,
    ) -> Result<Image1dBuffer, Error> {
        let elements = buffer.len().saturating_mul(size_of::<T>()).checked_div(format.element_size());
        Image::with_memory(device, format, [elements.unwrap_or(0)], Some(buffer.shared_memory()))
    }
}

impl<'a> ImageSlice<'a> {
    pub(super) fn part(&self) -> ImagePart<'a> {
        self.part
    }
}

impl<'a> ImageSliceMut<'a> {
    pub(super) fn part(&self) -> ImagePart<'a> {
        self.part
    }
}

impl<'a, D: ImageDimension> From<&'a Image<D>> for ImageSlice<'a> {
    fn from(image: &'a Image<D>) -> ImageSlice<'a> {
        ImageSlice { part: image.whole() }
    }
}

impl<'a, D: ImageDimension> From<&'a mut Image<D>> for ImageSliceMut<'a> {
    fn from(image: &'a mut Image<D>) -> ImageSliceMut<'a> {
        ImageSliceMut { part: image.whole(), written: PhantomData }
    }
}

impl<D: ImageDimension> fmt::Debug for Image<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Image")
            .field("type", &D::TYPE)
            .field("extent", &self.extent)
            .field("format", &self.format)
            .field("backend", &self.backend)
            .finish()
    }
}

impl fmt::Debug for ImageSlice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ImageRegion { origin, extent } = self.part.range.region;
        write!(f, "ImageSlice({origin:?}..+{extent:?})")
    }
}

impl fmt::Debug for ImageSliceMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ImageRegion { origin, extent } = self.part.range.region;
        write!(f, "ImageSliceMut({origin:?}..+{extent:?})")
    }
}
