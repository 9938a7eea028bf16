//! Fuzzes the reader of OffloadBinary, and that what it reads is written and read the same.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    offload_fuzz::decode::offload_binary(file);
    offload_fuzz::round_trip::offload_binary(file);
});
