//! Every image of a pack decoded alone, with only those bytes of the pack that it asks for, and compared with its file.

use std::fs;
use std::path::Path;

use crate::folder;
use crate::one::Reader;

/// Two ancestors, of which the last one may be patched, and a patch.
const MOST_FRAMES: usize = 4;

pub fn run(folder: &Path, file: &Path) {
    let images = folder::list(folder);
    let reader = Reader::open(file);
    let pack = reader.pack();
    assert_eq!(pack.image_count(), images.len() as u64);
    let mut frames = 0;
    for image in &images {
        let (bytes, fetched) = reader.image(&pack, &image.module, &image.target.to_string());
        assert!(bytes == fs::read(&image.path).unwrap(), "{} differs", image.path.display());
        assert!(fetched <= MOST_FRAMES, "{} needs {fetched} frames", image.path.display());
        frames += fetched;
    }
    println!("images {}", images.len());
    println!("frames {frames}");
}
