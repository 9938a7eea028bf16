//! Fuzzes the reader of SYCLBIN, and that what it reads is written and read the same.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    offload_fuzz::decode::syclbin(file);
    offload_fuzz::round_trip::syclbin(file);
});
