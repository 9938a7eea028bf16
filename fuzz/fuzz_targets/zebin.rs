//! Fuzzes the reader of zebins.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    offload_fuzz::decode::zebin(file);
});
