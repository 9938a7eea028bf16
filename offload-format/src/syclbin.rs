//! SYCLBIN: the file from which a SYCL program loads kernels.
//!
//! Follows the design document of the container
//! (<https://github.com/intel/llvm/blob/sycl/sycl/doc/design/SYCLBINDesign.md>) in the form that released runtimes
//! read: version 1 of the inner format in version 1 of LLVM's [OffloadBinary](crate::offload_binary).
//!
//! ```
//! use offload_format::syclbin::{ImageKindNumber, Module, State, write};
//!
//! let module = Module { kernels: vec!["__sycl_kernel_saxpy".into()], aspects: vec![], spirv: b"...." };
//! let file = write(State::Executable, &[module], ImageKindNumber::default())?;
//! assert!(file.starts_with(&offload_format::offload_binary::MAGIC));
//! # Ok::<(), offload_format::Error>(())
//! ```

mod property;

pub use self::property::{PropertySets, PropertyValue};
use crate::{Error, ErrorKind, OffloadKind, bytes, offload_binary};

/// First bytes of the inner format.
pub const MAGIC: u32 = 0x5359_4249;
/// The prefix under which a SYCL runtime looks for a kernel that is asked for by its plain name.
pub const KERNEL_PREFIX: &str = "__sycl_kernel_";
const VERSION: u32 = 1;
const HEADER_SIZE: u64 = 56;
const RECORD_SIZE: u64 = 32;

/// What a SYCL program may do with the file (`sycl::bundle_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// To be compiled and linked.
    Input,
    /// To be linked.
    Object,
    /// To be launched.
    Executable,
}

/// LLVM's number for a SYCLBIN in its envelope, which changed between releases of the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageKindNumber(pub u16);

impl ImageKindNumber {
    /// Read by oneAPI 2025.3 only.
    pub const ONEAPI_2025_3: ImageKindNumber = ImageKindNumber(6);
}

impl Default for ImageKindNumber {
    /// Read by oneAPI 2026.0 and later.
    fn default() -> ImageKindNumber {
        ImageKindNumber(7)
    }
}

/// A module with its kernels as SPIR-V.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module<'a> {
    /// Names of entry points, as they are in the SPIR-V.
    pub kernels: Vec<String>,
    /// Numbers of the aspects that a device must have; a runtime leaves the module out for others.
    pub aspects: Vec<u32>,
    /// The SPIR-V.
    pub spirv: &'a [u8],
}

/// Writes a file with `modules`.
///
/// # Errors
/// [`ErrorKind::Invalid`] if a table passes 4 GiB.
pub fn write(state: State, modules: &[Module<'_>], kind: ImageKindNumber) -> Result<Vec<u8>, Error> {
    let mut tables = Tables::default();
    let global = PropertySets::default().set("SYCLBIN/global metadata").property("state", state.number());
    let global = tables.metadata(&global);
    for module in modules {
        let at = tables.metadata(&module_properties(module));
        let index = count(tables.modules.len() / 32)?;
        // One SPIR-V each, no native image.
        tables.modules.extend([at.0.to_le_bytes(), at.1.to_le_bytes()].concat());
        tables.modules.extend([1u32, index, 0, 0].map(u32::to_le_bytes).concat());
        let ir = PropertySets::default()
            .set("SYCLBIN/ir module metadata")
            .property("type", PropertyValue::Number(0))
            .property("target", PropertyValue::Bytes(b"spir64-unknown-unknown".to_vec()));
        let at = tables.metadata(&ir);
        let blob = (tables.binary.len() as u64, module.spirv.len() as u64);
        tables.ir.extend([at.0, at.1, blob.0, blob.1].map(u64::to_le_bytes).concat());
        tables.binary.extend_from_slice(module.spirv);
    }
    let inner = tables.finish(count(modules.len())?, global)?;
    offload_binary::write(&inner, kind.0, OffloadKind::Sycl)
}

fn module_properties(module: &Module<'_>) -> PropertySets {
    let mut sets = PropertySets::default().set("SYCL/kernel names");
    for kernel in &module.kernels {
        sets = sets.property(kernel, PropertyValue::Number(1));
    }
    let aspects = module.aspects.iter().flat_map(|aspect| aspect.to_le_bytes()).collect();
    sets.set("SYCL/device requirements").property("aspects", PropertyValue::Bytes(aspects))
}

impl State {
    fn number(self) -> PropertyValue {
        PropertyValue::Number(match self {
            State::Input => 0,
            State::Object => 1,
            State::Executable => 2,
        })
    }
}

#[derive(Default)]
struct Tables {
    modules: Vec<u8>,
    ir: Vec<u8>,
    metadata: Vec<u8>,
    binary: Vec<u8>,
}

impl Tables {
    /// Appends a text and says where it is.
    fn metadata(&mut self, sets: &PropertySets) -> (u64, u64) {
        let text = sets.to_string();
        let at = self.metadata.len() as u64;
        self.metadata.extend_from_slice(text.as_bytes());
        (at, text.len() as u64)
    }

    fn finish(self, modules: u32, global: (u64, u64)) -> Result<Vec<u8>, Error> {
        let counts = [MAGIC, VERSION, modules, modules, 0, 0].map(u32::to_le_bytes).concat();
        let sizes = [self.metadata.len() as u64, self.binary.len() as u64, global.0, global.1];
        let mut out =
            [counts, sizes.map(u64::to_le_bytes).concat(), self.modules, self.ir, self.metadata].concat();
        let size = bytes::align_up(out.len() as u64, 8).and_then(|size| usize::try_from(size).ok());
        out.resize(size.ok_or_else(|| Error::invalid("size of the metadata", out.len() as u64))?, 0);
        out.extend(self.binary);
        Ok(out)
    }
}

fn count(value: usize) -> Result<u32, Error> {
    u32::try_from(value).map_err(|_| Error::invalid("number of modules", value as u64))
}

/// A module as read back from a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReadModule<'a> {
    /// Its property sets.
    pub metadata: PropertySets,
    /// Its SPIR-V modules.
    pub ir: Vec<&'a [u8]>,
}

