//! The search in the sections of a program, library or object.

use object::read::{Object, ObjectSection};
use object::{BinaryFormat, File, Section};

use super::kind::FileKind;
use super::range::RangeOrigin;
use super::roles::{Role, role};
use super::search::{FileRange, Position, Search};
use super::view::View;
use super::wrapper::AddressRange;
use super::{dynamic, envelopes, measure, relocatable};
use offload_format::{Error, bytes};

impl<'a> Search<'a> {
    /// Searches a program, library or object.
    pub(super) fn object(&mut self, file: &'a [u8], at: Position<'a>) -> Result<(), Error> {
        let object = File::parse(file).map_err(|_| Error::truncated("the headers of the program", 0, 64))?;
        let view = self.view(file, &object)?;
        if object.sections().next().is_none() {
            self.scan(file, at)?;
        }
        let before = self.found.len();
        self.wrapped_sections(&object, &view, at)?;
        for section in object.sections() {
            let Some((name, range)) = named_part(file, &section) else { continue };
            match role(name) {
                Some(Role::Packs) => self.packs(range, name, at)?,
                Some(Role::Container) => self.container(range, name, at)?,
                Some(Role::Wrapped) if !self.has_result_in(range, before, at) => {
                    self.container(range, name, at)?;
                }
                _ => {}
            }
        }
        self.sycl(&view, at)?;
        self.unreferenced(file, &object, before, at)
    }

    /// Adds images of clang's bundler, and OffloadBinaries in sections of any name, unless a result since index `before`
    /// lies in them.
    fn unreferenced(
        &mut self,
        file: &'a [u8],
        object: &File<'a>,
        before: usize,
        at: Position<'a>,
    ) -> Result<(), Error> {
        for section in object.sections() {
            let Some((name, range)) = named_part(file, &section) else { continue };
            if name == KPACK_REFERENCE && !self.has_result_in(range, before, at) {
                self.add(range, RangeOrigin::KpackReference { index: 0 }, at)?;
                continue;
            }
            let has_images = match role(name) {
                Some(role) => role == Role::Bundled,
                // Only the first bytes of a section are read, unless they are a magic.
                None => range.bytes().is_ok_and(envelopes::is_measured),
            };
            if has_images && !self.has_result_in(range, before, at) {
                self.container(range, name, at)?;
            }
        }
        Ok(())
    }

    /// The address space of the file, empty if its pointers cannot be followed.
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

    /// Whether a result of this file, which start at index `before`, lies in a section.
    fn has_result_in(&self, range: FileRange<'a>, before: usize, at: Position<'a>) -> bool {
        let start = at.offset.saturating_add(range.offset);
        let inside = start..start.saturating_add(range.size);
        self.found.iter().skip(before).any(|found| inside.contains(&found.offset))
    }

    /// Follows the wrappers of all sections.
    fn wrapped_sections(
        &mut self,
        object: &File<'a>,
        view: &View<'a>,
        at: Position<'a>,
    ) -> Result<(), Error> {
        for section in object.sections() {
            if section.name_bytes().is_ok_and(|name| role(name) == Some(Role::Wrappers)) {
                let (offset, size) = section.file_range().unwrap_or_default();
                let address = if relocatable::is_object(object) { offset } else { section.address() };
                self.wrappers(view, AddressRange { address, size }, at)?;
            }
        }
        Ok(())
    }

    fn container(&mut self, range: FileRange<'a>, name: &'a [u8], at: Position<'a>) -> Result<(), Error> {
        if range.size == 0 {
            return Ok(());
        }
        if envelopes::is_envelope(range.bytes()?) {
            return self.envelopes(range, RangeOrigin::Section(name), at);
        }
        self.add(range, RangeOrigin::Section(name), at)
    }

    /// Adds the packs of a section. A damaged pack must not hide the others, so that every word is tried.
    fn packs(&mut self, range: FileRange<'a>, name: &'a [u8], at: Position<'a>) -> Result<(), Error> {
        let section = range.bytes()?;
        let size = range.size;
        self.budget.spend(size)?;
        let mut within = 0u64;
        while within < size {
            let rest = bytes::range(section, within, size.saturating_sub(within), "the pack")?;
            let mut step = 8;
            if FileKind::detect(rest) == Some(FileKind::Pack)
                && let Some(pack_size) = measure::size(FileKind::Pack, rest)
            {
                self.add(range.inner(within, pack_size), RangeOrigin::Section(name), at)?;
                step = pack_size;
            }
            within = within.saturating_add(step).checked_next_multiple_of(8).unwrap_or(size);
        }
        Ok(())
    }
}

/// The section that kpack wrappers point to. Without a readable wrapper it is attributed to the first one.
const KPACK_REFERENCE: &[u8] = b".rocm_kpack_ref";

/// The name of a section, and its range in `file`.
fn named_part<'a>(file: &'a [u8], section: &Section<'a, '_>) -> Option<(&'a [u8], FileRange<'a>)> {
    let (offset, size) = section.file_range()?;
    Some((section.name_bytes().ok()?, FileRange { file, offset, size }))
}
