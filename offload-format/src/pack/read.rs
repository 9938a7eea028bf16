//! Reading a pack in place: address arithmetic, nothing is copied or decompressed.

use super::layout::{
    ALIGN, ARG_RECORD, BLOCK_RECORD, DIRECTORY_ENTRY, HASH_OFFSET, HEADER_SIZE, IMAGE_RECORD, KERNEL_RECORD,
    MAGIC, MAJOR, META_RECORD, NOTICE_RECORD, TABLE_ARGS, TABLE_BLOCKS, TABLE_IMAGES, TABLE_KERNELS,
    TABLE_LENDERS, TABLE_META, TABLE_NOTICES, TABLE_STRINGS,
};
use super::record::{self, Block, Image, KernelInfo, Notice};
use crate::codec::Codec;
use crate::{Error, ErrorKind, Hash128, bytes};

/// A parsed pack over borrowed bytes.
#[derive(Clone, Copy, Debug)]
pub struct Pack<'a> {
    bytes: &'a [u8],
    size: u64,
    payload: u64,
    own_index: u64,
    strings: Table,
    meta: Table,
    images: Table,
    kernels: Table,
    args: Table,
    blocks: Table,
    lenders: Table,
    notices: Table,
}

#[derive(Clone, Copy, Debug, Default)]
struct Table {
    offset: u64,
    record_size: u64,
    count: u64,
}

