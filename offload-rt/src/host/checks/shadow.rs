//! Shadow memory: the last accesses of each word of a buffer or of local memory.

use super::site::SiteKind;

/// The number of bytes of an object for which cells are allocated at once.
const PAGE: usize = 256;
/// The granularity of most accesses.
const WORD: usize = 4;

/// The marks of an object's bytes.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    pages: Vec<Option<Page>>,
}

/// A cell for each word, or for each byte once a part of a word was accessed.
#[derive(Debug)]
enum Page {
    Words(Box<[Cell]>),
    AddressRange(Box<[Cell]>),
}

/// An access: its work-item, epoch and site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    /// One more than the number of the work-item in its group; [`GROUP`] for a copy that all ask for; 0 for no access.
    item: u32,
    /// The number of barriers before it; of a mark of another group: the number of the group.
    when: u32,
    /// The number of barriers of its warp before it.
    warp_when: u32,
    /// Where, as [`Access::site`]; its lowest bit says whether it was atomic.
    site: u32,
}

/// Stands for all work-items of a group.
const GROUP: u32 = u32::MAX;
/// Work-items of a warp, the neighbours that have barriers of their own.
const WARP_SIZE: u32 = 32;

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    /// One more than the number of the group whose marks these are.
    group: u32,
    writer: Mark,
    /// Two work-items that have read since the last barrier: one of them is another than any that writes.
    readers: [Mark; 2],
    /// Of another group, whatever barriers there were.
    earlier_writer: Mark,
    earlier_reader: Mark,
}

/// An access that is about to happen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) kind: SiteKind,
    /// The numbers of the work-item in its group, and of the group.
    pub(super) item: u32,
    pub(super) group: u32,
    pub(super) barriers: u32,
    pub(super) warp_barriers: u32,
    pub(super) site: u32,
}

/// Another access of the same bytes, one of the two writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Conflict {
    /// `None` for all work-items of its group.
    pub(super) item: Option<u32>,
    pub(super) group: u32,
    pub(super) site: u32,
    pub(super) other_writes: bool,
    pub(super) other_is_atomic: bool,
}

/// The faults of an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AccessResult {
    pub(super) conflict: Option<Conflict>,
    /// A byte that is read was not written by the group.
    pub(super) is_unwritten: bool,
}

impl Mark {
    fn new(access: &Access) -> Mark {
        let item = if access.kind.is_of_group() { GROUP } else { access.item.saturating_add(1) };
        let is_atomic = u32::from(access.kind.is_atomic());
        let warp_when = access.warp_barriers;
        Mark { item, when: access.barriers, warp_when, site: access.site << 1 | is_atomic }
    }

    fn is_some(self) -> bool {
        self.item != 0
    }

    fn is_atomic(self) -> bool {
        self.site & 1 == 1
    }

    /// This mark of another group, or that of `group`: one that is not atomic conflicts with every other.
    fn or(self, mark: Mark, group: u32) -> Mark {
        if mark.is_some() && (!self.is_some() || self.is_atomic()) {
            Mark { when: group, ..mark }
        } else {
            self
        }
    }

    /// Whether both are of one warp.
    fn shares_warp_with(self, other: Mark) -> bool {
        let warps = [self, other].map(|mark| mark.item.saturating_sub(1) / WARP_SIZE);
        self.item != GROUP && other.item != GROUP && warps[0] == warps[1]
    }

    /// Whether a barrier lies between this access and the other of the same group.
    fn is_separated_from(self, other: Mark) -> bool {
        self.when != other.when || (self.warp_when != other.warp_when && self.shares_warp_with(other))
    }

    fn conflicts_with(self, other: Mark) -> bool {
        self.is_some()
            && self.item != other.item
            && !self.is_separated_from(other)
            && !(self.is_atomic() && other.is_atomic())
    }

    /// Whether this access of another group conflicts with `other`: no barrier separates groups.
    fn conflicts_across_groups(self, other: Mark) -> bool {
        self.is_some() && !(self.is_atomic() && other.is_atomic())
    }

