//! The sections of a program, library or object.

use object::read::{Object, ObjectSection};
use object::{BinaryFormat, File};

use super::found::Place;
use super::kind::FileKind;
use super::roles::{Role, role};
use super::search::{At, Search};
use super::view::View;
use super::{dynamic, envelopes, measure, relocatable};
use offload_format::{Error, bytes};

impl<'a> Search<'a> {
    /// A program, library or object.
    pub(super) fn object(&mut self, file: &'a [u8], at: At<'a>) -> Result<(), Error> {
        let object = File::parse(file).map_err(|_| Error::truncated("the headers of the program", 0, 64))?;
        let view = self.view(file, &object)?;
        if object.sections().next().is_none() {
            self.scan(file, at)?;
        }
        let before = self.found.len();
        self.wrapped_sections(&object, &view, at)?;
        for section in object.sections() {
            let (Ok(name), Some(range)) = (section.name_bytes(), section.file_range()) else { continue };
            match role(name) {
                Some(Role::Packs) => self.packs(file, (range, name), at)?,
                Some(Role::Container) => self.container(file, (range, name), at)?,
                Some(Role::Wrapped) if !self.led_into(range, before, at) => {
                    self.container(file, (range, name), at)?;
                }
                _ => {}
            }
        }
        self.sycl(&view, at)?;
        self.unled(file, (&object, before), at)
    }

    /// Images of clang's bundler, and OffloadBinaries in sections of any name, to which nothing found since index
    /// `before` leads.
    fn unled(
        &mut self,
        file: &'a [u8],
        (object, before): (&File<'a>, usize),
        at: At<'a>,
    ) -> Result<(), Error> {
        for section in object.sections() {
            let (Ok(name), Some(range)) = (section.name_bytes(), section.file_range()) else { continue };
            // The range is the section's claim; of a section that starts otherwise only the first bytes are read.
            let binaries =
                || bytes::range(file, range.0, range.1, "section").is_ok_and(envelopes::is_measured);
            let wanted = match role(name) {
                Some(role) => role == Role::Bundled,
                None => binaries(),
            };
            if wanted && !self.led_into(range, before, at) {
                self.container(file, (range, name), at)?;
            }
        }
        Ok(())
    }

    /// Empty where pointers are not understood.
    fn view(&mut self, file: &'a [u8], object: &File<'a>) -> Result<View<'a>, Error> {
        if !relocatable::has_plain_pointers(object) {
            return Ok(View::default());
        }
        if relocatable::is_object(object) {
            return relocatable::object_view(file, object, &mut self.budget);
        }
        Ok(match object.format() {
            BinaryFormat::Elf => dynamic::view(file).unwrap_or_default(),
            _ => relocatable::program_view(file, object),
        })
    }

    /// Whether a wrapper led into a section; what was found in this file starts at index `before`.
    fn led_into(&self, (offset, size): (u64, u64), before: usize, at: At<'a>) -> bool {
        let start = at.offset.saturating_add(offset);
        let inside = start..start.saturating_add(size);
        self.found.iter().skip(before).any(|found| inside.contains(&found.offset))
    }

    /// Follows the wrappers of all sections.
    fn wrapped_sections(&mut self, object: &File<'a>, view: &View<'a>, at: At<'a>) -> Result<(), Error> {
        for section in object.sections() {
            if section.name_bytes().is_ok_and(|name| role(name) == Some(Role::Wrappers)) {
                let (offset, size) = section.file_range().unwrap_or_default();
                let address = if relocatable::is_object(object) { offset } else { section.address() };
                self.wrappers(view, (address, size), at)?;
            }
        }
        Ok(())
    }

    fn container(
        &mut self,
        file: &'a [u8],
        (range, name): ((u64, u64), &'a [u8]),
        at: At<'a>,
    ) -> Result<(), Error> {
        if range.1 == 0 {
            return Ok(());
        }
        let section = bytes::range(file, range.0, range.1, "device images")?;
        match envelopes::is_envelope(section) {
            true => self.envelopes(file, range, Place::Section(name), at),
            false => self.add(file, range, Place::Section(name), at),
        }
    }

    /// Packs are aligned; one that cannot be read hides no other.
    fn packs(
        &mut self,
        file: &'a [u8],
        ((offset, size), name): ((u64, u64), &'a [u8]),
        at: At<'a>,
    ) -> Result<(), Error> {
        let section = bytes::range(file, offset, size, "section of packs")?;
        self.budget.spend(size)?;
        let mut within = 0u64;
        while within < size {
            let rest = bytes::range(section, within, size.saturating_sub(within), "pack")?;
            let pack = FileKind::detect(rest) == Some(FileKind::Pack);
            let found = pack.then(|| measure::size(FileKind::Pack, rest)).flatten();
            if let Some(pack) = found {
                let place = offset.saturating_add(within);
                self.add(file, (place, pack), Place::Section(name), at)?;
            }
            within = within.saturating_add(found.unwrap_or(8)).checked_next_multiple_of(8).unwrap_or(size);
        }
        Ok(())
    }
}
