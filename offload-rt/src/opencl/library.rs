//! Device libraries that a driver has compiled for a context, once for all programs that are linked with them.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use offload_format::Hash128;

use super::api::Program;
use crate::entry::{Entry, LoadedImage};
use crate::error::Error;

/// The libraries in use, by the hash of the image.
pub(super) struct CompiledLibraries<P = Program> {
    compiled: Mutex<Vec<(Hash128, Weak<P>)>>,
}

impl<P> Default for CompiledLibraries<P> {
    fn default() -> CompiledLibraries<P> {
        CompiledLibraries { compiled: Mutex::default() }
    }
}

impl<P> CompiledLibraries<P> {
    /// The library of `entry`, decoded and compiled by `compile` unless it is in use.
    pub(super) fn compiled(
        &self,
        entry: &Entry,
        compile: impl FnOnce(&LoadedImage) -> Result<P, Error>,
    ) -> Result<Arc<P>, Error> {
        // The lock is held during the compilation, so that other threads wait instead of compiling it again.
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        compiled.retain(|(_, program)| program.strong_count() > 0);
        let known = compiled
            .iter()
            .find(|(hash, _)| *hash == entry.hash())
            .and_then(|(_, program)| program.upgrade());
        if let Some(program) = known {
            return Ok(program);
        }
        let program = Arc::new(compile(&entry.load()?)?);
        compiled.push((entry.hash(), Arc::downgrade(&program)));
        Ok(program)
    }
}

impl fmt::Debug for CompiledLibraries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompiledLibraries").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    use offload_format::codec::{self, Codec};
    use offload_format::pack::{NewImage, PackBuilder};

    use super::*;
    use crate::Registry;

    /// The size of the image in place of a program; counts in `compiles`.
    fn compiled_size(
        libraries: &CompiledLibraries<usize>,
        entry: &Entry,
        compiles: &AtomicUsize,
    ) -> Arc<usize> {
        let compiled = libraries.compiled(entry, |image| {
            // Long enough for the others to come.
            thread::sleep(Duration::from_millis(50));
            compiles.fetch_add(1, Ordering::Relaxed);
            Ok(image.bytes().len())
        });
        compiled.unwrap()
    }

    #[test]
    fn sixteen_threads_decode_and_compile_a_library_once_for_each_context() {
        let frame = codec::encode(&[7; 4096], Codec::Zstd, 1).unwrap();
        let mut builder = PackBuilder::new("num-device", "1.0.0");
        let image =
            NewImage { exports: vec!["more".into()], ..NewImage::new("num", "spirv64".parse().unwrap()) };
        builder.image(image, frame.info()).unwrap();
        let registry = Registry::from_pack(builder.finish().unwrap().with_frames([&frame]).unwrap());
        let entry = &registry.entries()[0];
        let libraries = CompiledLibraries::<usize>::default();
        let compiles = AtomicUsize::new(0);
        let start = Barrier::new(16);
        let all: Vec<Arc<usize>> = thread::scope(|scope| {
            let mut threads = Vec::new();
            for _ in 0..16 {
                threads.push(scope.spawn(|| {
                    start.wait();
                    compiled_size(&libraries, entry, &compiles)
                }));
            }
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(all.iter().all(|program| Arc::ptr_eq(program, &all[0]) && **program == 4096));
        assert_eq!((compiles.load(Ordering::Relaxed), entry.decodes()), (1, 1));
        // Another context, and one that has it no more.
        compiled_size(&CompiledLibraries::default(), entry, &compiles);
        drop(all);
        compiled_size(&libraries, entry, &compiles);
        assert_eq!(compiles.load(Ordering::Relaxed), 3);
    }
}
