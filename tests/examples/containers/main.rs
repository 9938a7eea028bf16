//! Reads the containers of real programs and compares them with what their makers' tools extract:
//! `containers wheel FOLDER CUOBJDUMP`, `containers sycl FOLDER` and `containers fatbins FATBINARY CUOBJDUMP`. For
//! measurements it makes files of a library, lists and extracts.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a check stops at the first surprise"
)]

mod bench;
mod fatbins;
mod sycl;
mod tools;
mod wheel;

use std::path::Path;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["wheel", folder, cuobjdump, bundler] => {
            wheel::check(Path::new(folder), Path::new(cuobjdump), Path::new(bundler));
        }
        ["prepare", library, folder] => bench::prepare(Path::new(library), Path::new(folder)),
        ["sycl", folder] => sycl::check(Path::new(folder)),
        ["fatbins", fatbinary, cuobjdump] => fatbins::check(Path::new(fatbinary), Path::new(cuobjdump)),
        _ => panic!(
            "usage: containers wheel FOLDER CUOBJDUMP BUNDLER | sycl FOLDER | fatbins FATBINARY CUOBJDUMP"
        ),
    }
}
