//! Ready-made files, each read once and one at a time: all targets use all of them, and they may be large.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Seek;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use offload_format::{Hash128, Limits};
use offload_images::ptx::Ptx;
use offload_images::{code_object, cubin, spirv};
use offload_packer::{MAX_LEVEL, image_buffer};

use crate::cache::{Blob, KeyBuilder};
use crate::error::{Error, Result};
use crate::module::Language;
use crate::tool::Context;

/// What is known of the files so far.
#[derive(Debug, Default)]
pub(crate) struct ReadyFiles {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    blobs: BTreeMap<PathBuf, Blob>,
    purposes: BTreeMap<Hash128, String>,
    /// One for all files: buffers that come and go in many threads stay with the allocator of each.
    buffer: Vec<u8>,
}

impl ReadyFiles {
    /// The file at `path`, in the cache.
    pub(super) fn read(&self, context: &Context, path: &Path) -> Result<Blob> {
        let path = context.env.manifest_dir.join(path);
        context.env.depends_on_source(&path);
        let mut state = self.state();
        if let Some(blob) = state.blobs.get(&path) {
            return Ok(blob.clone());
        }
        let failed = |error| Error::io("read", &path, error);
        let mut hasher = blake3::Hasher::new();
        let mut file = File::open(&path).map_err(failed)?;
        let size = std::io::copy(&mut file, &mut hasher).map_err(failed)?;
        let key = KeyBuilder::new("file").part(hasher.finalize().as_bytes()).part(&size.to_le_bytes());
        let blob = context.cache.stream_or(key.finish(), |out| {
            file.rewind().and_then(|()| std::io::copy(&mut file, out)).map(drop).map_err(failed)
        })?;
        state.blobs.insert(path, blob.clone());
        Ok(blob)
    }

    /// What a file of `language` is made for, as its bytes tell it: the processor of a code object, the architecture
    /// of a cubin, the version of a SPIR-V module, the target of a PTX module.
    pub(super) fn purpose(&self, language: Language, file: &Blob) -> Result<String> {
        let mut state = self.state();
        if let Some(purpose) = state.purposes.get(&file.hash) {
            return Ok(purpose.clone());
        }
        let purpose = purpose(language, state.load(file)?)?;
        state.purposes.insert(file.hash, purpose.clone());
        Ok(purpose)
    }

    /// What `work` makes of the content of `file`.
    pub(super) fn with_content<T>(&self, file: &Blob, work: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        work(self.state().load(file)?)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn load(&mut self, file: &Blob) -> Result<&[u8]> {
        self.buffer.clear();
        let buffer = &mut self.buffer;
        // A buffer that grows is there twice while it does.
        let size = usize::try_from(file.size).unwrap_or(0);
        if buffer.capacity() < size {
            *buffer = image_buffer(MAX_LEVEL, size);
        }
        file.for_each_piece::<Error>(&mut |piece| {
            buffer.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(&self.buffer)
    }
}

fn purpose(language: Language, content: &[u8]) -> Result<String> {
    Ok(match language {
        Language::AmdCodeObject => code_object::info(content)?.target_id,
        Language::Cubin => {
            let cubin = cubin::info(content)?;
            // An old toolkit's file tells of `a`, a new one's may not; nothing tells of `f`.
            match cubin.accelerated {
                Some(true) => format!("sm_{}a", cubin.sm),
                Some(false) => format!("sm_{}", cubin.sm),
                None => format!("sm_{}*", cubin.sm),
            }
        }
        Language::Spirv => spirv::Module::parse(content, &Limits::default())?.version().to_string(),
        Language::Ptx => Ptx::parse(content)?.target().to_string(),
        _ => String::new(),
    })
}
