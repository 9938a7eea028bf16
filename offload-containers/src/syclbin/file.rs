//! The parsed file.

use super::property::{PropertySets, PropertyValue};
use super::sets;
use super::state::{BundleState, ImageKindNumber};
use crate::offload_binary::OffloadKindNumber;
use offload_format::{Error, ErrorKind};

/// A file over borrowed bytes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct File<'a> {
    /// The OffloadBinary around it; no released runtime reads a file without one.
    pub envelope: Option<Envelope>,
    /// The version of the inner format: 0 or 1, or 2 for the draft that has no tables.
    pub version: u32,
    /// The global metadata.
    pub metadata: PropertySets<'a>,
    /// Its modules.
    pub modules: Vec<AbstractModule<'a>>,
}

/// The OffloadBinary around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Envelope {
    /// The envelope's version.
    pub version: u32,
    /// The image kind, which depends on the release.
    pub image_kind: ImageKindNumber,
    /// The offload kind; no runtime reads it.
    pub offload_kind: OffloadKindNumber,
}

/// A module in several forms, of which each device takes one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AbstractModule<'a> {
    /// The metadata of the module.
    pub metadata: PropertySets<'a>,
    /// Its SPIR-V modules.
    pub ir: Vec<Payload<'a>>,
    /// Its native images.
    pub native: Vec<Payload<'a>>,
}

/// An IR module or a native image.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Payload<'a> {
    /// Its metadata.
    pub metadata: PropertySets<'a>,
    /// Its bytes.
    pub bytes: &'a [u8],
}

impl<'a> Payload<'a> {
    /// A payload of `bytes` with its metadata.
    pub fn new(metadata: PropertySets<'a>, bytes: &'a [u8]) -> Payload<'a> {
        Payload { metadata, bytes }
    }
}

impl File<'_> {
    /// The state of the file.
    ///
    /// # Errors
    /// [`Missing`](ErrorKind::Missing) if the file has none; [`Invalid`](ErrorKind::Invalid) for an unknown number.
    pub fn state(&self) -> Result<BundleState, Error> {
        const WHAT: &str = "the state of the SYCLBIN";
        match self.metadata.get(sets::GLOBAL, "state") {
            Some(PropertyValue::Number(number)) => {
                BundleState::from_u32(number).ok_or_else(|| Error::invalid(WHAT, number.into()))
            }
            _ => Err(ErrorKind::Missing { what: WHAT }.into()),
        }
    }
}

impl AbstractModule<'_> {
    /// The names of the kernels. A program may look up a kernel with [`KERNEL_PREFIX`](super::KERNEL_PREFIX) without the
    /// prefix too.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.metadata.names(sets::KERNEL_NAMES)
    }

    /// The imported symbols.
    pub fn imported(&self) -> impl Iterator<Item = &str> {
        self.metadata.names(sets::IMPORTED)
    }

    /// The exported symbols.
    pub fn exported(&self) -> impl Iterator<Item = &str> {
        self.metadata.names(sets::EXPORTED)
    }

    /// The required architecture of the device, if there is one.
    pub fn compile_target(&self) -> Option<String> {
        text(self.metadata.get(sets::REQUIREMENTS, "compile_target")?)
    }
}

impl Payload<'_> {
    /// The target triple.
    pub fn target(&self) -> Option<String> {
        let native = self.metadata.get(sets::NATIVE, "target");
        text(native.or_else(|| self.metadata.get(sets::IR, "target"))?)
    }

    /// The architecture of a native image; no released runtime reads it.
    pub fn arch(&self) -> Option<String> {
        text(self.metadata.get(sets::NATIVE, "arch")?)
    }
}

fn text(value: PropertyValue) -> Option<String> {
    match value {
        PropertyValue::Bytes(bytes) => String::from_utf8(bytes).ok(),
        _ => None,
    }
}
