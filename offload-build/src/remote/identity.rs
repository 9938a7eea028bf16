//! Compilers by their content: two machines with the same packages share results, whatever paths and times their files
//! have.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use offload_format::Hash128;
use offload_format::remote::{FileIdentity, Program, Reply, Request};

use super::Remote;
use super::known::Identified;
use crate::cache::KeyBuilder;
use crate::error::Result;
use crate::fs;
use crate::tool::{Context, Tool, file_stamp};

/// What ocloc opens while it runs.
const OF_OCLOC: [&str; 5] = ["libocloc.so", "libigc.so", "libigdfcl.so", "libiga64.so", "libopencl-clang"];
/// What nvcc starts and reads, from where it lies.
const OF_NVCC: [&str; 6] = [
    "ptxas",
    "cudafe++",
    "fatbinary",
    "nvcc.profile",
    "../nvvm/bin/cicc",
    "../nvvm/libdevice/libdevice.10.bc",
];

impl Remote {
    /// The content of `tool` with its libraries; `None` if it is not known, or if the tool is a script that starts others.
    pub(crate) fn tool_hash(&self, context: &Context, tool: &Tool) -> Option<Hash128> {
        Some(self.identified(context, tool)?.hash)
    }

    /// The files of `tool` and of its libraries, without links.
    pub(crate) fn tool_files(&self, context: &Context, tool: &Tool) -> Option<Vec<PathBuf>> {
        Some(self.identified(context, tool)?.files.clone())
    }

    fn identified(&self, context: &Context, tool: &Tool) -> Option<Arc<Identified>> {
        if let Some(known) = self.tools.get(&tool.path) {
            return Some(known);
        }
        Some(self.tools.put(&tool.path, self.identify(context, tool)?))
    }

    fn identify(&self, context: &Context, tool: &Tool) -> Option<Identified> {
        let program = program(context, tool)?;
        let key = KeyBuilder::new("tool by content").part(tool.identity().ok()?.as_bytes());
        let key = key.part(format!("{program:?}").as_bytes()).finish();
        let _lock = context.cache.lock(key);
        let known = context.cache.get_text(key).and_then(|text| recorded(&text));
        if known.is_some() {
            return known;
        }
        let Some(Reply::Identified(files)) = self.ask(context, &Request::Identify(program)) else {
            return None;
        };
        let hash = hash(&files, &tool.version);
        let _ = context.cache.put(key, record(&files, hash).ok()?.as_bytes());
        Some(Identified { hash, files: files.into_iter().map(|file| file.path.into()).collect() })
    }
}

/// `tool` and what belongs to it.
pub(crate) fn program(context: &Context, tool: &Tool) -> Option<Program> {
    let path = tool.path.canonicalize().ok()?;
    let name = tool.path.file_name()?.to_str()?;
    if ["hipcc", "icpx", "amdclang++"].contains(&name) {
        return None;
    }
    let opened: &[&str] = if name.starts_with("ocloc") { &OF_OCLOC } else { &[] };
    let started: &[&str] = if name == "nvcc" { &OF_NVCC } else { &[] };
    let beside = |name: &&str| path.parent().map(|dir| dir.join(name)).filter(|path| path.is_file());
    let others: Vec<PathBuf> = started.iter().filter_map(beside).collect();
    let directories =
        context.env.toolchain_libraries(&tool.path).into_iter().chain(context.libraries.clone());
    let text = |path: &Path| path.to_str().map(str::to_string);
    Some(Program {
        path: text(&tool.path)?,
        library_directories: directories.filter_map(|dir| text(&dir)).collect(),
        opened: opened.iter().map(|name| name.to_string()).collect(),
        others: others.iter().filter_map(|path| text(path)).collect(),
    })
}

/// Files count by name and content, not by place.
fn hash(files: &[FileIdentity], version: &str) -> Hash128 {
    let name = |file: &FileIdentity| {
        let name = Path::new(&file.path).file_name().unwrap_or_default();
        (name.as_encoded_bytes().to_vec(), file.sha256)
    };
    let mut named: Vec<_> = files.iter().map(name).collect();
    named.sort();
    let mut key = KeyBuilder::new("files of a tool").part(version.as_bytes());
    for (name, content) in &named {
        key = key.part(name).part(content);
    }
    key.finish().hash()
}

/// The hash, and the state of each file that it is of.
fn record(files: &[FileIdentity], hash: Hash128) -> Result<String> {
    let mut lines = vec![hash.to_string()];
    for file in files {
        lines.push(file_stamp(Path::new(&file.path))?);
        lines.push(file.path.clone());
    }
    Ok(lines.join("\n"))
}

/// What a record says, if its files have not changed.
fn recorded(text: &str) -> Option<Identified> {
    let mut lines = text.lines();
    let hash = lines.next()?.parse().ok()?;
    let mut files = Vec::new();
    while let (Some(stamp), Some(path)) = (lines.next(), lines.next()) {
        if file_stamp(Path::new(path)).ok()? != stamp {
            return None;
        }
        files.push(path.into());
    }
    Some(Identified { hash, files })
}

/// The content of a file that a command reads, hashed once for each state of it.
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
        let identified = Identified { hash: Hash128([5; 16]), files: vec![path.clone()] };
        assert_eq!(recorded(&text), Some(identified));
        std::fs::write(&path, "ab").unwrap();
        assert_eq!(recorded(&text), None);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(recorded(&text), None);
    }
}
