//! All images one after the other as one zstd frame: nearly the least that zstd makes of them, where no image can be
//! reached alone.

use std::fs;
use std::io::Write;
use std::path::Path;

use zstd::stream::Encoder;

use crate::folder;

/// A window of 2 GiB at most: it holds every set that this is done for.
const LONGEST_WINDOW: u32 = 31;

pub fn run(folder: &Path, level: i32) {
    let images = folder::list(folder);
    let size: u64 = images.iter().map(|image| image.size).sum();
    let window = (u64::BITS - size.leading_zeros()).clamp(10, LONGEST_WINDOW);
    let mut encoder = Encoder::new(Vec::new(), level).unwrap();
    encoder.window_log(window).unwrap();
    encoder.long_distance_matching(true).unwrap();
    for image in &images {
        encoder.write_all(&fs::read(&image.path).unwrap()).unwrap();
    }
    println!("size {}", encoder.finish().unwrap().len());
}
