//! Texture and surface objects of CUDA C++.

use std::sync::Arc;

use super::image::Image;
use crate::backend::BackendTexture;
use crate::error::{Error, Problem};
use crate::images::{ImageDimension, TextureSettings};

/// An image that a kernel of CUDA C++ reads through `tex2D` and its like, and how: a `cudaTextureObject_t`.
///
/// It keeps the image, which may be written meanwhile: what runs at the same time is up to the caller of a launch. The
/// functions for layers read [`Image1dArray`](crate::Image1dArray) and [`Image2dArray`](crate::Image2dArray), and
/// `tex1Dfetch` [`Image1dBuffer`](crate::Image1dBuffer). Dropping it is right at any time.
///
/// ```
/// use offload_rt::{
///     AddressingMode, ChannelOrder, ChannelType, Coordinates, Device, FilterMode, Image2d, ImageFormat, KernelArg,
///     Texture, TextureSettings,
/// };
///
/// let device = Device::host();
/// let stream = device.stream()?;
/// let mut image = Image2d::new(&device, ImageFormat::new(ChannelOrder::R, ChannelType::Float), [4, 2])?;
/// stream.write_image(&mut image, &[0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])?;
/// let settings =
///     TextureSettings::new(AddressingMode::ClampToEdge, FilterMode::Linear, Coordinates::Normalized);
/// let texture = Texture::new(&image, settings)?;
/// // __global__ void sampled(cudaTextureObject_t from, ...)
/// let argument = KernelArg::texture(&texture);
/// # let _ = argument;
/// # Ok::<(), offload_rt::Error>(())
/// ```
#[derive(Debug)]
pub struct Texture {
    backend: Arc<dyn BackendTexture>,
}

/// An image whose elements a kernel of CUDA C++ reads and writes through `surf2Dread`, `surf2Dwrite` and their like: a
/// `cudaSurfaceObject_t`.
///
/// As a [`Texture`] it keeps the image.
///
/// ```
/// use offload_rt::{ChannelOrder, ChannelType, Device, Image2d, ImageFormat, KernelArg, Surface};
///
/// let device = Device::host();
/// let mut image = Image2d::new(&device, ImageFormat::new(ChannelOrder::Rgba, ChannelType::UnormInt8), [640, 480])?;
/// let mut surface = Surface::new(&mut image)?;
/// // __global__ void painted(cudaSurfaceObject_t to, ...)
/// let argument = KernelArg::surface(&mut surface);
/// # let _ = argument;
/// # Ok::<(), offload_rt::Error>(())
/// ```
#[derive(Debug)]
pub struct Surface {
    backend: Arc<dyn BackendTexture>,
}

impl Texture {
    /// A texture of `image`.
    ///
    /// # Errors
    /// The device has no textures, the format is none of theirs, or has no such settings: integers are not filtered, and
    /// coordinates in elements do not repeat an image.
    pub fn new<D: ImageDimension>(image: &Image<D>, settings: TextureSettings) -> Result<Texture, Error> {
        let made = settings.check(image.format()).and_then(|()| image.backend().clone().texture(&settings));
        Ok(Texture { backend: made.map_err(|problem| failed("texture", problem))? })
    }

    /// The number that kernels take, for a member of a structure that is passed by value. It is invalid once this is
    /// dropped.
    pub fn raw(&self) -> u64 {
        self.backend.give_away();
        self.backend.number()
    }

    pub(super) fn backend(&self) -> &Arc<dyn BackendTexture> {
        &self.backend
    }
}

impl Surface {
    /// A surface of `image`.
    ///
    /// # Errors
    /// The device has no surfaces, or none of such images: those in buffers, and those of a format that textures lack.
    pub fn new<D: ImageDimension>(image: &mut Image<D>) -> Result<Surface, Error> {
        let made = image.backend().clone().surface();
        Ok(Surface { backend: made.map_err(|problem| failed("surface", problem))? })
    }

    /// As [`Texture::raw`].
    pub fn raw(&self) -> u64 {
        self.backend.give_away();
        self.backend.number()
    }

    pub(super) fn backend(&self) -> &Arc<dyn BackendTexture> {
        &self.backend
    }
}

fn failed(what: &str, problem: Problem) -> Error {
    Error::from_device(what, problem)
}
