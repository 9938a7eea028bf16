//! Places of the source, as images have them (`offload-build/src/ir/checks/sites.rs`).

use std::ffi::{CStr, c_char};

use crate::text::escape;

/// A constant of an image, packed; the name of the file follows it as a C string.
#[repr(C)]
pub(super) struct Site {
    line: u32,
    kind: u32,
    /// The alignment of an access, or the bits of an operation.
    detail: u32,
}

/// What happens at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Read,
    /// Of a structure, or a part of memory.
    Copy,
    Write,
    Atomic,
    /// An atomic operation that reads nothing.
    AtomicWrite,
    /// Of a copy that all work-items of a group ask for together.
    GroupRead,
    GroupWrite,
    Wait,
    Add,
    Sub,
    Mul,
    Unknown,
}

impl Kind {
    pub(super) fn reads(self) -> bool {
        matches!(self, Kind::Read | Kind::Copy | Kind::Atomic | Kind::GroupRead)
    }

    pub(super) fn writes(self) -> bool {
        matches!(self, Kind::Write | Kind::Atomic | Kind::AtomicWrite | Kind::GroupWrite)
    }

    pub(super) fn is_atomic(self) -> bool {
        matches!(self, Kind::Atomic | Kind::AtomicWrite)
    }

    pub(super) fn is_of_group(self) -> bool {
        matches!(self, Kind::GroupRead | Kind::GroupWrite)
    }

    /// Of arithmetic.
    pub(super) fn sign(self) -> char {
        match self {
            Kind::Add => '+',
            Kind::Sub => '-',
            _ => '*',
        }
    }

    pub(super) fn verb(self) -> &'static str {
        match self {
            Kind::Read | Kind::Copy | Kind::GroupRead => "reads",
            _ => "writes",
        }
    }
}

/// What a place says of itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    pub(super) kind: Kind,
    pub(super) detail: u32,
}

/// A line of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) file: String,
    pub(super) line: u32,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

pub(super) fn told(site: *const Site) -> Told {
    // SAFETY: images pass constants of their own, which are there while their kernels run.
    let Site { kind, detail, .. } = unsafe { site.read_unaligned() };
    let kind = match kind {
        0 => Kind::Read,
        1 => Kind::Write,
        2 => Kind::Atomic,
        3 => Kind::GroupRead,
        4 => Kind::GroupWrite,
        5 => Kind::Wait,
        6 => Kind::Add,
        7 => Kind::Sub,
        8 => Kind::Mul,
        9 => Kind::Copy,
        10 => Kind::AtomicWrite,
        _ => Kind::Unknown,
    };
    Told { kind, detail }
}

pub(super) fn place(site: *const Site) -> Place {
    if site.is_null() {
        return Place::default();
    }
    // SAFETY: as above; the constant is packed, and the name follows it with its end.
    let (Site { line, .. }, file) = unsafe {
        let name = site.cast::<u8>().wrapping_add(size_of::<Site>());
        (site.read_unaligned(), text(name.cast()))
    };
    Place { file: file.unwrap_or_default(), line }
}

/// A text of an image; `None` if it has none.
///
/// # Safety
/// `text` is null or a C string.
pub(super) unsafe fn text(text: *const c_char) -> Option<String> {
    // SAFETY: the caller's.
    (!text.is_null()).then(|| escape(&unsafe { CStr::from_ptr(text) }.to_string_lossy()))
}
