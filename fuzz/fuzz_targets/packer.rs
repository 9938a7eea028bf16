//! Fuzzes the packer: whatever images it gets, they are read back.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    offload_fuzz::round_trip::packer(input);
});
