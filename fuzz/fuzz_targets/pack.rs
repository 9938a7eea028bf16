//! Fuzzes the reader of packs.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    offload_fuzz::decode::pack(file);
});
