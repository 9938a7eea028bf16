//! `verify` detects each flipped bit in a program's references to its packs.

use std::fs;

use object::{Object, ObjectSection};

use crate::carried::Linked;

/// Every so many bits: all of them, in a table made by hand, are flipped in a test of cargo-offload.
const STEP: u64 = 13;

#[test]
fn verify_tells_damage_to_the_table_of_descriptors() {
    for linked in Linked::each() {
        let whole = fs::read(linked.path("app")).unwrap();
        let (start, size) = table(&whole);
        assert!(size >= 64, "{size}");
        assert!(linked.offload(&["verify", "app"]).status.success());
        for bit in (0..size * 8).step_by(STEP as usize) {
            let mut flipped = whole.clone();
            flipped[(start + bit / 8) as usize] ^= 1 << (bit % 8);
            fs::write(linked.path("app"), flipped).unwrap();
            let verified = linked.offload(&["verify", "app"]);
            // The recorded size of a pack may include a few zeros behind it, which no reader uses.
            let harmless = (192..200).contains(&(bit % 512)) && verified.status.success();
            let detected = verified.status.code() == Some(1);
            assert!(detected || harmless, "{}: bit {bit}: {verified:?}", linked.linker);
        }
    }
}

/// Where the section of descriptors lies in the program.
fn table(program: &[u8]) -> (u64, u64) {
    let file = object::File::parse(program).unwrap();
    file.section_by_name("offload_tab").unwrap().file_range().unwrap()
}