/// Reads the modules of a SYCLBIN of version 0 or 1 with SPIR-V; native images are passed over.
///
/// # Errors
/// [`ErrorKind::Magic`], [`ErrorKind::Version`], [`ErrorKind::Truncated`], [`ErrorKind::Text`] or
/// [`ErrorKind::Invalid`].
pub fn read(file: &[u8]) -> Result<Vec<ReadModule<'_>>, Error> {
    const WHAT: &str = "SYCLBIN header";
    let inner = offload_binary::read(file)?.image;
    if bytes::u32_at(inner, 0, WHAT)? != MAGIC {
        return Err(ErrorKind::Magic { what: "a SYCLBIN" }.into());
    }
    let version = bytes::u32_at(inner, 4, WHAT)?;
    if version > VERSION {
        return Err(ErrorKind::Version { what: "the SYCLBIN", found: version.into() }.into());
    }
    let number = |offset| bytes::u32_at(inner, offset, WHAT).map(u64::from);
    let (modules, ir, native) = (number(8)?, number(12)?, number(16)?);
    let headers = modules.saturating_add(ir).saturating_add(native).saturating_mul(RECORD_SIZE);
    let metadata_at = HEADER_SIZE.saturating_add(headers);
    let metadata = bytes::range(inner, metadata_at, bytes::u64_at(inner, 24, WHAT)?, "metadata")?;
    let binary_at = bytes::align_up(metadata_at.saturating_add(metadata.len() as u64), 8).unwrap_or(u64::MAX);
    let binary = bytes::range(inner, binary_at, bytes::u64_at(inner, 32, WHAT)?, "binary table")?;
    let records = bytes::range(inner, HEADER_SIZE, headers, "headers")?;
    let reader = Reader { records, modules, ir, metadata, binary };
    (0..modules).map(|index| reader.module(index)).collect()
}

struct Reader<'a> {
    records: &'a [u8],
    modules: u64,
    ir: u64,
    metadata: &'a [u8],
    binary: &'a [u8],
}

impl<'a> Reader<'a> {
    fn module(&self, index: u64) -> Result<ReadModule<'a>, Error> {
        let record = self.record(index)?;
        let at = (bytes::u64_at(record, 0, "module")?, bytes::u64_at(record, 8, "module")?);
        let metadata = bytes::text_at(self.metadata, at.0, at.1, "metadata of a module")?;
        let (count, first) = (bytes::u32_at(record, 16, "module")?, bytes::u32_at(record, 20, "module")?);
        let (count, first) = (u64::from(count), u64::from(first));
        if first.saturating_add(count) > self.ir {
            return Err(Error::invalid("SPIR-V modules of a module", count));
        }
        let ir =
            (first..first.saturating_add(count)).map(|index| self.blob(index)).collect::<Result<_, _>>()?;
        Ok(ReadModule { metadata: metadata.parse()?, ir })
    }

    fn blob(&self, index: u64) -> Result<&'a [u8], Error> {
        let record = self.record(self.modules.saturating_add(index))?;
        let at = (bytes::u64_at(record, 16, "SPIR-V module")?, bytes::u64_at(record, 24, "SPIR-V module")?);
        bytes::range(self.binary, at.0, at.1, "SPIR-V module")
    }

    fn record(&self, index: u64) -> Result<&'a [u8], Error> {
        bytes::range(self.records, index.saturating_mul(RECORD_SIZE), RECORD_SIZE, "header")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        let module =
            Module { kernels: vec!["__sycl_kernel_k".into()], aspects: vec![6], spirv: b"\x03\x02\x23\x07" };
        write(State::Executable, &[module], ImageKindNumber::default()).unwrap()
    }

    #[test]
    fn the_layout_is_the_runtime_s() {
        let file = sample();
        assert_eq!(file.len() % 8, 0);
        assert_eq!(u64::from_le_bytes(file[8..16].try_into().unwrap()), file.len() as u64);
        assert_eq!(file[32..36], [7, 0, 8, 0]);
        // The image follows an empty string table.
        assert_eq!(file[56], 0x50);
        assert_eq!(&file[0x50..0x58], b"IBYS\x01\0\0\0");
        assert_eq!(&file[0xc8..0xc8 + 0x24], b"[SYCLBIN/global metadata]\nstate=1|2\n");
        // The global metadata, then the module's.
        assert_eq!((file[0x78], file[0x80], file[0x88]), (0, 0x24, 0x24));
    }

    #[test]
    fn what_is_written_is_read() {
        let file = sample();
        let modules = read(&file).unwrap();
        assert_eq!(modules.len(), 1);
        assert_eq!(modules[0].ir, [b"\x03\x02\x23\x07"]);
        let names = modules[0].metadata.get("SYCL/kernel names", "__sycl_kernel_k");
        assert_eq!(names, Some(&PropertyValue::Number(1)));
        let aspects = modules[0].metadata.get("SYCL/device requirements", "aspects");
        assert_eq!(aspects, Some(&PropertyValue::Bytes(vec![6, 0, 0, 0])));
    }

    #[test]
    fn damage_is_an_error_or_harmless() {
        let file = sample();
        for at in 0..file.len() {
            let _ = read(&file[..at]);
            for value in [0, 0x7f, 0xff] {
                let mut bad = file.clone();
                bad[at] = value;
                let _ = read(&bad);
            }
        }
        assert!(read(&file[..file.len() - 8]).is_err());
    }
}
