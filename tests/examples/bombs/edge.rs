//! Files within all limits that hold as much as they may, and are sound: they are decoded, where the others are refused.

use std::error::Error;

use offload_containers::bundle;
use offload_containers::ccob::{self, Version};
use offload_format::codec::{Codec, encode};
use offload_format::pack::{NewImage, PackBuilder};

use super::Bomb;
use super::foreign::{fatbin_of, image, offload_binary};

const MIB: usize = 1 << 20;

pub(crate) fn bombs() -> Result<Vec<Bomb>, Box<dyn Error>> {
    // What any file may decode to, and what one may whose size says how much.
    let any = vec![0; 7 * MIB];
    let dense = noise(1, 8 * MIB);
    Ok(vec![
        sound("sound fatbin", fatbin_of(&any)?),
        sound("sound fatbins", fatbin_of(&dense)?.repeat(5)),
        sound("sound ccob", bundled(&any)?),
        sound("sound ccobs", bundled(&dense)?.repeat(5)),
        sound("sound large ccob", bundled(&noise(1, 40 * MIB))?),
        sound("sound offload binary", offload_binary(any.len() as u64)),
        sound("sound offload binaries", offload_binary(7 * MIB as u64).repeat(3)),
        sound("sound pack", pack(&[&any], Codec::Zstd)?),
        sound("sound lzma", pack(&[&any], Codec::Lzma)?),
        sound("sound images", pack(&[2, 3, 4, 5, 6].map(|seed| noise(seed, 8 * MIB)), Codec::Zstd)?),
    ])
}

fn sound(name: &'static str, bytes: Vec<u8>) -> Bomb {
    Bomb { sound: true, ..Bomb::new(name, bytes) }
}

/// Compresses about 100 times: a few bytes of noise in each 4 KiB.
fn noise(seed: u64, size: usize) -> Vec<u8> {
    let mut bytes = vec![0; size];
    let mut state = seed * 2 + 1;
    for chunk in bytes.chunks_mut(4096) {
        for word in chunk.chunks_mut(8).take(4) {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            word.copy_from_slice(&state.to_le_bytes());
        }
    }
    bytes
}

fn bundled(content: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    Ok(ccob::write(&bundle::write(&[image(content)], bundle::HIP_ALIGN)?, Version::V3, 1)?)
}

fn pack<T: AsRef<[u8]>>(images: &[T], codec: Codec) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut builder = PackBuilder::new("edge", "1.0.0");
    let mut frames = Vec::new();
    for (number, content) in images.iter().enumerate() {
        let frame = encode(content.as_ref(), codec, 3)?;
        builder.image(NewImage::new(&format!("m{number}"), "intel:pvc".parse()?), frame.info())?;
        frames.push(frame);
    }
    Ok(builder.finish()?.with_frames(&frames)?)
}
