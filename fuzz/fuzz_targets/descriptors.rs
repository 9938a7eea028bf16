//! Fuzzes the reader of descriptors.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    offload_fuzz::decode::descriptors(file);
});
