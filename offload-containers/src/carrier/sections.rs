//! The sections of a program, library or object.

use object::read::{Object, ObjectSection};
use object::{BinaryFormat, File, Section};

use super::found::Place;
use super::kind::FileKind;
use super::roles::{Role, role};
use super::search::{At, Part, Search};
use super::view::View;
use super::wrapper::AddressRange;
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
            let Some((name, part)) = named_part(file, &section) else { continue };
            match role(name) {
                Some(Role::Packs) => self.packs(part, name, at)?,
                Some(Role::Container) => self.container(part, name, at)?,
                Some(Role::Wrapped) if !self.led_into(part, before, at) => {
                    self.container(part, name, at)?;
                }
                _ => {}
            }
        }
        self.sycl(&view, at)?;
        self.unled(file, &object, before, at)
    }

    /// Images of clang's bundler, and OffloadBinaries in sections of any name, to which nothing found since index
    /// `before` leads.
    fn unled(&mut self, file: &'a [u8], object: &File<'a>, before: usize, at: At<'a>) -> Result<(), Error> {
        for section in object.sections() {
            let Some((name, part)) = named_part(file, &section) else { continue };
            // The range is the section's claim; of a section that starts otherwise only the first bytes are read.
            let binaries = || part.bytes().is_ok_and(envelopes::is_measured);
            if name == KPACK_REFERENCE && !self.led_into(part, before, at) {
                self.add(part, Place::KpackReference { index: 0 }, at)?;
                continue;
            }
            let wanted = match role(name) {
                Some(role) => role == Role::Bundled,
                None => binaries(),
            };
            if wanted && !self.led_into(part, before, at) {
                self.container(part, name, at)?;
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
    fn led_into(&self, part: Part<'a>, before: usize, at: At<'a>) -> bool {
        let start = at.offset.saturating_add(part.offset);
        let inside = start..start.saturating_add(part.size);
        self.found.iter().skip(before).any(|found| inside.contains(&found.offset))
    }

    /// Follows the wrappers of all sections.
    fn wrapped_sections(&mut self, object: &File<'a>, view: &View<'a>, at: At<'a>) -> Result<(), Error> {
        for section in object.sections() {
            if section.name_bytes().is_ok_and(|name| role(name) == Some(Role::Wrappers)) {
                let (offset, size) = section.file_range().unwrap_or_default();
                let address = if relocatable::is_object(object) { offset } else { section.address() };
                self.wrappers(view, AddressRange { address, size }, at)?;
            }
        }
        Ok(())
    }

    fn container(&mut self, part: Part<'a>, name: &'a [u8], at: At<'a>) -> Result<(), Error> {
        if part.size == 0 {
            return Ok(());
        }
        match envelopes::is_envelope(part.bytes()?) {
            true => self.envelopes(part, Place::Section(name), at),
            false => self.add(part, Place::Section(name), at),
        }
    }

    /// Packs are aligned; one that cannot be read hides no other.
    fn packs(&mut self, part: Part<'a>, name: &'a [u8], at: At<'a>) -> Result<(), Error> {
        let (section, size) = (part.bytes()?, part.size);
        self.budget.spend(size)?;
        let mut within = 0u64;
        while within < size {
            let rest = bytes::range(section, within, size.saturating_sub(within), "the pack")?;
            let pack = FileKind::detect(rest) == Some(FileKind::Pack);
            let found = pack.then(|| measure::size(FileKind::Pack, rest)).flatten();
            if let Some(pack) = found {
                self.add(part.inner(within, pack), Place::Section(name), at)?;
            }
            within = within.saturating_add(found.unwrap_or(8)).checked_next_multiple_of(8).unwrap_or(size);
        }
        Ok(())
    }
}

/// To which wrappers lead; where they are not understood, it is taken for that of the first one.
const KPACK_REFERENCE: &[u8] = b".rocm_kpack_ref";

/// The name of a section, and where its bytes lie in `file`.
fn named_part<'a>(file: &'a [u8], section: &Section<'a, '_>) -> Option<(&'a [u8], Part<'a>)> {
    let (offset, size) = section.file_range()?;
    Some((section.name_bytes().ok()?, Part { file, offset, size }))
}
