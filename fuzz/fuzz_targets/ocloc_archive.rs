//! Fuzzes the reader of archives of ocloc.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    offload_fuzz::decode::ocloc_archive(file);
});
