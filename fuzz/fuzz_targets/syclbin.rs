//! Fuzzes the reader of SYCLBIN.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    offload_fuzz::decode::syclbin(file);
});
