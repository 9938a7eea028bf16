//! One device image: what its pack says about it, and its bytes on demand.

mod decoded;
mod reader;
mod threads;

use std::fmt;
use std::sync::{Arc, OnceLock};

use offload_format::codec::{self, Codec};
use offload_format::pack::{KernelInfo, KernelNeeds};
use offload_format::{Aspects, Hash128, ImageKind, Import, SpecConstant, Target, UnknownTarget, Variant};

use self::decoded::Decoded;
pub(crate) use self::reader::{EntryReader, NewEntry};
use crate::error::{Case, Error};
use crate::pack_info::PackInfo;
use crate::refusal::{Refusal, RefusedImage};
#[cfg(feature = "opencl")]
use crate::specialization::Setting;
use crate::specialization::Specialization;
use crate::text::escape;

/// A device image of a pack. Clones are cheap and share the decompressed bytes.
#[derive(Clone)]
pub struct Entry {
    shared: Arc<Shared>,
}

struct Shared {
    pack: Arc<PackInfo>,
    index: u32,
    record: Record,
    loaded: Decoded,
    #[cfg(test)]
    decodes: std::sync::atomic::AtomicUsize,
}

struct Record {
    module: Arc<str>,
    variant: String,
    part: String,
    target: String,
    /// Target and variant, if this release knows them: every choice asks for them.
    parsed_target: Option<Target>,
    parsed_variant: Option<Variant>,
    aspects: Aspects,
    image_kind: ImageKind,
    format_version: Option<u32>,
    codec: Codec,
    stored_size: u64,
    raw_size: u64,
    hash: Hash128,
    refusal: Option<offload_format::Error>,
    /// Read on demand: selection needs only `limits`.
    kernels: OnceLock<Vec<KernelInfo>>,
    limits: Arc<KernelLimits>,
    imports: Vec<Import>,
    exports: Vec<String>,
    spec: Vec<SpecConstant>,
}

/// The requirements of an image's kernels.
#[derive(Debug, Default)]
pub(crate) struct KernelLimits {
    /// Work-items of the smallest work-group that a kernel requires; 0 if one requires none.
    pub(crate) least_work_items: u64,
    /// The sizes of sub-groups that kernels require or are compiled for, each once.
    pub(crate) sub_groups: Vec<u32>,
}

impl KernelLimits {
    fn from_needs(kernels: &[KernelNeeds<'_>]) -> KernelLimits {
        let least = kernels.iter().map(work_items).min();
        let mut sub_groups = Vec::new();
        for kernel in kernels {
            sub_groups.extend(kernel.sub_group_size.filter(|size| !sub_groups.contains(size)));
        }
        KernelLimits { least_work_items: least.unwrap_or(0), sub_groups }
    }
}

/// Work-items of the work-group that the kernel requires; 0 if it requires none.
pub(crate) fn work_items(kernel: &KernelNeeds<'_>) -> u64 {
    let Some(sizes) = kernel.required_work_group else { return 0 };
    sizes.iter().map(|size| u64::from(*size)).fold(1, u64::saturating_mul)
}

impl Entry {
    /// The kernel module, as named in build.rs.
    pub fn module(&self) -> &str {
        &self.shared.record.module
    }

    /// The values of the module's variant, empty if it has none.
    pub fn variant(&self) -> &str {
        &self.shared.record.variant
    }

    /// The part of a split module; empty if the image has all kernels of the module.
    pub fn part(&self) -> &str {
        &self.shared.record.part
    }

    /// The target that the image is compiled for.
    ///
    /// # Errors
    /// [`UnknownTarget`] for a target of a later release.
    pub fn target(&self) -> Result<Target, UnknownTarget> {
        self.target_text().parse()
    }

    /// The text of the target, as the pack has it.
    pub fn target_text(&self) -> &str {
        &self.shared.record.target
    }

    /// The target, if this release knows it.
    pub(crate) fn parsed_target(&self) -> Option<&Target> {
        self.shared.record.parsed_target.as_ref()
    }

