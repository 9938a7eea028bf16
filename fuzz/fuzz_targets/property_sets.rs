//! Fuzzes the reader of property sets, and that what it reads is written and read the same.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    offload_fuzz::decode::property_sets(file);
    offload_fuzz::round_trip::property_sets(file);
});
