//! Requests for the images of a kernel module: the variant and the specialisation constants.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::description::DeviceDescription;
use crate::device::Device;
use crate::error::Error;
use crate::index::Index;
use crate::launch::Program;
use crate::select::{self, Selection, VariantQuery};
use crate::specialization::Specialization;

/// A request for the images of a kernel module, made by the function `request` of generated Rust, by
/// [`Module::request`](crate::Module::request) or by [`Registry::request`](crate::Registry::request).
///
/// [`load`](ImageRequest::load) makes the `Kernels` of generated Rust, or a [`Program`], on a device;
/// [`select`](ImageRequest::select) makes the [`Selection`] alone, also for the description of a device.
///
/// ```no_run
/// # fn attention() -> &'static offload_rt::Module { unimplemented!() }
/// let device = offload_rt::Device::host();
/// // build.rs: Build::new().file("attention.cl").variants("HEAD_DIM", [64, 128]).variants("T", ["half"])
/// let program = attention().request().variant("T", "half").variant("HEAD_DIM", 64).load(&device)?;
/// # Ok::<(), offload_rt::Error>(())
/// ```
#[must_use = "a request does nothing before `load` or `select`"]
pub struct ImageRequest<'r, L = Program> {
    index: &'r Arc<Index>,
    module: &'r str,
    variant: Vec<VariantValue>,
    spec: Option<Specialization>,
    loads: PhantomData<fn() -> L>,
}

#[derive(Clone, Debug)]
struct VariantValue {
    name: String,
    value: String,
}

impl<'r> ImageRequest<'r> {
    pub(crate) fn new(index: &'r Arc<Index>, module: &'r str) -> ImageRequest<'r> {
        ImageRequest { index, module, variant: Vec::new(), spec: None, loads: PhantomData }
    }

    /// The same request for the kernels of generated Rust; the macro `typed_kernels!` calls it.
    #[doc(hidden)]
    pub fn typed<L: From<Program>>(self) -> ImageRequest<'r, L> {
        let ImageRequest { index, module, variant, spec, .. } = self;
        ImageRequest { index, module, variant, spec, loads: PhantomData }
    }
}

impl<L> ImageRequest<'_, L> {
    /// Chooses the variants with `value` for the macro `name`. A module with variants needs a value for each of its names,
    /// in any order.
    ///
    /// ```
    /// # use offload_format::codec::{self, Codec};
    /// # use offload_format::pack::{NewImage, PackBuilder};
    /// # use offload_rt::{Device, Registry};
    /// # let frame = codec::encode(b"code", Codec::Raw, 0)?;
    /// # let mut builder = PackBuilder::new("my-crate", "0.1.0");
    /// # for variant in ["HEAD_DIM=64,T=half", "HEAD_DIM=128,T=half"] {
    /// #     let image = NewImage { variant: variant.into(), ..NewImage::new("attention", "host".parse()?) };
    /// #     builder.image(image, frame.info())?;
    /// # }
    /// # let pack = builder.finish()?.with_frames([&frame])?;
    /// # let registry = Registry::from_pack(pack);
    /// let request = registry.request("attention").variant("T", "half").variant("HEAD_DIM", 64);
    /// assert_eq!(request.select(&Device::host())?.entry().variant(), "HEAD_DIM=64,T=half");
    ///
    /// let error = registry.request("attention").select(&Device::host()).unwrap_err();
    /// assert!(error.to_string().contains("HEAD_DIM = 64 or 128, T = half"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn variant(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.variant.push(VariantValue { name: name.to_string(), value: value.to_string() });
        self
    }

    /// Chooses a variant by several values, as those of a [`Variant`](crate::Variant) that
    /// [`Module::variants`](crate::Module::variants) lists.
    pub fn variants<'v>(mut self, values: impl IntoIterator<Item = (&'v str, &'v str)>) -> Self {
        for (name, value) in values {
            self = self.variant(name, value);
        }
        self
    }

    /// Gives specialisation constants the values of `spec`, the struct `Spec` of generated Rust or a
    /// [`Specialization`]: images that have the values, or take them when they are loaded. Where there are variants by
    /// the name of a constant, they are those for its value, unless [`variant`](ImageRequest::variant) chooses one.
    pub fn spec(mut self, spec: impl Into<Specialization>) -> Self {
        self.spec = Some(spec.into());
        self
    }

    /// Selects the best image for `device`, a [`Device`] or the description of one, of each kernel in the module.
    ///
    /// The order: native code for exactly this architecture, native code that is declared compatible, intermediate
    /// code that the driver compiles, source. Of images that fit equally well, that of the target is taken which is
    /// best for the most kernels; then the first. An image without records of its kernels counts as having them all.
    ///
    /// Kernels of a split module may have no image for the device while others have: [`Selection::entry_for`] returns an
    /// error for them.
    ///
    /// # Errors
    /// There is no such module or no such variant, packages share the module's name, a name of the variants has no
    /// value, or no image fits the device and has or takes the values of the constants; the message lists the images or
    /// variants that there are.
    pub fn select(&self, device: &impl AsRef<DeviceDescription>) -> Result<Selection, Error> {
        let mut values = Vec::with_capacity(self.variant.len());
        for VariantValue { name, value } in &self.variant {
            values.push((name.as_str(), value.as_str()));
        }
        let query = VariantQuery { module: self.module, values: &values, spec: self.spec.as_ref() };
        select::select(self.index, query, device.as_ref())
    }
}

impl<L: From<Program>> ImageRequest<'_, L> {
    /// Selects the best images for `device` and loads them: [`ImageRequest::select`], then [`Device::open_selection`].
    ///
    /// # Errors
    /// As [`ImageRequest::select`]; or an image is damaged, or the driver refuses it.
    pub fn load(&self, device: &Device) -> Result<L, Error> {
        Ok(L::from(device.open_selection(&self.select(device)?)?))
    }
}

impl<L> Clone for ImageRequest<'_, L> {
    fn clone(&self) -> Self {
        ImageRequest {
            index: self.index,
            module: self.module,
            variant: self.variant.clone(),
            spec: self.spec.clone(),
            loads: PhantomData,
        }
    }
}

impl<L> fmt::Debug for ImageRequest<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ImageRequest")
            .field("module", &self.module)
            .field("variant", &self.variant)
            .field("spec", &self.spec)
            .finish_non_exhaustive()
    }
}
