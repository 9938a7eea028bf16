//! Fuzzes the search for containers in programs.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    offload_fuzz::decode::carrier(file);
});
