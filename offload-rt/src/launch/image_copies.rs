//! Copies between images and the program's memory, within the device, and fills.

use super::args::Plain;
use super::buffer::{Slice, SliceMut};
use super::image::{ImagePart, ImageSlice, ImageSliceMut};
use super::pinned::Pinned;
use super::stream::Stream;
use super::transfer::Transfer;
use crate::error::Error;
use crate::images::FillColor;

impl Stream {
    /// Copies `values`, the elements of the region one row after the other, to an image, after the work that the stream
    /// has. Values may be of any type: their bytes are those of the elements.
    ///
    /// # Errors
    /// The sizes differ, the image is of another device, or the driver reports a failure; this holds for all that copy
    /// images.
    pub fn write_image<'i, T: Plain>(
        &self,
        to: impl Into<ImageSliceMut<'i>>,
        values: &[T],
    ) -> Result<(), Error> {
        let to = to.into().part();
        self.check_image(to, size_of_val(values))?;
        match to.range.size {
            0 => Ok(()),
            _ => self.done(self.backend().write_image(to.range, bytemuck::cast_slice(values))),
        }
    }

    /// Waits for the stream's work, and copies the elements of an image to `values`, one row after the other.
    ///
    /// # Errors
    /// As [`Stream::write_image`]; a failure of a kernel before it is reported here, with its name.
    pub fn read_image<'i, T: Plain>(
        &self,
        from: impl Into<ImageSlice<'i>>,
        values: &mut [T],
    ) -> Result<(), Error> {
        let from = from.into().part();
        self.check_image(from, size_of_val(values))?;
        if from.range.size == 0 {
            return self.synchronize();
        }
        self.done(self.backend().read_image(from.range, bytemuck::cast_slice_mut(values)))?;
        self.finished()
    }

    /// Waits for the stream's work, and returns the elements of an image.
    ///
    /// # Errors
    /// As [`Stream::read_image`]; or the elements are no whole number of values.
    pub fn download_image<'i, T: Plain>(&self, from: impl Into<ImageSlice<'i>>) -> Result<Vec<T>, Error> {
        let from = from.into();
        let count = from.part().range.size.checked_div(size_of::<T>()).unwrap_or(0);
        let mut values = vec![T::zeroed(); count];
        self.read_image(from, &mut values)?;
        Ok(values)
    }

    /// Begins to copy pinned memory to an image, as [`Stream::write_async`] to a buffer.
    ///
    /// # Errors
    /// As [`Stream::write_image`]; the memory is then released.
    #[allow(unsafe_code, reason = "the device reads memory of the program")]
    pub fn write_image_async<'i, T: Plain>(
        &self,
        to: impl Into<ImageSliceMut<'i>>,
        values: Pinned<T>,
    ) -> Result<Transfer<T>, Error> {
        let to = to.into().part();
        self.check_image(to, size_of_val(&*values))?;
        let begun = match to.range.size {
            0 => self.backend().record(),
            // SAFETY: the memory has this size; the transfer holds it until the copy is done.
            _ => unsafe { self.backend().write_image_later(to.range, values.as_ptr().cast()) },
        };
        self.transfer(values, begun)
    }

    /// Begins to copy the elements of an image to pinned memory, as [`Stream::read_async`] those of a buffer.
    ///
    /// # Errors
    /// As [`Stream::write_image_async`]. A failure of a kernel before it is reported by [`Transfer::wait`].
    #[allow(unsafe_code, reason = "the device writes memory of the program")]
    pub fn read_image_async<'i, T: Plain>(
        &self,
        from: impl Into<ImageSlice<'i>>,
        mut values: Pinned<T>,
    ) -> Result<Transfer<T>, Error> {
        let from = from.into().part();
        self.check_image(from, size_of_val(&*values))?;
        let begun = match from.range.size {
            0 => self.backend().record(),
            // SAFETY: as above; every bit pattern is a value of `T`.
            _ => unsafe { self.backend().read_image_later(from.range, values.as_mut_ptr().cast()) },
        };
        self.transfer(values, begun)
    }

    /// Copies elements within the device, between images of one format, which may be of different types: a layer of an
    /// array has the extent of an image.
    ///
    /// # Errors
    /// As [`Stream::write_image`]; or the formats or extents differ.
    pub fn copy_image<'a, 'b>(
        &self,
        from: impl Into<ImageSlice<'a>>,
        to: impl Into<ImageSliceMut<'b>>,
    ) -> Result<(), Error> {
        let from = from.into().part();
        let to = to.into().part();
        self.check_image(from, to.range.size)?;
        self.check_image(to, from.range.size)?;
        if from.format != to.format || from.range.region.extent != to.range.region.extent {
            let problem = format!(
                "{:?} elements of {} are copied to {:?} of {}",
                from.range.region.extent, from.format, to.range.region.extent, to.format
            );
            return Err(self.problem(problem.into()));
        }
        match from.range.size {
            0 => Ok(()),
            _ => self.done(self.backend().copy_image(from.range, to.range)),
        }
    }

    /// Copies values of a buffer, the elements of the region one row after the other, to an image, within the device.
    ///
    /// ```
    /// use offload_rt::{ChannelOrder, ChannelType, Device, Image2d, ImageFormat};
    ///
    /// let device = Device::host();
    /// let stream = device.stream()?;
    /// let mut image = Image2d::new(&device, ImageFormat::new(ChannelOrder::R, ChannelType::Float), [4, 2])?;
    /// let mut values = stream.upload(&[1.0f32, 2.0, 3.0, 4.0])?;
    /// stream.fill_image(&mut image, [0.0f32; 4])?;
    /// stream.copy_to_image(&values, image.slice_mut([1, 0], [2, 2])?)?;
    /// stream.copy_from_image(image.slice([0, 1], [4, 1])?, &mut values)?;
    /// assert_eq!(stream.download(&values)?, [0.0, 3.0, 4.0, 0.0]);
    /// # Ok::<(), offload_rt::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Stream::write_image`]; or the buffer is of another device.
    pub fn copy_to_image<'a, 'b, T: Plain>(
        &self,
        from: impl Into<Slice<'a, T>>,
        to: impl Into<ImageSliceMut<'b>>,
    ) -> Result<(), Error> {
        let from = from.into().range();
        let to = to.into().part();
        self.check_image(to, from.size)?;
        self.check(from, to.range.size)?;
        match from.size {
            0 => Ok(()),
            _ => self.done(self.backend().copy_to_image(from, to.range)),
        }
    }

    /// Copies the elements of an image, one row after the other, to a buffer, within the device.
    ///
    /// # Errors
    /// As [`Stream::copy_to_image`].
    pub fn copy_from_image<'a, 'b, T: Plain>(
        &self,
        from: impl Into<ImageSlice<'a>>,
        to: impl Into<SliceMut<'b, T>>,
    ) -> Result<(), Error> {
        let from = from.into().part();
        let to = to.into().range();
        self.check_image(from, to.size)?;
        self.check(to, from.range.size)?;
        match to.size {
            0 => Ok(()),
            _ => self.done(self.backend().copy_from_image(from.range, to)),
        }
    }

    /// Sets every element to `color`: red, green, blue and alpha as a kernel writes them, converted to the format. It is
    /// `[f32; 4]` for normalised and floating-point channels, and `[i32; 4]` or `[u32; 4]` for signed and unsigned ones.
    ///
    /// # Errors
    /// As [`Stream::write_image`]; or the color is of another type than the channels.
    pub fn fill_image<'i>(
        &self,
        to: impl Into<ImageSliceMut<'i>>,
        color: impl Into<FillColor>,
    ) -> Result<(), Error> {
        let to = to.into().part();
        let color = color.into();
        self.check_image(to, to.range.size)?;
        let class = to.format.class();
        if class != color.class() {
            let problem = format!("an image of {} is filled with a color of {}", to.format, color.class());
            return Err(self.problem(problem.into()).with_hint(format!("use {class}")));
        }
        match to.range.size {
            0 => Ok(()),
            _ => self.done(self.backend().fill_image(to.range, color)),
        }
    }

    /// Compares a region with the device and with the size of the other side.
    fn check_image(&self, part: ImagePart<'_>, other: usize) -> Result<(), Error> {
        if part.range.image.context() != self.backend().context() {
            let problem = self.problem("it cannot use an image of another device".to_string().into());
            return Err(problem.with_hint("download the elements, and write them to an image of this device"));
        }
        let size = part.range.size;
        if size != other {
            let problem = format!("{size} bytes of an image are copied to or from {other}");
            return Err(self.problem(problem.into()));
        }
        Ok(())
    }
}