impl<'a> Pack<'a> {
    /// Reads the header and the table directory. Bytes beyond the pack's recorded size are ignored.
    ///
    /// Only bounds are checked here; [`Pack::verify_index`] finds damage.
    ///
    /// # Errors
    /// [`ErrorKind::Magic`], [`ErrorKind::Version`], [`ErrorKind::Truncated`] or [`ErrorKind::Invalid`].
    pub fn parse(input: &'a [u8]) -> Result<Pack<'a>, Error> {
        let (size, _) = Pack::sizes(input)?;
        Pack::parse_index(bytes::range(input, 0, size, "pack")?)
    }

    /// As [`Pack::parse`], for a reader that has fetched the index alone: images are listed, and
    /// [`Pack::frame`] fails.
    ///
    /// # Errors
    /// As [`Pack::parse`].
    pub fn parse_index(input: &'a [u8]) -> Result<Pack<'a>, Error> {
        let (size, payload) = Pack::sizes(input)?;
        bytes::range(input, 0, payload, "index")?;
        let mut pack = Pack {
            bytes: input,
            size,
            payload,
            own_index: HEADER_SIZE,
            strings: Table::default(),
            meta: Table::default(),
            images: Table::default(),
            kernels: Table::default(),
            args: Table::default(),
            blocks: Table::default(),
            lenders: Table::default(),
            notices: Table::default(),
        };
        pack.read_directory()?;
        Ok(pack)
    }

    /// The size of the whole pack and of its index, from a header.
    ///
    /// # Errors
    /// As [`Pack::parse`].
    pub fn sizes(header: &[u8]) -> Result<(u64, u64), Error> {
        const WHAT: &str = "pack header";
        if bytes::array(header, 0, WHAT)? != MAGIC {
            return Err(ErrorKind::Magic { what: "an offload pack" }.into());
        }
        let major = bytes::u16_at(header, 8, WHAT)?;
        if major != MAJOR {
            return Err(ErrorKind::Version { what: "the pack", found: major.into() }.into());
        }
        let (size, payload) = (bytes::u64_at(header, 16, WHAT)?, bytes::u64_at(header, 40, WHAT)?);
        if payload < HEADER_SIZE || payload > size {
            return Err(Error::invalid("payload offset of the pack", payload));
        }
        Ok((size, payload))
    }

    fn read_directory(&mut self) -> Result<(), Error> {
        const WHAT: &str = "table directory";
        let index = bytes::range(self.bytes, 0, self.payload, "index")?;
        let start = bytes::u64_at(index, 24, WHAT)?;
        let count = u64::from(bytes::u32_at(index, 32, WHAT)?);
        let step = u64::from(bytes::u32_at(index, 36, WHAT)?);
        if step < DIRECTORY_ENTRY {
            return Err(Error::invalid("size of a directory entry", step));
        }
        let size = count.checked_mul(step).ok_or_else(|| Error::invalid("number of tables", count))?;
        let directory = bytes::range(index, start, size, WHAT)?;
        let mut end = start.saturating_add(size);
        for entry in directory.chunks_exact(usize::try_from(step).unwrap_or(usize::MAX)) {
            let kind = bytes::u32_at(entry, 0, WHAT)?;
            let table = Table {
                record_size: bytes::u32_at(entry, 4, WHAT)?.into(),
                offset: bytes::u64_at(entry, 8, WHAT)?,
                count: bytes::u64_at(entry, 16, WHAT)?,
            };
            end = end.max(table.end());
            let (slot, least) = match kind {
                TABLE_STRINGS => (&mut self.strings, 1),
                TABLE_META => (&mut self.meta, META_RECORD),
                TABLE_IMAGES => (&mut self.images, IMAGE_RECORD),
                TABLE_KERNELS => (&mut self.kernels, KERNEL_RECORD),
                TABLE_ARGS => (&mut self.args, ARG_RECORD),
                TABLE_BLOCKS => (&mut self.blocks, BLOCK_RECORD),
                TABLE_LENDERS => (&mut self.lenders, IMAGE_RECORD),
                TABLE_NOTICES => (&mut self.notices, NOTICE_RECORD),
                // A kind of a later release.
                _ => continue,
            };
            table.check(index, least)?;
            *slot = table;
        }
        self.own_index = bytes::align_up(end, ALIGN).unwrap_or(u64::MAX).clamp(HEADER_SIZE, self.payload);
        Ok(())
    }

    /// Compares the index with its recorded hash.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`].
    pub fn verify_index(&self) -> Result<(), Error> {
        let recorded = self.id()?;
        let head = bytes::range(self.bytes, 0, HASH_OFFSET, "pack header")?;
        let rest = bytes::range(self.bytes, HEADER_SIZE, self.payload.saturating_sub(HEADER_SIZE), "index")?;
        if Hash128::of_parts(&[head, rest]) != recorded {
            return Err(ErrorKind::Damaged { what: "the index of the pack" }.into());
        }
        Ok(())
    }

    /// The hash of the index, which identifies the pack: the index holds the hash of every image.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`].
    pub fn id(&self) -> Result<Hash128, Error> {
        bytes::array(self.bytes, HASH_OFFSET, "pack header").map(Hash128)
    }

    /// Size of the whole pack in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Where the payload starts, in bytes from the start of the pack.
    pub fn payload_offset(&self) -> u64 {
        self.payload
    }

    /// Where the next pack starts, from the start of this one: between its index and the payload if they share that, otherwise
    /// behind it.
    pub fn next(&self) -> u64 {
        if self.own_index < self.payload {
            self.own_index
        } else {
            bytes::align_up(self.size, ALIGN).unwrap_or(u64::MAX)
        }
    }

    /// The value of a metadata key; `package` and `version` name the crate that the pack was built for.
    pub fn meta(&self, key: &str) -> Option<&'a str> {
        self.records(self.meta)
            .find(|record| self.text(record, 0).is_ok_and(|found| found == key))
            .and_then(|record| self.text(record, 8).ok())
    }

    /// All values of a metadata key that may stand several times.
    pub fn meta_values(&self, key: &'static str) -> impl Iterator<Item = &'a str> + use<'a> {
        let pack = *self;
        let named = move |record: &&[u8]| pack.text(record, 0).is_ok_and(|found| found == key);
        self.records(self.meta).filter(named).filter_map(move |record| pack.text(record, 8).ok())
    }

    /// All images, sorted by module, variant and target.
    pub fn images(&self) -> impl Iterator<Item = Result<Image<'a>, Error>> + use<'a> {
        let pack = *self;
        self.records(self.images).map(move |record| record::image(&pack, record))
    }

    /// The kernels of `image`.
    pub fn kernels(&self, image: &Image<'_>) -> impl Iterator<Item = Result<KernelInfo, Error>> + use<'a> {
        let pack = *self;
        self.some(self.kernels, image.first_kernel, image.kernel_count).map(move |record| {
            let (mut kernel, [first, count]) = record::kernel(&pack, record?)?;
            let args = pack.some(pack.args, first, count).map(|record| record::arg(&pack, record?));
            kernel.args = args.collect::<Result<_, _>>()?;
            Ok(kernel)
        })
    }

    /// What is missing from the pack, and why.
    pub fn notices(&self) -> impl Iterator<Item = Result<Notice<'a>, Error>> + use<'a> {
        let pack = *self;
        self.records(self.notices).map(move |record| record::notice(&pack, record))
    }

    /// Image number `index`, in the order of [`Pack::images`]; behind these are the images of other packs that images of
    /// this one build on, without module and target.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] if there are not so many; as for every record, [`ErrorKind::Truncated`] or
    /// [`ErrorKind::Text`].
    pub fn image(&self, index: u32) -> Result<Image<'a>, Error> {
        let index = u64::from(index);
        let record = match index.checked_sub(self.images.count) {
            Some(lender) => self.lenders.record(self.bytes, lender)?,
            None => self.images.record(self.bytes, index)?,
        };
        record::image(self, record)
    }

    /// The numbers of the images of `module`: they lie together, and are found by halving, not by reading all.
    ///
    /// # Errors
    /// As [`Pack::image`].
    pub fn module(&self, module: &str) -> Result<std::ops::Range<u32>, Error> {
        let count = u32::try_from(self.images.count).unwrap_or(u32::MAX);
        let first = |before: &dyn Fn(&str) -> bool| {
            let (mut low, mut high) = (0, count);
            while low < high {
                let middle = low.midpoint(high);
                let record = self.images.record(self.bytes, middle.into())?;
                if before(self.text(record, 0)?) { low = middle.saturating_add(1) } else { high = middle }
            }
            Ok::<u32, Error>(low)
        };
        Ok(first(&|other| other < module)?..first(&|other| other <= module)?)
    }

    /// How many images there are.
    pub fn image_count(&self) -> u64 {
        self.images.count
    }

    /// Block number `index`.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] if there are not so many.
    pub fn block(&self, index: u32) -> Result<Block, Error> {
        record::block(self.blocks.record(self.bytes, index.into())?)
    }

    /// How `image` is compressed, and how many bytes of the pack it takes: of a block its share.
    ///
    /// # Errors
    /// As [`Pack::block`].
    pub fn stored(&self, image: &Image<'_>) -> Result<(Codec, u64), Error> {
        let Some(block) = image.block else { return Ok((image.codec, image.stored_size)) };
        let block = self.block(block)?;
        let share = u128::from(block.stored_size) * u128::from(image.raw_size);
        let share = share.checked_div(block.raw_size.into()).unwrap_or(0);
        Ok((block.codec, u64::try_from(share).unwrap_or(u64::MAX)))
    }

    /// All blocks.
    pub fn blocks(&self) -> impl Iterator<Item = Result<Block, Error>> + use<'a> {
        self.records(self.blocks).map(record::block)
    }

