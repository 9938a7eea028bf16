//! Fuzzes the reader of property sets.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    offload_fuzz::decode::property_sets(file);
});