    fn conflict(self, group: u32, other_writes: bool) -> Conflict {
        let item = (self.item != GROUP).then(|| self.item.saturating_sub(1));
        Conflict { item, group, site: self.site >> 1, other_writes, other_is_atomic: self.is_atomic() }
    }
}

impl Shadow {
    pub(super) fn clear(&mut self) {
        self.pages.clear();
    }

    /// Records an access of bytes of an object; returns its faults.
    pub(super) fn note(&mut self, first: usize, size: usize, access: &Access) -> AccessResult {
        let mark = Mark::new(access);
        let mut conflict = None;
        let mut some = false;
        let mut all = true;
        let mut at = first;
        let end = first.saturating_add(size);
        while at < end {
            let number = at / PAGE;
            let page_end = number.saturating_add(1).saturating_mul(PAGE).min(end);
            let in_words = at.is_multiple_of(WORD) && page_end.is_multiple_of(WORD);
            for cell in self.cells(number, at % PAGE..page_end.saturating_sub(number * PAGE), in_words) {
                some |= !cell.writer.is_some();
                all &= !cell.writer.is_some();
                conflict = conflict.or(cell.note(mark, access));
            }
            at = page_end;
        }
        // The padding of a structure is never written.
        let is_unwritten = access.kind.reads() && if access.kind == SiteKind::Copy { all } else { some };
        AccessResult { conflict, is_unwritten }
    }

    /// The cells of a part of a page.
    fn cells(&mut self, number: usize, part: std::ops::Range<usize>, in_words: bool) -> &mut [Cell] {
        if self.pages.len() <= number {
            self.pages.resize_with(number.saturating_add(1), || None);
        }
        let Some(slot) = self.pages.get_mut(number) else { return &mut [] };
        let page = slot.get_or_insert_with(|| Page::Words(vec![Cell::default(); PAGE / WORD].into()));
        if let (Page::Words(words), false) = (&*page, in_words) {
            let bytes = words.iter().flat_map(|cell| [*cell; WORD]);
            *page = Page::AddressRange(bytes.collect());
        }
        match page {
            Page::Words(cells) => cells.get_mut(part.start / WORD..part.end / WORD),
            Page::AddressRange(cells) => cells.get_mut(part),
        }
        .unwrap_or_default()
    }
}

impl Cell {
    fn note(&mut self, mark: Mark, access: &Access) -> Option<Conflict> {
        self.enter_group(access.group);
        let conflict = self.conflict(mark, access);
        if access.kind.writes() {
            self.writer = mark;
        }
        if access.kind.reads() {
            let [first, second] = &mut self.readers;
            if first.is_separated_from(mark) || first.item == mark.item || !first.is_some() {
                *first = mark;
            } else {
                *second = mark;
            }
        }
        conflict
    }

    /// Makes the marks of an earlier group those of another group.
    fn enter_group(&mut self, group: u32) {
        let number = group.saturating_add(1);
        if self.group == number {
            return;
        }
        let earlier = self.group.saturating_sub(1);
        self.earlier_writer = self.earlier_writer.or(self.writer, earlier);
        for reader in self.readers {
            self.earlier_reader = self.earlier_reader.or(reader, earlier);
        }
        (self.writer, self.readers, self.group) = (Mark::default(), [Mark::default(); 2], number);
    }

