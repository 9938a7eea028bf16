//! Every image compressed alone: nvcc's size mode (level 19), icpx (level 10), AMD's kpack (level 3).

use std::fs;
use std::path::Path;

use offload_format::Error;
use offload_packer::Pool;

use crate::folder;
use crate::threads::Threads;

pub fn run(folder: &Path, level: i32) {
    let images = folder::list(folder);
    let sizes = Pool::new(&Threads).map(
        &images,
        |_| 0,
        |image: &folder::Image| {
            let bytes = fs::read(&image.path).unwrap();
            let stored = zstd::bulk::compress(&bytes, level).unwrap();
            assert!(zstd::bulk::decompress(&stored, bytes.len()).unwrap() == bytes);
            // All of them keep what does not shrink.
            Ok::<_, Error>(stored.len().min(bytes.len()) as u64)
        },
    );
    println!("size {}", sizes.unwrap().iter().sum::<u64>());
}
