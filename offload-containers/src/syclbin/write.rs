//! Writing version 1 in an OffloadBinary of version 1.

use super::file::{AbstractModule, Payload};
use super::property::{PropertySets, PropertyValue};
use super::tables::{RawHeader, RawModule, RawPayload, VERSION};
use super::{ImageKindNumber, State, sets};
use crate::offload_binary::{self, NewEntry, Version};
use offload_format::{Error, ErrorKind, ImageKind, OffloadKind};

/// The triple of every SPIR-V module.
const SPIRV_TRIPLE: &str = "spir64-unknown-unknown";

/// A module to write; one of `with_...` for each thing that it has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewModule<'a> {
    /// What holds for every form.
    pub metadata: PropertySets<'a>,
    /// Its forms as SPIR-V.
    pub ir: Vec<Payload<'a>>,
    /// Its forms for certain devices.
    pub native: Vec<Payload<'a>>,
}

/// An image for certain devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Native<'a> {
    /// The target triple: a runtime compares what stands before its first `-`.
    pub target: &'a str,
    /// The architecture, for example `intel_gpu_pvc`, `sm_90`, `gfx90a`.
    pub arch: &'a str,
    /// The bytes, not compressed.
    pub image: &'a [u8],
}

/// What a device must have. A runtime ignores the module on other devices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requirements {
    /// Numbers of aspects.
    pub aspects: Vec<u32>,
    /// The architecture's name in a runtime.
    pub compile_target: Option<String>,
    /// The required work-group size, up to three numbers.
    pub work_group_size: Option<Vec<u64>>,
    /// The required sub-group size.
    pub sub_group_size: Option<u32>,
}

impl<'a> NewModule<'a> {
    /// Lists kernels, as they are called in the images.
    ///
    /// # Errors
    /// [`ErrorKind::Text`] for a name that the format cannot hold.
    pub fn with_kernels<S: AsRef<str>>(
        self,
        names: impl IntoIterator<Item = S>,
    ) -> Result<NewModule<'a>, Error> {
        self.with_names(sets::KERNEL_NAMES, names)
    }

    /// Lists symbols that another module must define.
    ///
    /// # Errors
    /// [`ErrorKind::Text`] for a name that the format cannot hold.
    pub fn with_imported<S: AsRef<str>>(
        self,
        names: impl IntoIterator<Item = S>,
    ) -> Result<NewModule<'a>, Error> {
        self.with_names(sets::IMPORTED, names)
    }

    /// Lists symbols that the module defines for others.
    ///
    /// # Errors
    /// [`ErrorKind::Text`] for a name that the format cannot hold.
    pub fn with_exported<S: AsRef<str>>(
        self,
        names: impl IntoIterator<Item = S>,
    ) -> Result<NewModule<'a>, Error> {
        self.with_names(sets::EXPORTED, names)
    }

    /// Says what a device must have.
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
            // As bytes, which the design document asks for, a runtime leaves the module out for every device.
            set = set.known("reqd_sub_group_size", &PropertyValue::Number(size));
        }
        self.metadata = set;
        self
    }

    /// Adds sets of properties as they are.
    #[must_use]
    pub fn with_metadata(mut self, sets: &PropertySets<'_>) -> NewModule<'a> {
        self.metadata = self.metadata.and(sets);
        self
    }

    /// Adds a form as SPIR-V.
    #[must_use]
    pub fn with_spirv(mut self, spirv: &'a [u8]) -> NewModule<'a> {
        let metadata = PropertySets::default()
            .set(sets::IR)
            .known("type", &PropertyValue::Number(0))
            .known("target", &PropertyValue::text(SPIRV_TRIPLE));
        self.ir.push(Payload::new(metadata, spirv));
        self
    }

    /// Adds a form for certain devices.
    #[must_use]
    pub fn with_native(mut self, native: Native<'a>) -> NewModule<'a> {
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

/// A module that was read, to be written again.
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
pub fn write(state: State, modules: &[NewModule<'_>], kind: ImageKindNumber) -> Result<Vec<u8>, Error> {
    let inner = inner(state, modules)?;
    let entry = NewEntry { image_kind: kind.0, ..NewEntry::new(ImageKind::None, OffloadKind::Sycl, &inner) };
    offload_binary::write(&[entry], Version::V1)
}

/// The global metadata, then that of modules, IR and natives; the IR, then the natives.
fn inner(state: State, modules: &[NewModule<'_>]) -> Result<Vec<u8>, Error> {
    let mut out = Tables::default();
    let state = PropertyValue::Number(state.to_u32());
    let global = PropertySets::default().set(sets::GLOBAL).known("state", &state);
    let (global_offset, global_size) = out.metadata(&global);
    let ir = Counted::of(modules.iter().map(|module| module.ir.len()))?;
    let native = Counted::of(modules.iter().map(|module| module.native.len()))?;
    for (module, ((ir, first_ir), (native, first_native))) in
        modules.iter().zip(ir.parts.iter().zip(&native.parts))
    {
        let (metadata_offset, metadata_size) = out.metadata(&module.metadata);
        let (ir, first_ir, native, first_native) = (*ir, *first_ir, *native, *first_native);
        let record = RawModule { metadata_offset, metadata_size, ir, first_ir, native, first_native };
        out.records.extend(record.encode());
    }
    modules.iter().flat_map(|module| &module.ir).for_each(|payload| out.payload(payload));
    let native_forms = modules.iter().flat_map(|module| &module.native);
    native_forms.for_each(|payload| out.payload(payload));
    let header = RawHeader {
        version: VERSION,
        modules: count(modules.len())?,
        ir: ir.all,
        native: native.all,
        metadata_size: out.metadata.len() as u64,
        binary_size: out.binary.len() as u64,
        global_offset,
        global_size,
    };
    Ok(out.finish(&header))
}

/// How many each module has, and the first one's index.
struct Counted {
    parts: Vec<(u32, u32)>,
    all: u32,
}

impl Counted {
    fn of(counts: impl Iterator<Item = usize>) -> Result<Counted, Error> {
        let mut counted = Counted { parts: Vec::new(), all: 0 };
        for number in counts {
            let (part, first) = (count(number)?, counted.all);
            counted.all = count(number.saturating_add(first as usize))?;
            counted.parts.push((part, first));
        }
        Ok(counted)
    }
}

#[derive(Default)]
struct Tables {
    records: Vec<u8>,
    metadata: Vec<u8>,
    binary: Vec<u8>,
}

impl Tables {
    /// Appends a text and says where it is.
    fn metadata(&mut self, properties: &PropertySets<'_>) -> (u64, u64) {
        // Readers of LLVM refuse a text without any set.
        let empty = properties.is_empty().then(|| PropertySets::default().set(sets::KERNEL_NAMES));
        let text = empty.as_ref().unwrap_or(properties).to_string();
        let at = self.metadata.len() as u64;
        self.metadata.extend_from_slice(text.as_bytes());
        (at, text.len() as u64)
    }

    /// Drivers read images where they lie, so each is aligned; a reader uses offsets only.
    fn payload(&mut self, payload: &Payload<'_>) {
        let (metadata_offset, metadata_size) = self.metadata(&payload.metadata);
        self.binary.resize(self.binary.len().next_multiple_of(16), 0);
        let (offset, size) = (self.binary.len() as u64, payload.bytes.len() as u64);
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

fn count(value: usize) -> Result<u32, Error> {
    let too_many = ErrorKind::TooMany { what: "the SYCLBIN", count: value as u64, limit: u32::MAX.into() };
    u32::try_from(value).map_err(|_| too_many.into())
}
