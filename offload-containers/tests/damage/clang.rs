//! Compressed offload bundles as clang writes them.

use md5::{Digest, Md5};

/// A file as clang writes it: with the given header, and without a checksum in the frame.
pub fn as_clang(version: u16, method: u16, raw: &[u8]) -> Vec<u8> {
    let payload = match method {
        0 => zlib(raw),
        _ => zstd::bulk::compress(raw, 3).unwrap(),
    };
    with_header(version, method, raw, &payload)
}

pub fn with_header(version: u16, method: u16, raw: &[u8], payload: &[u8]) -> Vec<u8> {
    let hash = Md5::digest(raw);
    let mut file = [b"CCOB", &version.to_le_bytes()[..], &method.to_le_bytes()].concat();
    let stored = payload.len() as u64;
    let raw = raw.len() as u64;
    match version {
        1 => file.extend((raw as u32).to_le_bytes()),
        2 => file.extend([stored as u32 + 24, raw as u32].map(u32::to_le_bytes).as_flattened()),
        _ => file.extend([stored + 32, raw].map(u64::to_le_bytes).as_flattened()),
    }
    file.extend(&hash[..8]);
    file.extend(payload);
    file
}

pub fn zlib(raw: &[u8]) -> Vec<u8> {
    miniz_oxide::deflate::compress_to_vec_zlib(raw, 9)
}
