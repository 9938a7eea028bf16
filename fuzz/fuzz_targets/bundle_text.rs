//! Fuzzes the reader of bundles of text.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    offload_fuzz::decode::bundle_text(file);
});
