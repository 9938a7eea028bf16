//! Headers that this crate supplies: `assert.h`, as GPUs have no C library, and what it includes; for the CPU
//! `gpuintrin.h`, which clang has for GPUs alone; for CUDA C++ what stands for a toolkit's, or what clang lacks beside
//! them; for HIP C++ what stands for ROCm's.

mod cuda;
pub(crate) mod hip;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use crate::compile::Session;
use crate::compile::steps::action::{Arg, texts};
use crate::error::Result;
use crate::fs;
use crate::module::Language;

/// How an assertion of OpenCL C tells that it failed.
pub(crate) const FAILURES: &str = include_str!("../device/offload_failures.h");

/// Headers that are found together.
#[derive(Debug)]
struct Folder {
    /// In the cache. The number is of the text, so that a compiler's command changes with it: its own files are no
    /// dependencies of a build.
    name: &'static str,
    /// By their names.
    headers: &'static [(&'static str, &'static str)],
}

const COMMON: Folder = Folder {
    name: "include/own-4",
    headers: &[
        ("assert.h", include_str!("../device/assert.h")),
        ("offload_failures.h", FAILURES),
        // Written last: it shows that the folder is whole.
        ("cassert", "#include <assert.h>\n"),
    ],
};
const HOST: Folder = Folder {
    name: "include/host-1",
    headers: &[("gpuintrin.h", include_str!("../device/host_gpuintrin.h"))],
};
/// Beside the headers of a toolkit.
const BESIDE_TOOLKIT: Folder = Folder {
    name: "include/cuda-toolkit-2",
    headers: &[(
        BUILT_IN,
        concat!(
            include_str!("../device/cuda/toolkit.h"),
            include_str!("../device/cuda/nvptx_words.h"),
            "#undef __OFFLOAD_FN\n"
        ),
    )],
};
/// In place of the headers of a toolkit.
const CUDA: Folder = Folder { name: "include/cuda-15", headers: cuda::HEADERS };
/// In place of those of ROCm.
const HIP: Folder = Folder { name: "include/hip-1", headers: hip::HEADERS };

const FOLDERS: [&Folder; 5] = [&COMMON, &HOST, &BESIDE_TOOLKIT, &CUDA, &HIP];

/// What nvcc has built in, for clang with the headers of a toolkit.
const BUILT_IN: &str = "offload_cuda_toolkit.h";

impl Folder {
    fn directory(&self, session: &Session<'_>) -> PathBuf {
        session.cache().dir().join(self.name)
    }

    /// Writes the headers, unless they are there.
    fn write(&self, session: &Session<'_>) -> Result<PathBuf> {
        let directory = self.directory(session);
        fs::create_dir_all(&directory)?;
        for (name, text) in self.headers {
            let path = directory.join(name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::publish_if_changed(&path, text.as_bytes())?;
        }
        Ok(directory)
    }
}

/// Where the headers for all languages are.
pub(crate) fn directory(session: &Session<'_>) -> PathBuf {
    COMMON.directory(session)
}

/// Where all of them are.
pub(crate) fn parent(session: &Session<'_>) -> PathBuf {
    session.cache().dir().join("include")
}

/// The flags with which clang finds the headers, before those of a C library.
pub(crate) fn flags(session: &Session<'_>) -> Result<impl Iterator<Item = Arg> + use<>> {
    let directory = directory(session);
    let mut written = session.shared.own_headers.lock().unwrap_or_else(PoisonError::into_inner);
    // The cache may be emptied, or replaced by another one, during the build.
    if written.as_deref() != Some(&*directory) || !directory.join("cassert").exists() {
        COMMON.write(session)?;
        *written = Some(directory.clone());
    }
    Ok(texts(["-isystem".into(), directory.into_os_string()]))
}

/// The flags with which clang finds the headers for C and C++ on the CPU: before its own, which refuse it.
pub(crate) fn host_flags(session: &Session<'_>) -> Result<impl Iterator<Item = Arg> + use<>> {
    let directory = HOST.write(session)?;
    Ok(texts(["-isystem".into(), directory.into_os_string()]).chain(flags(session)?))
}

/// The flags with which clang includes, behind the headers of a CUDA toolkit, what nvcc has built in.
pub(crate) fn toolkit_flags(session: &Session<'_>) -> Result<[String; 4]> {
    let directory = BESIDE_TOOLKIT.write(session)?.display().to_string();
    Ok(["-isystem".to_string(), directory, "-include".to_string(), BUILT_IN.to_string()])
}

/// The flags with which clang finds what stands for the headers of a CUDA toolkit, and of ROCm.
pub(crate) fn cuda_flags(session: &Session<'_>) -> Result<Vec<String>> {
    let mut flags = Vec::new();
    let hip = session.sources.has_language(Language::Hip).then_some(&HIP);
    for folder in [&CUDA].into_iter().chain(hip) {
        flags.push("-isystem".to_string());
        flags.push(folder.write(session)?.display().to_string());
    }
    Ok(flags)
}

/// The path and the text of each that a command with `arguments` finds.
pub(crate) fn texts_of(session: &Session<'_>, arguments: &[&OsStr]) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for folder in FOLDERS {
        let directory = folder.directory(session);
        if arguments.contains(&directory.as_os_str()) {
            found.extend(folder.headers.iter().map(|(name, text)| (directory.join(name), text.to_string())));
        }
    }
    found
}

/// Whether a compiler read `path` here.
pub(crate) fn has(session: &Session<'_>, path: &Path) -> bool {
    FOLDERS.iter().any(|folder| path.starts_with(folder.directory(session)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digest of each folder's headers.
    const KNOWN: [(&str, &str); 5] = [
        ("include/own-4", "cbb76602c69d7a90"),
        ("include/host-1", "0133472da0f52f61"),
        ("include/cuda-toolkit-2", "0611dd75cfaa9f83"),
        ("include/cuda-15", "e917ca34c290d490"),
        ("include/hip-1", "225ee1a040c72706"),
    ];

    #[test]
    fn headers_are_those_of_the_number_of_their_folder() {
        for (folder, (name, known)) in FOLDERS.iter().zip(KNOWN) {
            let mut hasher = blake3::Hasher::new();
            for (name, text) in folder.headers {
                hasher.update(name.as_bytes()).update(b"\n").update(text.as_bytes());
            }
            let digest = hasher.finalize().to_hex();
            let digest = &digest.as_str()[..16];
            assert!(
                (folder.name, digest) == (name, known),
                "headers of `{name}` have changed\n\
                 hint: increase its number, and set the digest in `KNOWN` to \"{digest}\"",
            );
        }
    }
}
