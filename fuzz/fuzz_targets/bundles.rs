//! Fuzzes the reader of bundles.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    offload_fuzz::decode::bundles(file);
});
