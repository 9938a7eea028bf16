//! Making entries of a pack's records.

use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use offload_format::codec;
use offload_format::pack::{Image, KernelNeeds, Pack};
use offload_format::{Import, SpecConstant};

use super::decoded::Decoded;
use super::{Entry, KernelLimits, Record, Shared};
use crate::pack_info::PackInfo;

/// An entry as it is made, with what its kernels require: read from the pack once, for its limits and for its module.
pub(crate) struct NewEntry<'p> {
    pub(crate) entry: Entry,
    pub(crate) kernels: Rc<[KernelNeeds<'p>]>,
}

/// Makes the entries of a pack. Neighbours share what they have in common.
pub(crate) struct EntryReader<'i, 'p> {
    info: &'i Arc<PackInfo>,
    pack: Pack<'p>,
    previous: Option<PreviousImage<'p>>,
}

/// The image that was read last.
struct PreviousImage<'p> {
    image: Image<'p>,
    module: Arc<str>,
    kernels: Rc<[KernelNeeds<'p>]>,
    limits: Arc<KernelLimits>,
}

impl<'i, 'p> EntryReader<'i, 'p> {
    /// For images of `pack`, which is that of `info`.
    pub(crate) fn new(info: &'i Arc<PackInfo>, pack: Pack<'p>) -> EntryReader<'i, 'p> {
        EntryReader { info, pack, previous: None }
    }

    /// Reads the entry of `image`.
    pub(crate) fn read(&mut self, image: Image<'p>) -> Result<NewEntry<'p>, offload_format::Error> {
        let stored = self.pack.stored(&image)?;
        let PreviousImage { image, module, kernels, limits } = self.shared(image)?;
        let record = Record {
            module: module.clone(),
            variant: image.variant.to_string(),
            part: image.part.to_string(),
            aspects: image.aspects,
            target: image.target_text.to_string(),
            parsed_target: image.target_text.parse().ok(),
            parsed_variant: image.variant.parse().ok(),
            image_kind: image.image_kind,
            format_version: image.format_version,
            codec: stored.codec,
            stored_size: stored.size,
            raw_size: image.raw_size,
            hash: image.hash,
            refusal: codec::check(&self.pack, &image).err(),
            kernels: OnceLock::new(),
            limits: limits.clone(),
            imports: Import::list(image.imports),
            exports: match image.exports {
                "" => Vec::new(),
                _ => image.exported().map(str::to_string).collect(),
            },
            spec: SpecConstant::list(image.spec),
        };
        let shared = Shared {
            pack: self.info.clone(),
            index: image.number,
            record,
            loaded: Decoded::default(),
            #[cfg(test)]
            decodes: Default::default(),
        };
        let new = NewEntry { entry: Entry { shared: Arc::new(shared) }, kernels: kernels.clone() };
        self.previous = Some(PreviousImage { image, module, kernels, limits });
        Ok(new)
    }

    /// The parts that `image` can share with the previous image.
    fn shared(&mut self, image: Image<'p>) -> Result<PreviousImage<'p>, offload_format::Error> {
        let previous = self.previous.take();
        let module = previous.as_ref().filter(|previous| *previous.module == *image.module);
        let module = module.map_or_else(|| image.module.into(), |previous| previous.module.clone());
        let previous = previous.filter(|previous| self.pack.have_same_needs(&previous.image, &image));
        if let Some(PreviousImage { kernels, limits, .. }) = previous {
            return Ok(PreviousImage { image, module, kernels, limits });
        }
        let kernels = self.pack.kernel_needs(&image).collect::<Result<Rc<[_]>, _>>()?;
        let limits = Arc::new(KernelLimits::from_needs(&kernels));
        Ok(PreviousImage { image, module, kernels, limits })
    }
}
