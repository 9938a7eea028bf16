//! Reads the containers of real programs and compares them with what their makers' tools extract:
//! `containers wheel FOLDER CUOBJDUMP` and `containers fatbins FATBINARY CUOBJDUMP`, in an empty working directory.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a check stops at the first surprise"
)]

mod fatbins;
mod tools;
mod wheel;

use std::path::Path;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["wheel", folder, cuobjdump] => wheel::check(Path::new(folder), Path::new(cuobjdump)),
        ["fatbins", fatbinary, cuobjdump] => fatbins::check(Path::new(fatbinary), Path::new(cuobjdump)),
        _ => panic!("usage: containers wheel FOLDER CUOBJDUMP | containers fatbins FATBINARY CUOBJDUMP"),
    }
}