    /// The variant, which may be empty, if this release understands it.
    pub(crate) fn parsed_variant(&self) -> Option<&Variant> {
        self.shared.record.parsed_variant.as_ref()
    }

    /// Whether the image is of the same pack as `other`.
    pub(crate) fn shares_pack(&self, other: &Entry) -> bool {
        Arc::ptr_eq(&self.shared.pack, &other.shared.pack)
    }

    /// The package whose build made the image.
    pub fn package(&self) -> &str {
        self.shared.pack.package()
    }

    /// The version of that package.
    pub fn package_version(&self) -> &str {
        self.shared.pack.meta("version")
    }

    /// The device libraries that are linked with the image when it is opened.
    pub fn imports(&self) -> &[Import] {
        &self.shared.record.imports
    }

    /// The functions that the image has for others: it is a device library if there are some, and has no kernels.
    pub fn exports(&self) -> &[String] {
        &self.shared.record.exports
    }

    /// The specialisation constants of the image.
    pub fn spec(&self) -> &[SpecConstant] {
        &self.shared.record.spec
    }

    /// The format of the image.
    pub fn image_kind(&self) -> ImageKind {
        self.shared.record.image_kind
    }

    /// Version of the image's own format, if the pack has one: the word of a SPIR-V header, `0x00070800` for PTX 7.8, the ABI version
    /// of a cubin's ELF header.
    pub fn format_version(&self) -> Option<u32> {
        self.shared.record.format_version
    }

    /// The aspects that the device must support.
    pub fn aspects(&self) -> Aspects {
        self.shared.record.aspects
    }

    /// The compression of the image, by itself or with others in a block.
    pub fn codec(&self) -> Codec {
        self.shared.record.codec
    }

    /// Size in the pack, in bytes; its share if it lies with others in a block.
    pub fn stored_size(&self) -> u64 {
        self.shared.record.stored_size
    }

    /// Size after decompression, in bytes.
    pub fn raw_size(&self) -> u64 {
        self.shared.record.raw_size
    }

    /// Hash of the decompressed bytes.
    pub fn hash(&self) -> Hash128 {
        self.shared.record.hash
    }

    /// The kernels of the image; none if the pack does not know them.
    pub fn kernels(&self) -> &[KernelInfo] {
        self.shared.record.kernels.get_or_init(|| {
            // The names are readable, or this entry would not exist.
            self.read_kernels()
                .unwrap_or_else(|_| self.kernel_needs().map(|kernel| KernelInfo::new(kernel.name)).collect())
        })
    }

    /// The requirements of the kernels, as the pack has them.
    fn kernel_needs(&self) -> impl Iterator<Item = KernelNeeds<'_>> {
        let pack = self.shared.pack.pack();
        let image = pack.and_then(|pack| Ok((pack, pack.image(self.shared.index)?)));
        let kernels = image.ok().map(|(pack, image)| pack.kernel_needs(&image).filter_map(Result::ok));
        kernels.into_iter().flatten()
    }

    /// The requirements of all kernels together.
    pub(crate) fn limits(&self) -> &KernelLimits {
        &self.shared.record.limits
    }

    /// Decompresses the image and compares it with its hash.
    ///
    /// Threads that call it at the same time wait for the first one, and all calls share the bytes while a
    /// [`LoadedImage`] holds them. When the last one is dropped, the bytes are freed, and the next call decompresses again.
    /// An error is kept.
    ///
    /// # Errors
    /// The bytes are damaged, or compressed in a way of a later release.
    pub fn load(&self) -> Result<LoadedImage, Error> {
        let bytes = self.shared.loaded.get(|| self.decode())?;
        Ok(LoadedImage::new(self, bytes))
    }

    /// Whether the decompressed bytes are in use.
    #[cfg(all(test, feature = "opencl"))]
    pub(crate) fn is_held(&self) -> bool {
        self.shared.loaded.is_held()
    }

    /// `target`, or `target [part]`, safe to show.
    pub(crate) fn place(&self) -> String {
        let target = escape(self.target_text());
        if self.part().is_empty() { target } else { format!("{target} [{}]", escape(self.part())) }
    }

