//! Fuzzes the reader of bundles of text, and that what it reads is written and read the same.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    offload_fuzz::decode::bundle_text(file);
    offload_fuzz::round_trip::bundle_text(file);
});
