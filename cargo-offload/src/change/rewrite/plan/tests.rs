//! Conditions under which a segment is split.

use object::elf::{FileHeader64, PF_R, PF_W, PT_LOAD, SHT_PROGBITS, SectionHeader64};
use object::endian::U32;
use object::pod::from_bytes;

use super::*;

/// A loaded segment at this offset, address and of this size, in the file and in memory.
fn load([offset, address, size]: [u64; 3], flags: object::elf::ProgramFlags) -> ProgramHeader64<LE> {
    let mut segment = *from_bytes::<ProgramHeader64<LE>>(&[0; 56]).unwrap().0;
    segment.p_type = U32::new(LE, PT_LOAD);
    segment.p_flags = U32::new(LE, flags);
    segment.p_offset = U64::new(LE, offset);
    segment.p_vaddr = U64::new(LE, address);
    segment.p_align = U64::new(LE, 0x1000);
    set_size(&mut segment, size);
    segment
}

/// As LLD links: packs from 0x1000 to 0x5000 in the midst of the first segment, and two segments of data of which the second
/// follows the first in the file, and a page later in memory.
fn linked() -> (Headers, PacksRange) {
    let mut file = *from_bytes::<FileHeader64<LE>>(&[0; 64]).unwrap().0;
    file.e_phoff = U64::new(LE, 64);
    file.e_shoff = U64::new(LE, 0x9000);
    let segments = vec![
        load([0, 0, 0x6000], PF_R),
        load([0x6000, 0x7000, 0x900], PF_R | PF_W),
        load([0x6900, 0x8900, 0x100], PF_R | PF_W),
    ];
    let sections = vec![*from_bytes::<SectionHeader64<LE>>(&[0; 64]).unwrap().0];
    let range = PacksRange { old: 0x1000..0x5000, new_size: 0x4000 };
    // What lies behind the table leaves no space for an entry.
    let mut headers = Headers { file, segments, sections, size: 0x9040 };
    let mut note = headers.sections[0];
    note.sh_type = U32::new(LE, SHT_PROGBITS);
    note.sh_offset = U64::new(LE, 64 + 3 * 56);
    note.sh_size = U64::new(LE, 8);
    headers.sections.push(note);
    (headers, range)
}

fn planned(new_size: u64) -> Plan {
    let (headers, range) = linked();
    plan(Path::new("program"), &headers, &PacksRange { new_size, ..range }).unwrap()
}

#[test]
fn a_segment_is_split_where_that_saves_something() {
    let shrunk = planned(0x800);
    // Three pages of packs go, and the joined data take one.
    assert_eq!((shrunk.headers.segments.len(), shrunk.headers.size), (3, 0x9040 - 0x3000 + 0x1000));
    assert_eq!(shrunk.spare, 0);
}

#[test]
fn a_segment_stays_where_a_split_costs_what_it_saves() {
    let kept = planned(0x3000);
    assert_eq!((kept.headers.segments.len(), kept.headers.size), (3, 0x9040));
    assert_eq!((kept.padding, kept.spare), (0x1000, 0x1000));
}

#[test]
fn a_table_without_room_is_refused() {
    let (mut headers, range) = linked();
    headers.segments.pop();
    headers.sections[1].sh_offset = U64::new(LE, 64 + 2 * 56);
    let refused = plan(Path::new("program"), &headers, &PacksRange { new_size: 0x800, ..range }).unwrap_err();
    assert!(refused.to_string().contains("its table of segments is full"), "{refused}");
}