    /// The image as a candidate of a failed selection.
    pub(crate) fn refused(&self, refusal: Refusal) -> RefusedImage {
        RefusedImage::new(self.target_text(), self.part(), refusal)
    }

    /// Why this program cannot decompress the image, if it cannot.
    pub(crate) fn refusal(&self) -> Option<&offload_format::Error> {
        self.shared.record.refusal.as_ref()
    }

    fn read_kernels(&self) -> Result<Vec<KernelInfo>, offload_format::Error> {
        let pack = self.shared.pack.pack()?;
        pack.kernels(&pack.image(self.shared.index)?).collect()
    }

    /// The number of decodes.
    #[cfg(all(test, any(feature = "opencl", all(feature = "host", any(unix, windows)))))]
    pub(crate) fn decodes(&self) -> usize {
        self.shared.decodes.load(std::sync::atomic::Ordering::Relaxed)
    }

    fn decode(&self) -> Result<Vec<u8>, Error> {
        #[cfg(test)]
        self.shared.decodes.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.try_decode().map_err(|cause| Case::Image { image: self.to_string(), cause }.into())
    }

    fn try_decode(&self) -> Result<Vec<u8>, offload_format::Error> {
        let pack = self.shared.pack.pack()?;
        let image = pack.image(self.shared.index)?;
        codec::decode_on(&pack, &image, threads::for_image(image.raw_size))
    }

    /// The number of the image in its pack.
    pub(crate) fn number(&self) -> u32 {
        self.shared.index
    }

    /// Whether this is image number `index` of `pack`.
    pub(crate) fn is(&self, pack: &Arc<PackInfo>, index: u32) -> bool {
        self.shared.index == index && Arc::ptr_eq(&self.shared.pack, pack)
    }
}

impl fmt::Display for Entry {
    /// `module/variant [part] for target`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape(self.module()))?;
        if !self.variant().is_empty() {
            write!(f, "/{}", escape(self.variant()))?;
        }
        if !self.part().is_empty() {
            write!(f, " [{}]", escape(self.part()))?;
        }
        write!(f, " for {}", escape(self.target_text()))
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("module", &self.module())
            .field("variant", &self.variant())
            .field("part", &self.part())
            .field("target", &self.target_text())
            .field("package", &self.package())
            .finish_non_exhaustive()
    }
}

/// The bytes of an [`Entry`], decompressed and verified. Clones share them.
#[derive(Clone)]
pub struct LoadedImage {
    entry: Entry,
    bytes: Arc<Vec<u8>>,
    /// The values of its specialisation constants.
    #[cfg_attr(not(feature = "opencl"), expect(dead_code, reason = "only OpenCL specialises at load"))]
    spec: Arc<Specialization>,
}

impl LoadedImage {
    fn new(entry: &Entry, bytes: Arc<Vec<u8>>) -> LoadedImage {
        LoadedImage { entry: entry.clone(), bytes, spec: Arc::default() }
    }

    /// The same image with values for its specialisation constants, which the driver applies.
    pub(crate) fn with_spec(self, spec: Arc<Specialization>) -> LoadedImage {
        LoadedImage { spec, ..self }
    }

    /// The values of specialisation constants that differ from the defaults.
    #[cfg(feature = "opencl")]
    pub(crate) fn settings(&self) -> Vec<Setting> {
        self.spec.settings(self.entry.spec())
    }

    /// The image, as the compiler wrote it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The entry of the image.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// Checks that no offset of the image exceeds it; backends call it before a driver parses the image.
    #[cfg(any(
        feature = "cuda",
        feature = "hip",
        feature = "opencl",
        all(feature = "host", any(unix, windows))
    ))]
    pub(crate) fn check_structure(&self) -> Result<(), String> {
        let checked = crate::structure::check(self.entry.image_kind(), &self.bytes);
        checked.map_err(|error| format!("the image is not whole: {error}"))
    }
}

impl fmt::Debug for LoadedImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadedImage").field("entry", &self.entry).field("size", &self.bytes.len()).finish()
    }
}
