//! Fuzzes the reader of archives of ocloc, and that what it reads is written and read the same.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    offload_fuzz::decode::ocloc_archive(file);
    offload_fuzz::round_trip::ocloc(file);
});
