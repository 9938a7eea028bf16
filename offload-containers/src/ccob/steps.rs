//! Inflating a compressed bundle step by step, with its MD5 computed by whoever has a thread for it.

use md5::{Digest, Md5};

use super::inflate::first_bytes;
use super::{BUNDLE, Ccob, Method};
use crate::frame;
use offload_format::{Error, ErrorKind, Limits};

impl<'a> Ccob<'a> {
    /// [`Ccob::inflate`] in steps, into memory of the caller's. `None` for a bundle that is only inflated as a whole: one of
    /// zlib, or a zstd frame that does not record its size.
    ///
    /// The MD5, which takes twice as long as the rest, is the caller's to compute, of what each step adds, on another
    /// thread if there is one. Nothing of the bundle may be used before [`Unverified::verify`] has compared it.
    ///
    /// ```
    /// use offload_containers::{bundle, ccob};
    /// use offload_format::Limits;
    ///
    /// let image = bundle::BundleImage { id: "hipv4-amdgcn-amd-amdhsa--gfx90a", bytes: b"code object" };
    /// let raw = bundle::write(&[image], bundle::HIP_ALIGN)?;
    /// let file = ccob::write(&raw, ccob::Version::V3, 19)?;
    ///
    /// let limits = Limits::default();
    /// let mut steps = ccob::parse(&file, &limits)?.steps(&limits)?.ok_or("no frame with a size")?;
    /// let mut memory = vec![0; usize::try_from(steps.size())?];
    /// let (mut hasher, mut done) = (ccob::Hasher::default(), 0);
    /// while let Some(end) = steps.step(&mut memory)? {
    ///     hasher.update(&memory[done..end]);
    ///     done = end;
    /// }
    /// steps.finish()?.verify(hasher)?;
    /// assert_eq!(memory, raw);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Ccob::inflate`] that show before anything is inflated.
    pub fn steps(&self, limits: &Limits) -> Result<Option<Steps<'a>>, Error> {
        let declared = limits.inflated(BUNDLE, self.raw_size, self.payload.len() as u64)?;
        let frame = match self.method {
            Method::Zstd => frame::Steps::of(self.payload, declared)?,
            _ => None,
        };
        Ok(frame.map(|frame| Steps { frame, size: declared, hash: self.hash }))
    }
}

/// A compressed bundle that is being inflated.
#[derive(Debug)]
#[must_use = "nothing is inflated before `step`"]
pub struct Steps<'a> {
    frame: frame::Steps<'a>,
    size: u64,
    hash: u64,
}

impl Steps<'_> {
    /// How many bytes of memory the bundle takes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Inflates some more into `memory`, which has to be the same [`Steps::size`] bytes each time, unchanged: what comes
    /// later refers to what came before. Returns how many bytes are there from the start; `None` at the end.
    ///
    /// # Errors
    /// [`ErrorKind::Compression`] for damaged bytes; [`ErrorKind::Invalid`] for memory of another size.
    pub fn step(&mut self, memory: &mut [u8]) -> Result<Option<usize>, Error> {
        self.frame.step(memory)
    }

    /// Ends it: what is left is to compare the MD5.
    ///
    /// # Errors
    /// [`ErrorKind::Compression`] if the end is not reached.
    pub fn finish(self) -> Result<Unverified, Error> {
        self.frame.finish()?;
        Ok(Unverified { hash: self.hash })
    }
}

/// The MD5 of a bundle that was inflated, which nobody has compared yet.
#[derive(Debug)]
#[must_use = "a bundle may be used once its MD5 was compared"]
pub struct Unverified {
    hash: u64,
}

impl Unverified {
    /// Compares it with that of the bytes that `hasher` was given.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`] for another one.
    pub fn verify(self, hasher: Hasher) -> Result<(), Error> {
        if first_bytes(hasher.md5) == self.hash {
            return Ok(());
        }
        Err(ErrorKind::Damaged { what: BUNDLE }.into())
    }
}

/// Computes the MD5 of a bundle.
#[derive(Clone, Debug, Default)]
pub struct Hasher {
    md5: Md5,
}

impl Hasher {
    /// Takes the next bytes of the bundle.
    pub fn update(&mut self, bytes: &[u8]) {
        self.md5.update(bytes);
    }
}
