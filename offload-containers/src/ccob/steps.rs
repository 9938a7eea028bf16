//! Incremental inflation of compressed bundles, with the MD5 computed by the caller, on another thread if it has one.

use md5::{Digest, Md5};

use super::inflate::first_bytes;
use super::{BUNDLE, Ccob, Method};
use crate::frame;
use offload_format::{Error, ErrorKind, Limits};

impl<'a> Ccob<'a> {
    /// [`Ccob::inflate`] in steps, into the caller's memory. `None` for a bundle that can only be inflated as a whole: a zlib
    /// stream, or a zstd frame without a recorded size.
    ///
    /// The caller computes the MD5 of what each step adds, on another thread if it has one: the hash takes twice as long as
    /// the inflation. The bundle must not be used before [`Unverified::verify`].
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
    /// let mut hasher = ccob::Hasher::default();
    /// let mut done = 0;
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
    /// Those of [`Ccob::inflate`] that need no inflation.
    pub fn steps(&self, limits: &Limits) -> Result<Option<Steps<'a>>, Error> {
        let declared = limits.inflated(BUNDLE, self.raw_size, self.payload.len() as u64)?;
        let frame = match self.method {
            Method::Zstd => frame::Steps::for_frame(self.payload, declared)?,
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
    /// The size of the inflated bundle, in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Inflates a block into `memory`, which has to be the same [`Steps::size`] bytes each time, unchanged: blocks refer to
    /// earlier ones. Returns the number of inflated bytes so far; `None` at the end.
    ///
    /// # Errors
    /// [`ErrorKind::Compression`] for damaged bytes; [`ErrorKind::Invalid`] for memory of another size.
    pub fn step(&mut self, memory: &mut [u8]) -> Result<Option<usize>, Error> {
        self.frame.step(memory)
    }

    /// Finishes the inflation; the MD5 is still to be compared.
    ///
    /// # Errors
    /// [`ErrorKind::Compression`] if the end is not reached.
    pub fn finish(self) -> Result<Unverified, Error> {
        self.frame.finish()?;
        Ok(Unverified { hash: self.hash })
    }
}

/// The recorded MD5 of an inflated bundle that is not verified yet.
#[derive(Debug)]
#[must_use = "a bundle may be used only after `verify`"]
pub struct Unverified {
    hash: u64,
}

impl Unverified {
    /// Compares the recorded MD5 with that of `hasher`.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`] if they differ.
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
    /// Adds the next bytes of the bundle.
    pub fn update(&mut self, bytes: &[u8]) {
        self.md5.update(bytes);
    }
}
