//! Source locations in instrumented images (`offload-workgroup/src/checks/sites.rs`).

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

/// The operation at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SiteKind {
    Read,
    /// Of a structure, or a part of memory.
    Copy,
    Write,
    Atomic,
    /// An atomic operation that reads nothing.
    AtomicWrite,
    /// Of a copy by all work-items of a group (`async_work_group_copy`).
    GroupRead,
    GroupWrite,
    Wait,
    Add,
    Sub,
    Mul,
    Unknown,
}

impl SiteKind {
    pub(super) fn reads(self) -> bool {
        matches!(self, SiteKind::Read | SiteKind::Copy | SiteKind::Atomic | SiteKind::GroupRead)
    }

    pub(super) fn writes(self) -> bool {
        matches!(self, SiteKind::Write | SiteKind::Atomic | SiteKind::AtomicWrite | SiteKind::GroupWrite)
    }

    pub(super) fn is_atomic(self) -> bool {
        matches!(self, SiteKind::Atomic | SiteKind::AtomicWrite)
    }

    pub(super) fn is_of_group(self) -> bool {
        matches!(self, SiteKind::GroupRead | SiteKind::GroupWrite)
    }

    /// Of arithmetic.
    pub(super) fn sign(self) -> char {
        match self {
            SiteKind::Add => '+',
            SiteKind::Sub => '-',
            _ => '*',
        }
    }

    pub(super) fn verb(self) -> &'static str {
        match self {
            SiteKind::Read | SiteKind::Copy | SiteKind::GroupRead => "reads",
            _ => "writes",
        }
    }
}

/// The operation of a site, and its detail.
#[derive(Clone, Copy, Debug)]
pub(super) struct SiteInfo {
    pub(super) kind: SiteKind,
    pub(super) detail: u32,
}

/// A line of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SourceLine {
    pub(super) file: String,
    pub(super) line: u32,
}

impl std::fmt::Display for SourceLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

pub(super) fn read_info(site: *const Site) -> SiteInfo {
    // SAFETY: images pass constants of their own, which are there while their kernels run.
    let Site { kind, detail, .. } = unsafe { site.read_unaligned() };
    let kind = match kind {
        0 => SiteKind::Read,
        1 => SiteKind::Write,
        2 => SiteKind::Atomic,
        3 => SiteKind::GroupRead,
        4 => SiteKind::GroupWrite,
        5 => SiteKind::Wait,
        6 => SiteKind::Add,
        7 => SiteKind::Sub,
        8 => SiteKind::Mul,
        9 => SiteKind::Copy,
        10 => SiteKind::AtomicWrite,
        _ => SiteKind::Unknown,
    };
    SiteInfo { kind, detail }
}

pub(super) fn source_line(site: *const Site) -> SourceLine {
    if site.is_null() {
        return SourceLine::default();
    }
    // SAFETY: as above; the constant is packed, and the name follows it with its end.
    let (Site { line, .. }, file) = unsafe {
        let name = site.cast::<u8>().wrapping_add(size_of::<Site>());
        (site.read_unaligned(), text(name.cast()))
    };
    SourceLine { file: file.unwrap_or_default(), line }
}

/// A text of an image; `None` if it has none.
///
/// # Safety
/// `text` is null or a C string.
pub(super) unsafe fn text(text: *const c_char) -> Option<String> {
    // SAFETY: the caller's.
    (!text.is_null()).then(|| escape(&unsafe { CStr::from_ptr(text) }.to_string_lossy()))
}
