//! The operations of `cargo xtask bench pack`, each as a process of its own: packing a folder of images, reaching one of them,
//! what others do with the same files, and where the files come from.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a check stops at the first surprise"
)]

mod check;
mod each;
mod extract;
mod folder;
mod generate;
mod measure;
mod one;
mod pack;
#[path = "../../../offload-containers/tests/damage/random.rs"]
mod random;
mod solid;
mod threads;

use std::path::Path;

const USAGE: &str = "usage: packs COMMAND
  measure COMMAND...                       runs it, and prints its seconds and peak memory
  extract FILES FOLDER                     the images of all programs below a folder
  spirv NUMBER FOLDER | large BYTES FOLDER generated images
  pack FOLDER FILE MODE                    our pack of a folder, at the level that the mode usually has
  check FOLDER FILE                        every image of the pack alone, compared with its file
  one FILE MODULE TARGET                   one image of a pack
  select FILE MODULE                       the first lookup of a module with its kernels, in a pack in memory
  ccob FILE TARGET                         one image of a compressed bundle, which is inflated whole
  each FOLDER LEVEL                        every image compressed alone by zstd
  solid FOLDER LEVEL                       all images as one zstd frame";

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["measure", command @ ..] => measure::run(command),
        ["extract", files, folder] => extract::run(Path::new(files), Path::new(folder)),
        ["spirv", number, folder] => generate::spirv(number.parse().unwrap(), Path::new(folder)),
        ["large", bytes, folder] => generate::large(bytes.parse().unwrap(), Path::new(folder)),
        ["pack", folder, file, mode] => pack::run(Path::new(folder), Path::new(file), mode.parse().unwrap()),
        ["check", folder, file] => check::run(Path::new(folder), Path::new(file)),
        ["one", file, module, target] => one::time_pack(Path::new(file), module, target),
        ["select", file, module] => one::time_selection(Path::new(file), module),
        ["ccob", file, target] => one::time_ccob(Path::new(file), target),
        ["each", folder, level] => each::run(Path::new(folder), level.parse().unwrap()),
        ["solid", folder, level] => solid::run(Path::new(folder), level.parse().unwrap()),
        _ => panic!("{USAGE}"),
    }
}