    fn conflict(&self, mark: Mark, access: &Access) -> Option<Conflict> {
        if self.writer.conflicts_with(mark) {
            return Some(self.writer.conflict(access.group, true));
        }
        if self.earlier_writer.conflicts_across_groups(mark) {
            return Some(self.earlier_writer.conflict(self.earlier_writer.when, true));
        }
        if !access.kind.writes() {
            return None;
        }
        if let Some(reader) = self.readers.into_iter().find(|reader| reader.conflicts_with(mark)) {
            return Some(reader.conflict(access.group, false));
        }
        if self.earlier_reader.conflicts_across_groups(mark) {
            return Some(self.earlier_reader.conflict(self.earlier_reader.when, false));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(kind: SiteKind, item: u32, barriers: u32) -> Access {
        Access { kind, item, group: 0, barriers, warp_barriers: 0, site: item }
    }

    /// The work-item that each of several accesses of one word conflicts with.
    fn conflicts(all: &[Access]) -> Vec<Option<Option<u32>>> {
        let mut shadow = Shadow::default();
        all.iter().map(|access| shadow.note(8, 4, access).conflict.map(|conflict| conflict.item)).collect()
    }

    #[test]
    fn a_barrier_of_a_warp_separates_its_lanes_alone() {
        for (other, is_race) in [(1, false), (32, true)] {
            let mut shadow = Shadow::default();
            shadow.note(0, 4, &access(SiteKind::Write, 0, 1));
            let read = Access { warp_barriers: 1, ..access(SiteKind::Read, other, 1) };
            assert_eq!(shadow.note(0, 4, &read).conflict.is_some(), is_race, "{other}");
        }
    }

    #[test]
    fn a_barrier_separates_accesses_of_a_group() {
        use SiteKind::{Atomic, GroupWrite, Read, Write};
        for (first, second, expected) in [
            (access(Write, 0, 0), access(Read, 1, 0), Some(Some(0))),
            (access(Read, 0, 0), access(Write, 1, 0), Some(Some(0))),
            (access(Write, 0, 0), access(Write, 1, 0), Some(Some(0))),
            (access(Write, 0, 0), access(Read, 1, 1), None),
            (access(Write, 0, 0), access(Read, 0, 0), None),
            (access(Read, 0, 0), access(Read, 1, 0), None),
            (access(Atomic, 0, 0), access(Atomic, 1, 0), None),
            (access(Atomic, 0, 0), access(Read, 1, 0), Some(Some(0))),
            (access(GroupWrite, 0, 0), access(GroupWrite, 1, 0), None),
            (access(GroupWrite, 0, 0), access(Read, 0, 0), Some(None)),
        ] {
            assert_eq!(conflicts(&[first, second]), [None, expected], "{first:?} {second:?}");
        }
    }

    #[test]
    fn one_of_many_readers_is_another_than_the_writer() {
        use SiteKind::{Read, Write};
        let all = [access(Read, 0, 0), access(Read, 1, 0), access(Read, 2, 0), access(Write, 2, 0)];
        assert_eq!(conflicts(&all), [None, None, None, Some(Some(0))]);
    }

    #[test]
    fn nothing_separates_groups() {
        fn group_access(group: u32, kind: SiteKind, barriers: u32) -> Access {
            Access { kind, item: 0, group, barriers, warp_barriers: 0, site: 7 }
        }
        let mut shadow = Shadow::default();
        assert_eq!(shadow.note(0, 4, &group_access(0, SiteKind::Write, 0)), AccessResult::default());
        let verdict = shadow.note(0, 4, &group_access(3, SiteKind::Read, 5));
        let expected =
            Conflict { item: Some(0), group: 0, site: 7, other_writes: true, other_is_atomic: false };
        assert_eq!(verdict.conflict, Some(expected));
        let mut shadow = Shadow::default();
        for group in 0..4 {
            assert_eq!(shadow.note(0, 4, &group_access(group, SiteKind::Atomic, 0)).conflict, None);
        }
    }

    #[test]
    fn parts_of_a_word_are_told_apart() {
        let mut shadow = Shadow::default();
        assert_eq!(shadow.note(0, 4, &access(SiteKind::Write, 0, 0)).conflict, None);
        assert_eq!(shadow.note(4, 1, &access(SiteKind::Write, 1, 0)).conflict, None);
        assert_eq!(shadow.note(5, 1, &access(SiteKind::Write, 2, 0)).conflict, None);
        assert!(shadow.note(3, 2, &access(SiteKind::Read, 3, 0)).conflict.is_some());
        assert!(!shadow.note(254, 4, &access(SiteKind::Write, 4, 0)).is_unwritten);
        assert!(!shadow.note(254, 4, &access(SiteKind::Read, 4, 0)).is_unwritten);
        assert!(shadow.note(254, 5, &access(SiteKind::Read, 4, 0)).is_unwritten);
    }
}
