//! The parts of ELF files that device images use; whatever a header describes lies inside the file.

use std::collections::BTreeMap;

use object::LittleEndian as LE;
use object::elf::{ELFMAG, FileHeader64, ProgramHeader64, STB_WEAK, SectionHeader64, SectionType, Sym64};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader, SectionTable, Sym, SymbolTable};

use offload_format::{Error, ErrorKind};

/// What a reader knows of its format.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Its name in errors, with its article.
    pub name: &'static str,
    /// The types of sections that take no room in the file, beside the one that every ELF file has.
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
    /// Where the first section of a name stands among them.
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

/// A section with its bytes, which are empty for one that takes no room in the file.
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
        let table = header.sections(LE, image).map_err(cut("the section table of the ELF file", shoff))?;
        let phoff = header.e_phoff(LE);
        let segments =
            header.program_headers(LE, image).map_err(cut("the program headers of the ELF file", phoff))?;
        let segments = segments.iter().map(|header| segment(image, header)).collect::<Result<Vec<_>, _>>()?;
        let sections: Vec<Section<'a>> =
            table.iter().map(|header| format.section(image, &table, header)).collect::<Result<_, _>>()?;
        let mut by_name = BTreeMap::new();
        for (index, section) in sections.iter().enumerate() {
            by_name.entry(section.name).or_insert(index);
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

    /// The table of symbols of this type; a file without one has none.
    ///
    /// # Errors
    /// `Truncated` or `Text` where the table or a name cannot be read.
    pub fn symbols(&self, kind: SectionType) -> Result<Symbols<'a>, Error> {
        const WHAT: &str = "the symbol table of the ELF file";
        let shoff = self.header.e_shoff(LE);
        let table = self.table.symbols(LE, self.image, kind).map_err(cut(WHAT, shoff))?;
        // The names are looked at once, so that later look-ups cannot fail.
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
        let (offset, size) = (header.sh_offset(LE), header.sh_size(LE));
        let name = table.section_name(LE, header).map_err(cut("a section name of the ELF file", offset))?;
        let malformed = ErrorKind::Text { what: "a section name of the ELF file", offset };
        let name = std::str::from_utf8(name).map_err(|_| malformed)?;
        let cut = |_| Error::truncated("a section of the ELF file", offset, size);
        let nobits = self.nobits.contains(&header.sh_type(LE));
        let data = if nobits { &[][..] } else { header.data(LE, image).map_err(cut)? };
        Ok(Section { name, header, data })
    }
}

/// A table of symbols whose names are all readable.
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

    /// The names of the symbols that another file has to define; weak ones may stay undefined.
    pub fn undefined(&self) -> impl Iterator<Item = &'a str> + '_ {
        let needed =
            |symbol: &Symbol<'_>| symbol.entry.is_undefined(LE) && symbol.entry.st_bind() != STB_WEAK;
        self.named().filter(needed).map(|symbol| symbol.name)
    }

    /// The name of the symbol at `index`.
    pub fn name_at(&self, index: u32) -> Option<&'a str> {
        let index = object::SymbolIndex(usize::try_from(index).ok()?);
        name(&self.table, self.table.symbol(index).ok()?).ok()
    }
}

fn segment<'a>(image: &'a [u8], header: &'a ProgramHeader64<LE>) -> Result<Segment<'a>, Error> {
    let (offset, size) = (header.p_offset(LE), header.p_filesz(LE));
    let cut = |()| Error::truncated("a segment of the ELF file", offset, size);
    Ok(Segment { header, data: header.data(LE, image).map_err(cut)? })
}

fn name<'a>(table: &SymbolTable<'a, FileHeader64<LE>>, symbol: &Sym64<LE>) -> Result<&'a str, Error> {
    const WHAT: &str = "a symbol name of the ELF file";
    let offset = u64::from(symbol.st_name(LE));
    let name = table.symbol_name(LE, symbol).map_err(cut(WHAT, offset))?;
    std::str::from_utf8(name).map_err(|_| ErrorKind::Text { what: WHAT, offset }.into())
}

fn cut(what: &'static str, offset: u64) -> impl FnOnce(object::read::Error) -> Error {
    move |_| Error::truncated(what, offset, 1)
}