    /// `size` stored bytes at `offset` from the payload's start.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`] if they are not all inside the pack.
    pub fn payload(&self, offset: u64, size: u64) -> Result<&'a [u8], Error> {
        let offset =
            self.payload.checked_add(offset).ok_or_else(|| Error::invalid("offset of an image", offset))?;
        bytes::range(self.bytes, offset, size, "image")
    }

    /// The stored bytes of `image`: its own frame, or that of the block it lies in.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`] if the record points outside the payload; [`ErrorKind::Invalid`] for a block that
    /// does not exist.
    pub fn frame(&self, image: &Image<'_>) -> Result<&'a [u8], Error> {
        match image.block {
            Some(block) => {
                let block = self.block(block)?;
                self.payload(block.offset, block.stored_size)
            }
            None => self.payload(image.offset, image.stored_size),
        }
    }

    pub(super) fn text(&self, record: &[u8], field: u64) -> Result<&'a str, Error> {
        let offset = u64::from(bytes::u32_at(record, field, "text reference")?);
        let size = u64::from(bytes::u32_at(record, field.saturating_add(4), "text reference")?);
        if offset.checked_add(size).is_none_or(|end| end > self.strings.count) {
            return Err(Error::truncated("text", offset, size));
        }
        let start =
            self.strings.offset.checked_add(offset).ok_or_else(|| Error::invalid("text offset", offset))?;
        bytes::text_at(self.bytes, start, size, "text")
    }

    fn records(&self, table: Table) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let pack = self.bytes;
        // `Table::check` has made sure that every record is inside the index.
        (0..table.count).filter_map(move |index| table.record(pack, index).ok())
    }

    fn some(
        &self,
        table: Table,
        first: u32,
        count: u32,
    ) -> impl Iterator<Item = Result<&'a [u8], Error>> + use<'a> {
        let pack = self.bytes;
        (u64::from(first)..u64::from(first).saturating_add(count.into())).map_while({
            let mut failed = false;
            move |index| {
                let record = (!failed).then(|| table.record(pack, index))?;
                // One error is enough: a damaged count must not make four billion of them.
                failed = record.is_err();
                Some(record)
            }
        })
    }
}

impl Table {
    /// Where it ends; of a kind that this release does not know, the end may be anywhere.
    fn end(&self) -> u64 {
        self.record_size.saturating_mul(self.count).saturating_add(self.offset)
    }

    fn check(&self, index: &[u8], least: u64) -> Result<(), Error> {
        if self.record_size < least {
            return Err(Error::invalid("record size of a table", self.record_size));
        }
        let size = self.record_size.checked_mul(self.count);
        let size = size.ok_or_else(|| Error::invalid("record count of a table", self.count))?;
        bytes::range(index, self.offset, size, "table").map(drop)
    }

    fn record<'a>(&self, pack: &'a [u8], index: u64) -> Result<&'a [u8], Error> {
        if index >= self.count {
            return Err(Error::invalid("record reference", index));
        }
        let offset = index.checked_mul(self.record_size).and_then(|skip| skip.checked_add(self.offset));
        bytes::range(pack, offset.unwrap_or(u64::MAX), self.record_size, "record")
    }
}
