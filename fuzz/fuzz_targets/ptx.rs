//! Fuzzes the reader of PTX.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    offload_fuzz::decode::ptx(file);
});
