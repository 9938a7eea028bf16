//! ELF headers, sections, segments and symbols of device images, with all ranges inside the file.

use std::collections::BTreeMap;

use object::LittleEndian as LE;
use object::elf::{ELFMAG, FileHeader64, ProgramHeader64, STB_WEAK, SectionHeader64, SectionType, Sym64};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader, SectionTable, Sym, SymbolTable};

use offload_format::{Error, ErrorKind};

/// A format in ELF files, as its reader declares it.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Its name in errors, with its article.
    pub name: &'static str,
    /// Section types without bytes in the file, besides `SHT_NOBITS`.
    pub nobits: &'static [SectionType],
}

/// A parsed file over borrowed bytes.
#[derive(Debug)]
#[non_exhaustive]
pub struct Elf<'a> {
    image: &'a [u8],
    /// The header of the file.
    pub header: &'a FileHeader64<LE>,
    table: SectionTable<'a, FileHeader64<LE>>,
    /// The sections, in the order of their table.
    pub sections: Vec<Section<'a>>,
    /// The index of the first section of each name.
    by_name: BTreeMap<&'a str, usize>,
    /// The segments, in the order of their table.
    pub segments: Vec<Segment<'a>>,
}

/// A segment with its bytes.
#[derive(Debug)]
#[non_exhaustive]
pub struct Segment<'a> {
    /// Its program header.
    pub header: &'a ProgramHeader64<LE>,
    /// Its bytes in the file.
    pub data: &'a [u8],
}

/// A section with its bytes, which are empty for `SHT_NOBITS`.
#[derive(Debug)]
#[non_exhaustive]
pub struct Section<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its header.
    pub header: &'a SectionHeader64<LE>,
    /// Its bytes in the file.
    pub data: &'a [u8],
}

/// A symbol that has a name.
#[derive(Debug)]
#[non_exhaustive]
pub struct Symbol<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its entry in the table.
    pub entry: &'a Sym64<LE>,
}

impl<'a> Elf<'a> {
    /// Reads the headers of a 64-bit little-endian file.
    ///
    /// # Errors
    /// `Magic` for a file of another format, `Truncated` where a header reaches outside of the file, `Text` for a name
    /// that is no UTF-8.
    pub fn parse(image: &'a [u8], format: &Format) -> Result<Elf<'a>, Error> {
        let header = FileHeader64::<LE>::parse(image).map_err(|_| format.no_header(image))?;
        header.endian().map_err(|_| format.mismatch())?;
        let shoff = header.e_shoff(LE);
        let table =
            header.sections(LE, image).map_err(truncated("the section table of the ELF file", shoff))?;
        let phoff = header.e_phoff(LE);
        let program_headers = header
            .program_headers(LE, image)
            .map_err(truncated("the program headers of the ELF file", phoff))?;
        let mut segments = Vec::with_capacity(program_headers.len());
        for header in program_headers {
            segments.push(segment(image, header)?);
        }
        let mut sections = Vec::with_capacity(table.len());
        let mut by_name = BTreeMap::new();
        for (index, header) in table.iter().enumerate() {
            let section = format.section(image, &table, header)?;
            by_name.entry(section.name).or_insert(index);
            sections.push(section);
        }
        Ok(Elf { image, header, table, sections, by_name, segments })
    }

    /// The size of the file in bytes.
    pub fn size(&self) -> u64 {
        self.image.len() as u64
    }

    /// The section with this name.
    pub fn section(&self, name: &str) -> Option<&Section<'a>> {
        self.sections.get(*self.by_name.get(name)?)
    }

    /// The symbol table of this section type, empty if the file has none.
    ///
    /// # Errors
    /// `Truncated` or `Text` where the table or a name cannot be read.
    pub fn symbols(&self, kind: SectionType) -> Result<Symbols<'a>, Error> {
        const WHAT: &str = "the symbol table of the ELF file";
        let shoff = self.header.e_shoff(LE);
        let table = self.table.symbols(LE, self.image, kind).map_err(truncated(WHAT, shoff))?;
        // Every name is checked here, so that lookups cannot fail.
        for symbol in table.iter() {
            name(&table, symbol)?;
        }
        Ok(Symbols { table })
    }
}

impl Format {
    /// The error for a file of another format.
    pub fn mismatch(&self) -> Error {
        ErrorKind::Magic { what: self.name }.into()
    }

    fn no_header(&self, image: &[u8]) -> Error {
        if image.starts_with(&ELFMAG) && image.len() < size_of::<FileHeader64<LE>>() {
            return Error::truncated("the ELF header", 0, 64);
        }
        self.mismatch()
    }

    fn section<'a>(
        &self,
        image: &'a [u8],
        table: &SectionTable<'a, FileHeader64<LE>>,
        header: &'a SectionHeader64<LE>,
    ) -> Result<Section<'a>, Error> {
        const NAME: &str = "a section name of the ELF file";
        let offset = header.sh_offset(LE);
        let name = table.section_name(LE, header).map_err(truncated(NAME, offset))?;
        let name = std::str::from_utf8(name).map_err(|_| ErrorKind::Text { what: NAME, offset })?;
        if self.nobits.contains(&header.sh_type(LE)) {
            return Ok(Section { name, header, data: &[] });
        }
        let data = header
            .data(LE, image)
            .map_err(|_| Error::truncated("a section of the ELF file", offset, header.sh_size(LE)))?;
        Ok(Section { name, header, data })
    }
}

/// A symbol table with checked names.
#[derive(Debug)]
pub struct Symbols<'a> {
    table: SymbolTable<'a, FileHeader64<LE>>,
}

impl<'a> Symbols<'a> {
    /// The named symbols, in the order of the file.
    pub fn named(&self) -> impl Iterator<Item = Symbol<'a>> + '_ {
        let symbols = self.table.iter().filter_map(|entry| {
            let name = name(&self.table, entry).ok()?;
            Some(Symbol { name, entry })
        });
        symbols.filter(|symbol| !symbol.name.is_empty())
    }

    /// The names of the undefined symbols, without the weak ones.
    pub fn undefined(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.named()
            .filter(|symbol| symbol.entry.is_undefined(LE) && symbol.entry.st_bind() != STB_WEAK)
            .map(|symbol| symbol.name)
    }

    /// The name of the symbol at `index`.
    pub fn name_at(&self, index: u32) -> Option<&'a str> {
        let index = object::SymbolIndex(usize::try_from(index).ok()?);
        name(&self.table, self.table.symbol(index).ok()?).ok()
    }
}

fn segment<'a>(image: &'a [u8], header: &'a ProgramHeader64<LE>) -> Result<Segment<'a>, Error> {
    let data = header.data(LE, image).map_err(|()| {
        Error::truncated("a segment of the ELF file", header.p_offset(LE), header.p_filesz(LE))
    })?;
    Ok(Segment { header, data })
}

fn name<'a>(table: &SymbolTable<'a, FileHeader64<LE>>, symbol: &Sym64<LE>) -> Result<&'a str, Error> {
    const WHAT: &str = "a symbol name of the ELF file";
    let offset = u64::from(symbol.st_name(LE));
    let name = table.symbol_name(LE, symbol).map_err(truncated(WHAT, offset))?;
    std::str::from_utf8(name).map_err(|_| ErrorKind::Text { what: WHAT, offset }.into())
}

fn truncated(what: &'static str, offset: u64) -> impl FnOnce(object::read::Error) -> Error {
    move |_| Error::truncated(what, offset, 1)
}
