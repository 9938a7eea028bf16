//! Large containers in little memory: what a compressed bundle declares says how much is read, and not how much is held.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Instant;

use crate::support::cargo_offload;
use offload_containers::bundle::{self, BundleImage};
use offload_containers::ccob::{self, Version};

const MIB: usize = 1 << 20;
/// What a command may hold, in KiB: buffers, and the largest window of a zstd stream, 128 MiB.
const HELD: usize = 192 << 10;

/// Compresses about 100 times: a few bytes of noise in each 4 KiB.
fn image(size: usize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; size];
    let mut state = seed * 2 + 1;
    for chunk in bytes.chunks_mut(4096) {
        for word in chunk.chunks_mut(8).take(4) {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            word.copy_from_slice(&state.to_le_bytes()[..word.len()]);
        }
    }
    bytes
}

/// A command that may hold so much and no more.
fn limited(directory: &Path, args: &[&str]) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -d {HELD}; exec \"$0\" \"$@\"")]).arg(cargo_offload()).args(args);
    command.current_dir(directory).output().unwrap()
}

#[test]
fn a_compressed_bundle_is_extracted_in_little_memory() {
    // A sample is only larger than the limit of memory.
    let size = if offload_tests::is_full() { 265 * MIB } else { 128 * MIB };
    let directory = tempfile::tempdir().unwrap();
    let ids = ["hipv4-amdgcn-amd-amdhsa--gfx90a", "hipv4-amdgcn-amd-amdhsa--gfx1100"];
    let images = [image(size, 1), image(size, 2)];
    let parts: Vec<BundleImage<'_>> =
        ids.iter().zip(&images).map(|(id, bytes)| BundleImage { id, bytes }).collect();
    let plain = bundle::write(&parts, bundle::HIP_ALIGN).unwrap();
    let file = ccob::write(&plain, Version::V3, 1).unwrap();
    let ratio = plain.len() / file.len();
    assert!((64..200).contains(&ratio), "{ratio}:1");
    drop(plain);
    fs::write(directory.path().join("large.hipfb"), file).unwrap();

    let start = Instant::now();
    for args in [&["inspect", "large.hipfb"][..], &["extract", "--output", "images", "large.hipfb"]] {
        let output = limited(directory.path(), args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let time = start.elapsed();
    let mut found: Vec<Vec<u8>> = (fs::read_dir(directory.path().join("images")).unwrap())
        .map(|entry| fs::read(entry.unwrap().path()).unwrap())
        .collect();
    found.sort_by_key(|image| image[..8] != images[0][..8]);
    assert!(found == images, "other bytes");
    offload_tests::figure(
        format!("{} MiB in a CCOB of version 3, {ratio}:1, {:.1} s", 2 * size / MIB, time.as_secs_f64()),
        format!("held less than {} MiB", HELD >> 10),
    );
}
