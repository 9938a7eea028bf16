//! The writer of version 1, in an OffloadBinary of version 1.

use super::file::{AbstractModule, Payload};
use super::property::{PropertySets, PropertyValue};
use super::tables::{RawHeader, RawModule, RawPayload, VERSION};
use super::{BundleState, ImageKindNumber, sets};
use crate::offload_binary::{self, NewEntry, Version};
use offload_format::{Error, ErrorKind, ImageKind, OffloadKind};

/// The triple of every SPIR-V module.
const SPIRV_TRIPLE: &str = "spir64-unknown-unknown";

/// A module to write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewModule<'a> {
    /// The metadata of the module.
    pub metadata: PropertySets<'a>,
    /// Its SPIR-V modules.
    pub ir: Vec<Payload<'a>>,
    /// Its native images.
    pub native: Vec<Payload<'a>>,
}

/// A native image to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NativeImage<'a> {
    /// The target triple: a runtime compares the text before its first `-`.
    pub target: &'a str,
    /// The architecture, for example `intel_gpu_pvc`, `sm_90`, `gfx90a`.
    pub arch: &'a str,
    /// The bytes, not compressed.
    pub image: &'a [u8],
}

/// Requirements on a device. A runtime ignores the module on other devices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requirements {
    /// Numbers of aspects.
    pub aspects: Vec<u32>,
    /// The runtime's name of the architecture.
    pub compile_target: Option<String>,
    /// The required work-group size, up to three numbers.
    pub work_group_size: Option<Vec<u64>>,
    /// The required sub-group size.
    pub sub_group_size: Option<u32>,
}

