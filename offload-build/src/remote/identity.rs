//! Identity of compilers by content: machines with the same packages share results, whatever the paths and timestamps are.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use offload_format::Hash128;
use offload_protocol::remote::{FileIdentity, Program, Reply, Request};

use super::Remote;
use super::tools::ToolIdentity;
use crate::cache::KeyBuilder;
use crate::error::Result;
use crate::fs;
use crate::tool::{Context, Tool, file_stamp};

/// The libraries that ocloc opens at run time.
const OCLOC_LIBRARIES: [&str; 5] =
    ["libocloc.so", "libigc.so", "libigdfcl.so", "libiga64.so", "libopencl-clang"];
/// The programs and files of nvcc, relative to its directory.
const NVCC_FILES: [&str; 6] = [
    "ptxas",
    "cudafe++",
    "fatbinary",
    "nvcc.profile",
    "../nvvm/bin/cicc",
    "../nvvm/libdevice/libdevice.10.bc",
];

impl Remote {
    /// The digest of `tool` with its libraries; `None` if it is unknown, or if the tool is a driver that starts others.
    pub(crate) fn tool_hash(&self, context: &Context, tool: &Tool) -> Option<Hash128> {
        Some(self.identified(context, tool)?.hash)
    }

    /// The files of `tool` and of its libraries, by canonical path.
    pub(crate) fn tool_files(&self, context: &Context, tool: &Tool) -> Option<Vec<PathBuf>> {
        Some(self.identified(context, tool)?.files.clone())
    }

    fn identified(&self, context: &Context, tool: &Tool) -> Option<Arc<ToolIdentity>> {
        if let Some(known) = self.tools.get(&tool.path) {
            return Some(known);
        }
        Some(self.tools.put(&tool.path, self.identify(context, tool)?))
    }

    fn identify(&self, context: &Context, tool: &Tool) -> Option<ToolIdentity> {
        let program = program(context, tool)?;
        let key = KeyBuilder::new("tool by content").part(tool.identity().ok()?.as_bytes());
        let key = key.part(format!("{program:?}").as_bytes()).finish();
        let _lock = context.cache.lock(key);
        let known = context.cache.get_text(key).and_then(|text| parse_record(&text));
        if known.is_some() {
            return known;
        }
        let Some(Reply::Identified(files)) = self.ask(context, &Request::Identify(program)) else {
            return None;
        };
        let hash = hash(&files, &tool.version);
        let _ = context.cache.put(key, record(&files, hash).ok()?.as_bytes());
        Some(ToolIdentity { hash, files: files.into_iter().map(|file| file.path.into()).collect() })
    }
}

/// `tool` with its libraries and other files.
pub(crate) fn program(context: &Context, tool: &Tool) -> Option<Program> {
    let path = tool.path.canonicalize().ok()?;
    let name = tool.path.file_name()?.to_str()?;
    if ["hipcc", "icpx", "amdclang++"].contains(&name) {
        return None;
    }
    let opened: &[&str] = if name.starts_with("ocloc") { &OCLOC_LIBRARIES } else { &[] };
    let started: &[&str] = if name == "nvcc" { &NVCC_FILES } else { &[] };
    let directory = path.parent()?;
    let mut others = Vec::new();
    for name in started {
        let file = directory.join(name);
        if file.is_file()
            && let Some(text) = file.to_str()
        {
            others.push(text.to_string());
        }
    }
    let directories =
        context.env.toolchain_libraries(&tool.path).into_iter().chain(context.libraries.clone());
    Some(Program {
        path: tool.path.to_str()?.to_string(),
        library_directories: directories.filter_map(|dir| dir.to_str().map(str::to_string)).collect(),
        opened: opened.iter().map(|name| name.to_string()).collect(),
        others,
    })
}

/// The digest of files by name and content; directories do not matter.
fn hash(files: &[FileIdentity], version: &str) -> Hash128 {
    let mut named = Vec::new();
    for file in files {
        let name = Path::new(&file.path).file_name().unwrap_or_default();
        named.push((name.as_encoded_bytes(), file.sha256));
    }
    named.sort();
    let mut key = KeyBuilder::new("files of a tool").part(version.as_bytes());
    for (name, content) in &named {
        key = key.part(name).part(content);
    }
    key.finish().hash()
}

/// A record of the digest, with the stamp of each file.
fn record(files: &[FileIdentity], hash: Hash128) -> Result<String> {
    let mut lines = vec![hash.to_string()];
    for file in files {
        lines.push(file_stamp(Path::new(&file.path))?);
        lines.push(file.path.clone());
    }
    Ok(lines.join("\n"))
}

/// Parses a record; `None` if a file has changed.
fn parse_record(text: &str) -> Option<ToolIdentity> {
    let mut lines = text.lines();
    let hash = lines.next()?.parse().ok()?;
    let mut files = Vec::new();
    while let (Some(stamp), Some(path)) = (lines.next(), lines.next()) {
        if file_stamp(Path::new(path)).ok()? != stamp {
            return None;
        }
        files.push(path.into());
    }
    Some(ToolIdentity { hash, files })
}

/// The digest of an input file, cached by its stamp.
pub(crate) fn file_hash(context: &Context, path: &Path) -> Result<Hash128> {
    let key = KeyBuilder::new("content of a file").part(file_stamp(path)?.as_bytes()).finish();
    let known = context.cache.get_text(key).and_then(|text| text.parse().ok());
    if let Some(hash) = known {
        return Ok(hash);
    }
    let hash = Hash128::digest(&fs::read(path)?);
    context.cache.put(key, hash.to_string().as_bytes())?;
    Ok(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, byte: u8) -> FileIdentity {
        FileIdentity { path: path.into(), sha256: [byte; 32] }
    }

    #[test]
    fn places_and_order_do_not_count() {
        let one = hash(&[file("/usr/bin/clang", 1), file("/usr/lib/libLLVM.so", 2)], "22");
        let other = hash(&[file("/opt/me/libLLVM.so", 2), file("/opt/me/clang", 1)], "22");
        assert_eq!(one, other);
        assert_ne!(one, hash(&[file("/usr/bin/clang", 1), file("/usr/lib/libLLVM.so", 3)], "22"));
        assert_ne!(one, hash(&[file("/usr/bin/clang", 1), file("/usr/lib/libLLVM.so", 2)], "23"));
        assert_ne!(one, hash(&[file("/usr/bin/clang", 1)], "22"));
    }

    #[test]
    fn a_record_holds_while_its_files_do() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tool");
        std::fs::write(&path, "a").unwrap();
        let text = record(&[file(path.to_str().unwrap(), 1)], Hash128([5; 16])).unwrap();
        let identified = ToolIdentity { hash: Hash128([5; 16]), files: vec![path.clone()] };
        assert_eq!(parse_record(&text), Some(identified));
        std::fs::write(&path, "ab").unwrap();
        assert_eq!(parse_record(&text), None);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(parse_record(&text), None);
    }
}
