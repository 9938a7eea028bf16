//! Zero-copy reading of packs: address arithmetic over borrowed bytes.

use super::layout::{ALIGN, DIRECTORY, HASH_OFFSET, HEADER_SIZE, MAGIC, MAJOR};
use super::page::{self, PAGE_FIRST, PAGE_LAST, Page, PageRecord, Pages, Part, partition_point};
use super::record::{self, Block, FrameRange, Image, KernelInfo, KernelNeeds, Missing};
use super::tables::{RecordRange, Tables};
use crate::codec::Codec;
use crate::{Error, ErrorKind, Hash128, bytes};

/// A parsed pack over borrowed bytes.
#[derive(Clone, Copy, Debug)]
pub struct Pack<'a> {
    bytes: &'a [u8],
    size: u64,
    payload: u64,
    tables: Tables<'a>,
    decoded: &'a Pages,
}

/// The sizes in a pack's header, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PackSizes {
    /// Of the whole pack.
    pub pack: u64,
    /// Of its index, from the start of the pack.
    pub index: u64,
}

/// The storage of an image: its codec and its share of the pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredImage {
    /// The codec of its frame or block.
    pub codec: Codec,
    /// Its size in the pack in bytes; in a block its share of the block's frame.
    pub size: u64,
}

impl<'a> Pack<'a> {
    /// Parses the header and the table directory. Bytes beyond the pack's recorded size are ignored.
    ///
    /// Only bounds are checked; [`Pack::verify_index`] compares the hash. `pages`, which belongs to this pack alone, caches
    /// the decoded pages of a compressed index.
    ///
    /// ```
    /// # use offload_format::pack::PackBuilder;
    /// use offload_format::pack::{Pack, Pages};
    ///
    /// # let bytes = PackBuilder::new("my-crate", "0.1.0").finish()?.index;
    /// let pages = Pages::default();
    /// let pack = Pack::parse(&bytes, &pages)?;
    /// assert_eq!(pack.images().count(), 0);
    /// # Ok::<(), offload_format::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Magic`], [`ErrorKind::Version`], [`ErrorKind::Truncated`] or [`ErrorKind::Invalid`].
    pub fn parse(input: &'a [u8], pages: &'a Pages) -> Result<Pack<'a>, Error> {
        let size = Pack::sizes(input)?.pack;
        Pack::parse_index(bytes::range(input, 0, size, "the pack")?, pages)
    }

    /// As [`Pack::parse`], for a reader that has fetched the index alone, or the index with its pages up to
    /// [`Pack::head_size`]: images are listed, and [`Pack::frame`] fails.
    ///
    /// # Errors
    /// As [`Pack::parse`].
    pub fn parse_index(input: &'a [u8], pages: &'a Pages) -> Result<Pack<'a>, Error> {
        let PackSizes { pack: size, index: payload } = Pack::sizes(input)?;
        let tables = Tables::read(bytes::range(input, 0, payload, "the index")?, DIRECTORY)?;
        Ok(Pack { bytes: input, size, payload, tables, decoded: pages })
    }

    /// Parses the sizes of a header.
    ///
    /// # Errors
    /// As [`Pack::parse`].
    pub fn sizes(header: &[u8]) -> Result<PackSizes, Error> {
        const WHAT: &str = "the pack header";
        if bytes::array(header, 0, WHAT)? != MAGIC {
            return Err(ErrorKind::Magic { what: "an offload pack" }.into());
        }
        let major = bytes::u16_at(header, 8, WHAT)?;
        if major != MAJOR {
            return Err(ErrorKind::Version { what: "the pack", found: major.into() }.into());
        }
        let size = bytes::u64_at(header, 16, WHAT)?;
        let payload = bytes::u64_at(header, 40, WHAT)?;
        if payload < HEADER_SIZE || payload > size {
            return Err(Error::invalid("the payload offset of the pack", payload));
        }
        Ok(PackSizes { pack: size, index: payload })
    }

    /// Verifies the index against its recorded hash. Pages have hashes of their own, verified when they are decoded.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`].
    pub fn verify_index(&self) -> Result<(), Error> {
        let recorded = self.id()?;
        let head = bytes::range(self.bytes, 0, HASH_OFFSET, "the pack header")?;
        let rest =
            bytes::range(self.bytes, HEADER_SIZE, self.payload.saturating_sub(HEADER_SIZE), "the index")?;
        if Hash128::digest_parts(&[head, rest]) != recorded {
            return Err(ErrorKind::Damaged { what: "the index of the pack" }.into());
        }
        Ok(())
    }

    /// The identity of the pack: the hash of its index, which contains the hash of every image.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`].
    pub fn id(&self) -> Result<Hash128, Error> {
        bytes::array(self.bytes, HASH_OFFSET, "the pack header").map(Hash128)
    }

    /// Size of the whole pack in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Size of the index with its pages, in bytes from the start of the pack: enough to list all images.
    pub fn head_size(&self) -> u64 {
        let pages = (0..self.pages()).filter_map(|number| self.page_record(number.into()).ok());
        let end = pages.map(|page| page.details.end()).max();
        self.payload.saturating_add(end.unwrap_or(0))
    }

    /// Offset of the payload from the start of the pack in bytes.
    pub fn payload_offset(&self) -> u64 {
        self.payload
    }

    /// Offset of the next pack from the start of this one: between its index and the payload if they share a payload,
    /// otherwise at its end.
    pub fn next(&self) -> u64 {
        let index_end = bytes::align_up(self.tables.end, ALIGN).unwrap_or(u64::MAX);
        if index_end < self.payload {
            index_end
        } else {
            bytes::align_up(self.size, ALIGN).unwrap_or(u64::MAX)
        }
    }

    /// The value of a metadata key; `package` and `version` name the crate that the pack was built for.
    pub fn meta(&self, key: &str) -> Option<&'a str> {
        let tables = self.tables;
        for record in tables.records(tables.meta) {
            if tables.text(record, 0).is_ok_and(|name| name == key) {
                return tables.text(record, 8).ok();
            }
        }
        None
    }

    /// All values of a repeatable metadata key.
    pub fn meta_values(&self, key: &'static str) -> impl Iterator<Item = &'a str> + use<'a> {
        let tables = self.tables;
        tables.records(tables.meta).filter_map(move |record| {
            let name = tables.text(record, 0).ok()?;
            if name == key { tables.text(record, 8).ok() } else { None }
        })
    }

    /// All images, sorted by module, variant and target. A damaged page is one error.
    pub fn images(&self) -> impl Iterator<Item = Result<Image<'a>, Error>> + use<'a> {
        let pack = *self;
        let whole_index = (pack.pages() == 0).then_some(None);
        whole_index.into_iter().chain((0..pack.pages()).map(Some)).flat_map(move |number| {
            let (page, error) = ok_or_error(pack.page(number));
            page.into_iter().flat_map(Page::images).chain(error.map(Err))
        })
    }

    /// The kernels of `image`. Of a paged index, the details of its page are decoded.
    pub fn kernels(&self, image: &Image<'_>) -> impl Iterator<Item = Result<KernelInfo, Error>> + use<'a> {
        let (details, error) = ok_or_error(self.kernel_details(image));
        let needs = details.is_some().then(|| self.kernel_needs(image)).into_iter().flatten();
        let kernels = needs.zip(details.into_iter().flatten()).map(|(needs, details)| {
            let (tables, record) = details?;
            let record::KernelRecord { mut kernel, args } = record::kernel(&needs?, &tables, record)?;
            if let Some(range) = args {
                let args = tables.some(tables.args, range).map(|record| record::arg(&tables, record?));
                kernel.args = Some(args.collect::<Result<_, _>>()?);
            }
            Ok(kernel)
        });
        kernels.chain(error.map(Err))
    }

    /// The records of the details of the kernels of `image`, with the tables to which they refer.
    fn kernel_details(
        &self,
        image: &Image<'_>,
    ) -> Result<impl Iterator<Item = Result<(Tables<'a>, &'a [u8]), Error>> + use<'a>, Error> {
        let tables = self.details(image.page)?;
        let range = RecordRange { first: image.first_details, count: image.kernel_count };
        Ok(tables.some(tables.details, range).map(move |record| Ok((tables, record?))))
    }

    /// The names of the kernels of `image` with their launch requirements; nothing is copied.
    pub fn kernel_needs(
        &self,
        image: &Image<'_>,
    ) -> impl Iterator<Item = Result<KernelNeeds<'a>, Error>> + use<'a> {
        let (page, error) = ok_or_error(self.page(image.page));
        let range = RecordRange { first: image.first_kernel, count: image.kernel_count };
        let kernels = page.into_iter().flat_map(move |Page { tables, .. }| {
            tables.some(tables.kernels, range).map(move |record| record::needs(&tables, record?))
        });
        kernels.chain(error.map(Err))
    }

    /// Whether two images have the same kernels, in the same order, with the same launch requirements. Their records are
    /// compared without being decoded; images of different pages count as different.
    pub fn have_same_needs(&self, one: &Image<'_>, other: &Image<'_>) -> bool {
        if (one.page, one.kernel_count) != (other.page, other.kernel_count) {
            return false;
        }
        // Equal lists are stored once.
        if one.first_kernel == other.first_kernel {
            return true;
        }
        let Ok(page) = self.page(one.page) else { return false };
        let Ok(one) = page.kernel_records(one) else { return false };
        let Ok(other) = page.kernel_records(other) else { return false };
        one.eq(other)
    }

    /// The missing images, with reasons.
    pub fn missing(&self) -> impl Iterator<Item = Result<Missing<'a>, Error>> + use<'a> {
        let tables = self.tables;
        tables.records(tables.missing).map(move |record| record::missing(&tables, record))
    }

    /// Image number `index`, in the order of [`Pack::images`]. Higher numbers are parents in other packs, which have no
    /// module and no target.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] if the pack has fewer; as for every record, [`ErrorKind::Truncated`] or
    /// [`ErrorKind::Text`]; [`ErrorKind::Damaged`] for a damaged page.
    pub fn image(&self, index: u32) -> Result<Image<'a>, Error> {
        if let Some(parent) = u64::from(index).checked_sub(self.image_count()) {
            let record = self.tables.record(self.tables.parents, parent)?;
            return page::image(&self.whole(), index, record);
        }
        let after =
            partition_point(self.pages().into(), &|number| Ok(self.page_record(number)?.first <= index))?;
        let number = if self.pages() > 0 { predecessor(after) } else { None };
        let page = self.page(number)?;
        let Some(within) = index.checked_sub(page.first) else {
            return Err(Error::invalid("the record reference", index.into()));
        };
        page.image(within)
    }

    /// The numbers of the images of `module`, found by binary search. Of a paged index, only pages with images of other
    /// modules too are decoded.
    ///
    /// # Errors
    /// As [`Pack::image`].
    pub fn module(&self, module: &str) -> Result<std::ops::Range<u32>, Error> {
        let start = self.partition_point(&|other| other < module)?;
        let end = self.partition_point(&|other| other <= module)?;
        Ok(start..end)
    }

    /// The partition point of all images by module: the number of the first one for whose module `before` is false.
    fn partition_point(&self, before: &dyn Fn(&str) -> bool) -> Result<u32, Error> {
        if self.pages() == 0 {
            return self.page(None)?.partition_point(before);
        }
        let number =
            partition_point(self.pages().into(), &|number| Ok(before(self.page_module(number, PAGE_LAST)?)))?;
        let Ok(page) = self.page_record(number) else {
            return Ok(u32::try_from(self.image_count()).unwrap_or(u32::MAX));
        };
        if before(self.page_module(number, PAGE_FIRST)?) {
            self.page(u32::try_from(number).ok())?.partition_point(before)
        } else {
            Ok(page.first)
        }
    }

    /// The module in `field` of page record `number`.
    fn page_module(&self, number: u64, field: u64) -> Result<&'a str, Error> {
        self.tables.text(self.tables.record(self.tables.pages, number)?, field)
    }

    /// The number of images.
    pub fn image_count(&self) -> u64 {
        let last = self.pages().checked_sub(1).and_then(|last| self.page_record(last.into()).ok());
        match last {
            Some(page) => u64::from(page.first).saturating_add(page.count.into()),
            None => self.tables.images.count,
        }
    }

    /// The size of the content of each page.
    pub(super) fn page_sizes(&self) -> impl Iterator<Item = Result<u64, Error>> {
        (0..self.pages()).map(|number| {
            let page = self.page_record(number.into())?;
            Ok(page.images.raw_size.saturating_add(page.details.raw_size))
        })
    }

    pub(super) fn tables(&self) -> &Tables<'a> {
        &self.tables
    }

    fn pages(&self) -> u32 {
        u32::try_from(self.tables.pages.count).unwrap_or(u32::MAX)
    }

    fn page_record(&self, number: u64) -> Result<PageRecord, Error> {
        PageRecord::read(self.tables.record(self.tables.pages, number)?)
    }

    /// The index itself as a page.
    fn whole(&self) -> Page<'a> {
        Page { tables: self.tables, number: None, first: 0, base: 0 }
    }

    /// A page, or the index itself.
    pub(super) fn page(&self, number: Option<u32>) -> Result<Page<'a>, Error> {
        let Some(number) = number else { return Ok(self.whole()) };
        let record = self.page_record(number.into())?;
        let frame = &record.images;
        let content = self.decoded.page((number, self.pages()), Part::Images, || {
            frame.decode(self.payload(frame.offset, frame.stored_size)?)
        })?;
        record.open(number, content)
    }

    /// The tables with the details of the kernels of a page, or of the index itself.
    pub(super) fn details(&self, number: Option<u32>) -> Result<Tables<'a>, Error> {
        let Some(number) = number else { return Ok(self.tables) };
        let frame = self.page_record(number.into())?.details;
        let content = self.decoded.page((number, self.pages()), Part::Details, || {
            frame.decode(self.payload(frame.offset, frame.stored_size)?)
        })?;
        Tables::read(content, 0)
    }

    /// Block number `index`.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] if there are not so many.
    pub fn block(&self, index: u32) -> Result<Block, Error> {
        record::block(self.tables.record(self.tables.blocks, index.into())?)
    }

    /// The codec of `image` and its share of the pack.
    ///
    /// # Errors
    /// As [`Pack::block`].
    pub fn stored(&self, image: &Image<'_>) -> Result<StoredImage, Error> {
        let Some(block) = image.block else {
            return Ok(StoredImage { codec: image.codec, size: image.stored_size });
        };
        let block = self.block(block)?;
        let share = u128::from(block.stored_size) * u128::from(image.raw_size);
        let share = share.checked_div(block.raw_size.into()).unwrap_or(0);
        Ok(StoredImage { codec: block.codec, size: u64::try_from(share).unwrap_or(u64::MAX) })
    }

    /// All blocks.
    pub fn blocks(&self) -> impl Iterator<Item = Result<Block, Error>> + use<'a> {
        self.tables.records(self.tables.blocks).map(record::block)
    }

    /// `size` stored bytes at `offset` from the payload's start.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`] if they are not all inside the pack.
    pub fn payload(&self, offset: u64, size: u64) -> Result<&'a [u8], Error> {
        let offset = self
            .payload
            .checked_add(offset)
            .ok_or_else(|| Error::invalid("the offset of an image", offset))?;
        bytes::range(self.bytes, offset, size, "the image")
    }

    /// The range of the frame of `image`: its own, or that of its block.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] for a block that does not exist.
    pub fn frame_range(&self, image: &Image<'_>) -> Result<FrameRange, Error> {
        let Some(number) = image.block else {
            return Ok(FrameRange { offset: image.offset, size: image.stored_size });
        };
        let block = self.block(number)?;
        Ok(FrameRange { offset: block.offset, size: block.stored_size })
    }

    /// The stored bytes of `image`; see [`Pack::frame_range`].
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`] if the record points outside the payload; [`ErrorKind::Invalid`] for a block that
    /// does not exist.
    pub fn frame(&self, image: &Image<'_>) -> Result<&'a [u8], Error> {
        let FrameRange { offset, size } = self.frame_range(image)?;
        self.payload(offset, size)
    }
}

/// The number before `number`, if there is one.
fn predecessor(number: u64) -> Option<u32> {
    number.checked_sub(1).and_then(|number| u32::try_from(number).ok())
}

/// Splits a result, for iterators that end with its error.
fn ok_or_error<T>(result: Result<T, Error>) -> (Option<T>, Option<Error>) {
    match result {
        Ok(value) => (Some(value), None),
        Err(error) => (None, Some(error)),
    }
}