impl<'a> NewModule<'a> {
    /// Lists kernels, by their names in the images.
    ///
    /// # Errors
    /// [`ErrorKind::Text`] for a name that the format cannot represent.
    pub fn with_kernels<S: AsRef<str>>(
        self,
        names: impl IntoIterator<Item = S>,
    ) -> Result<NewModule<'a>, Error> {
        self.with_names(sets::KERNEL_NAMES, names)
    }

    /// Lists imported symbols.
    ///
    /// # Errors
    /// [`ErrorKind::Text`] for a name that the format cannot represent.
    pub fn with_imported<S: AsRef<str>>(
        self,
        names: impl IntoIterator<Item = S>,
    ) -> Result<NewModule<'a>, Error> {
        self.with_names(sets::IMPORTED, names)
    }

    /// Lists exported symbols.
    ///
    /// # Errors
    /// [`ErrorKind::Text`] for a name that the format cannot represent.
    pub fn with_exported<S: AsRef<str>>(
        self,
        names: impl IntoIterator<Item = S>,
    ) -> Result<NewModule<'a>, Error> {
        self.with_names(sets::EXPORTED, names)
    }

    /// Sets the requirements on a device.
    #[must_use]
    pub fn with_requirements(mut self, needs: &Requirements) -> NewModule<'a> {
        let mut set = self.metadata.set(sets::REQUIREMENTS);
        set = set.known("aspects", &PropertyValue::numbers(&needs.aspects));
        if let Some(target) = &needs.compile_target {
            set = set.known("compile_target", &PropertyValue::text(target));
        }
        if let Some(size) = &needs.work_group_size {
            let bytes = size.iter().flat_map(|size| size.to_le_bytes()).collect();
            set = set.known("reqd_work_group_size_uint64_t", &PropertyValue::Bytes(bytes));
        }
        if let Some(size) = needs.sub_group_size {
            // The design document specifies bytes, for which a runtime ignores the module on every device.
            set = set.known("reqd_sub_group_size", &PropertyValue::Number(size));
        }
        self.metadata = set;
        self
    }

    /// Adds property sets.
    #[must_use]
    pub fn with_metadata(mut self, sets: &PropertySets<'_>) -> NewModule<'a> {
        self.metadata = self.metadata.and(sets);
        self
    }

    /// Adds a SPIR-V module.
    #[must_use]
    pub fn with_spirv(mut self, spirv: &'a [u8]) -> NewModule<'a> {
        let metadata = PropertySets::default()
            .set(sets::IR)
            .known("type", &PropertyValue::Number(0))
            .known("target", &PropertyValue::text(SPIRV_TRIPLE));
        self.ir.push(Payload::new(metadata, spirv));
        self
    }

    /// Adds a native image.
    #[must_use]
    pub fn with_native(mut self, native: NativeImage<'a>) -> NewModule<'a> {
        let metadata = PropertySets::default()
            .set(sets::NATIVE)
            .known("arch", &PropertyValue::text(native.arch))
            .known("target", &PropertyValue::text(native.target));
        self.native.push(Payload::new(metadata, native.image));
        self
    }

    fn with_names<S: AsRef<str>>(
        mut self,
        set: &str,
        names: impl IntoIterator<Item = S>,
    ) -> Result<NewModule<'a>, Error> {
        self.metadata = self.metadata.set(set);
        for name in names {
            self.metadata = self.metadata.property(name.as_ref(), PropertyValue::Number(1))?;
        }
        Ok(self)
    }
}

impl<'a> From<&AbstractModule<'a>> for NewModule<'a> {
    fn from(module: &AbstractModule<'a>) -> NewModule<'a> {
        let AbstractModule { metadata, ir, native } = module.clone();
        NewModule { metadata, ir, native }
    }
}

/// Writes a file with `modules`.
///
/// # Errors
/// [`ErrorKind::TooMany`] if there are more than 2^32 modules or images.
pub fn write(state: BundleState, modules: &[NewModule<'_>], kind: ImageKindNumber) -> Result<Vec<u8>, Error> {
    let inner = inner(state, modules)?;
    let entry = NewEntry { image_kind: kind.0, ..NewEntry::new(ImageKind::None, OffloadKind::Sycl, &inner) };
    offload_binary::write(&[entry], Version::V1)
}

/// The inner format: the metadata of the file, of modules, IR modules and native images; then the IR modules and native
/// images.
fn inner(state: BundleState, modules: &[NewModule<'_>]) -> Result<Vec<u8>, Error> {
    let mut out = Tables::default();
    let state = PropertyValue::Number(state.to_u32());
    let global = PropertySets::default().set(sets::GLOBAL).known("state", &state);
    let (global_offset, global_size) = out.metadata(&global);
    // The indices of the next IR module and native image.
    let mut ir = 0usize;
    let mut native = 0usize;
    for module in modules {
        let (metadata_offset, metadata_size) = out.metadata(&module.metadata);
        let record = RawModule {
            metadata_offset,
            metadata_size,
            ir: to_count(module.ir.len())?,
            first_ir: to_count(ir)?,
            native: to_count(module.native.len())?,
            first_native: to_count(native)?,
        };
        ir = ir.saturating_add(module.ir.len());
        native = native.saturating_add(module.native.len());
        out.records.extend(record.encode());
    }
    for payload in modules.iter().flat_map(|module| &module.ir) {
        out.payload(payload);
    }
    for payload in modules.iter().flat_map(|module| &module.native) {
        out.payload(payload);
    }
    let header = RawHeader {
        version: VERSION,
        modules: to_count(modules.len())?,
        ir: to_count(ir)?,
        native: to_count(native)?,
        metadata_size: out.metadata.len() as u64,
        binary_size: out.binary.len() as u64,
        global_offset,
        global_size,
    };
    Ok(out.finish(&header))
}

#[derive(Default)]
struct Tables {
    records: Vec<u8>,
    metadata: Vec<u8>,
    binary: Vec<u8>,
}

impl Tables {
    /// Appends metadata, and returns its offset and size.
    fn metadata(&mut self, properties: &PropertySets<'_>) -> (u64, u64) {
        // LLVM's readers reject a text without any set.
        let empty = properties.is_empty().then(|| PropertySets::default().set(sets::KERNEL_NAMES));
        let text = empty.as_ref().unwrap_or(properties).to_string();
        let at = self.metadata.len() as u64;
        self.metadata.extend_from_slice(text.as_bytes());
        (at, text.len() as u64)
    }

    /// Appends a payload, aligned because drivers read images in place; readers use only offsets.
    fn payload(&mut self, payload: &Payload<'_>) {
        let (metadata_offset, metadata_size) = self.metadata(&payload.metadata);
        self.binary.resize(self.binary.len().next_multiple_of(16), 0);
        let offset = self.binary.len() as u64;
        let size = payload.bytes.len() as u64;
        self.binary.extend_from_slice(payload.bytes);
        self.records.extend(RawPayload { metadata_offset, metadata_size, offset, size }.encode());
    }

    fn finish(self, header: &RawHeader) -> Vec<u8> {
        let mut out = [header.encode(), self.records, self.metadata].concat();
        out.resize(out.len().next_multiple_of(8), 0);
        out.extend(self.binary);
        out
    }
}

fn to_count(value: usize) -> Result<u32, Error> {
    let too_many = ErrorKind::TooMany { what: "the SYCLBIN", count: value as u64, limit: u32::MAX.into() };
    u32::try_from(value).map_err(|_| too_many.into())
}
