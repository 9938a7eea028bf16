//! What a file says.

use super::property::{PropertySets, PropertyValue};
use super::sets;
use super::state::{ImageKindNumber, State};
use crate::offload_binary::OffloadKindNumber;
use offload_format::{Error, ErrorKind};

/// A file over borrowed bytes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct File<'a> {
    /// What it is wrapped in; no released runtime reads a file without an envelope.
    pub envelope: Option<Envelope>,
    /// The version of the inner format: 0 or 1, or 2 for the draft that has no tables.
    pub version: u32,
    /// About the whole file.
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
    /// The number for SYCLBIN, which tells the releases that read it.
    pub image_kind: ImageKindNumber,
    /// The number of the programming model; no runtime looks at it.
    pub offload_kind: OffloadKindNumber,
}

/// A module with its forms: each device takes one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AbstractModule<'a> {
    /// What holds for every form.
    pub metadata: PropertySets<'a>,
    /// Its SPIR-V modules.
    pub ir: Vec<Payload<'a>>,
    /// Its images for certain devices.
    pub native: Vec<Payload<'a>>,
}

/// An IR module or native image, read or to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Payload<'a> {
    /// About this form.
    pub metadata: PropertySets<'a>,
    /// Its bytes.
    pub bytes: &'a [u8],
}

impl<'a> Payload<'a> {
    /// `bytes` with what is said about them.
    pub fn new(metadata: PropertySets<'a>, bytes: &'a [u8]) -> Payload<'a> {
        Payload { metadata, bytes }
    }
}

impl File<'_> {
    /// The state in which the file may be loaded.
    ///
    /// # Errors
    /// [`Missing`](ErrorKind::Missing) if the file names none; [`Invalid`](ErrorKind::Invalid) for one that does not exist.
    pub fn state(&self) -> Result<State, Error> {
        const WHAT: &str = "the state of the SYCLBIN";
        match self.metadata.get(sets::GLOBAL, "state") {
            Some(PropertyValue::Number(number)) => {
                State::from_u32(number).ok_or_else(|| Error::invalid(WHAT, number.into()))
            }
            _ => Err(ErrorKind::Missing { what: WHAT }.into()),
        }
    }
}

impl AbstractModule<'_> {
    /// The names by which a program may ask for kernels; those with
    /// [`KERNEL_PREFIX`](super::KERNEL_PREFIX) also by what is behind it.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.metadata.names(sets::KERNEL_NAMES)
    }

    /// Symbols that another module must define.
    pub fn imported(&self) -> impl Iterator<Item = &str> {
        self.metadata.names(sets::IMPORTED)
    }

    /// Symbols that it defines for others.
    pub fn exported(&self) -> impl Iterator<Item = &str> {
        self.metadata.names(sets::EXPORTED)
    }

    /// The architecture that a device must be, if one is named.
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

    /// The architecture of a native image; no released runtime looks at it.
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
