//! Fuzzes the reader of packs, and that what it reads is written and read the same.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    offload_fuzz::decode::pack(file);
    offload_fuzz::round_trip::pack(file);
});
