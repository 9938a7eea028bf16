//! Packs for tests.

#[cfg(feature = "dlpack")]
#[cfg(any(feature = "cuda", feature = "hip"))]
pub mod dlpack;
#[cfg(unix)]
#[cfg(any(feature = "cuda", feature = "hip"))]
pub mod external;
#[cfg(any(feature = "cuda", feature = "hip"))]
pub mod graphs;
#[cfg(any(feature = "cuda", feature = "hip"))]
pub mod images;
#[cfg(any(feature = "cuda", feature = "hip"))]
pub mod launches;
#[cfg(any(feature = "cuda", feature = "hip"))]
pub mod managed;
#[cfg(any(feature = "cuda", feature = "hip"))]
pub mod peers;
#[cfg(any(feature = "cuda", feature = "hip"))]
pub mod pools;
#[cfg(any(feature = "cuda", feature = "hip"))]
pub mod processes;
#[cfg(any(feature = "cuda", feature = "hip"))]
pub mod streams;

use offload_format::codec::{self, Codec};
use offload_format::pack::{NewImage, PackBuilder};

/// Miri runs no C, and zstd is written in it.
pub const CODEC: Codec = if cfg!(miri) { Codec::Raw } else { Codec::Zstd };

/// A builder of packs that holds the frames too.
pub struct TestPack {
    builder: PackBuilder,
    frames: Vec<codec::Frame>,
}

impl TestPack {
    pub fn new(package: &str) -> TestPack {
        TestPack { builder: PackBuilder::new(package, "1.0.0"), frames: Vec::new() }
    }

    pub fn image(mut self, image: NewImage, bytes: &[u8]) -> TestPack {
        let frame = codec::encode(bytes, CODEC, 3).unwrap();
        self.builder.image(image, frame.info()).unwrap();
        self.frames.push(frame);
        self
    }

    /// An image of `module` for each target; its bytes are long and differ from target to target.
    pub fn targets(self, module: &str, targets: &[&str]) -> TestPack {
        targets.iter().fold(self, |pack, target| {
            let bytes = format!("{module} for {target} ").repeat(100);
            pack.image(NewImage::new(module, target.parse().unwrap()), bytes.as_bytes())
        })
    }

    pub fn builder(&mut self) -> &mut PackBuilder {
        &mut self.builder
    }

    pub fn bytes(self) -> Vec<u8> {
        self.builder.finish().unwrap().with_frames(&self.frames).unwrap()
    }
}
