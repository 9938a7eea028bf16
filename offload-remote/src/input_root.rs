//! Input root of an action: a Merkle tree of directory messages.

use std::collections::BTreeMap;
use std::path::Path;

use offload_protocol::remote::{Action, Input, Source};
use prost::Message;

use crate::api::{Directory, DirectoryNode, FileNode};
use crate::digest::Digest;
use crate::fault::{Fault, FaultKind};
use crate::files::{FileDigest, Files};
use crate::store::{Blob, Content};

/// The input root of an action.
#[derive(Debug)]
pub(crate) struct InputRoot {
    /// The digest of the root directory.
    pub(crate) root: Digest,
    /// All directories and files.
    pub(crate) blobs: Vec<Blob>,
}

/// A directory, sorted by name as the API requires.
#[derive(Debug, Default)]
struct Folder(BTreeMap<String, Node>);

#[derive(Debug)]
enum Node {
    File(File),
    Folder(Folder),
}

#[derive(Debug)]
struct File {
    blob: Blob,
    is_executable: bool,
}

impl InputRoot {
    /// Reads the inputs of `action`. It blocks.
    ///
    /// # Errors
    /// If a file cannot be read, or two inputs have the same path.
    pub(crate) fn build(action: &Action, files: &Files) -> Result<InputRoot, Fault> {
        let mut root = Folder::default();
        for input in &action.inputs {
            root.add(input, files)?;
        }
        // The working directory has to exist.
        root.folder(&parts(&action.directory)?)?;
        let mut blobs = Vec::new();
        Ok(InputRoot { root: root.seal(&mut blobs), blobs })
    }
}

impl Folder {
    fn add(&mut self, input: &Input, files: &Files) -> Result<(), Fault> {
        let parts = parts(&input.path)?;
        match (&input.source, parts.split_last()) {
            (Source::File(path), Some((name, folders))) => {
                let file = File::read(Path::new(path), files)?;
                self.folder(folders)?.put(name, Node::File(file))
            }
            (Source::Bytes(bytes), Some((name, folders))) => {
                let file = File { blob: Blob::from_bytes(bytes.clone()), is_executable: false };
                self.folder(folders)?.put(name, Node::File(file))
            }
            (_, None) => Err(invalid("the path of an input is empty")),
        }
    }

    /// The directory at `parts`, created if missing.
    fn folder(&mut self, parts: &[&str]) -> Result<&mut Folder, Fault> {
        parts.iter().try_fold(self, |folder, part| {
            let node = folder.0.entry((*part).to_string()).or_insert_with(|| Node::Folder(Folder::default()));
            match node {
                Node::Folder(folder) => Ok(folder),
                _ => Err(invalid(format!("the input `{part}` is a file and a folder"))),
            }
        })
    }

    fn put(&mut self, name: &str, node: Node) -> Result<(), Fault> {
        match self.0.insert(name.to_string(), node) {
            None => Ok(()),
            Some(_) => Err(invalid(format!("two inputs are named `{name}`"))),
        }
    }

    /// Encodes this directory, after its subdirectories.
    fn seal(self, blobs: &mut Vec<Blob>) -> Digest {
        let mut message = Directory::default();
        for (name, node) in self.0 {
            match node {
                Node::File(File { blob, is_executable }) => {
                    let digest = Some(blob.digest.message());
                    message.files.push(FileNode { name, digest, is_executable, node_properties: None });
                    blobs.push(blob);
                }
                Node::Folder(folder) => {
                    let digest = Some(folder.seal(blobs).message());
                    message.directories.push(DirectoryNode { name, digest });
                }
            }
        }
        let blob = Blob::from_bytes(message.encode_to_vec());
        let digest = blob.digest;
        blobs.push(blob);
        digest
    }
}

impl File {
    fn read(path: &Path, files: &Files) -> Result<File, Fault> {
        let FileDigest { digest, is_executable } = files.digest(path)?;
        let blob = Blob { digest, content: Content::File(path.to_path_buf()) };
        Ok(File { blob, is_executable })
    }
}

/// The components of a path; empty for the root itself.
fn parts(path: &str) -> Result<Vec<&str>, Fault> {
    if path.is_empty() {
        return Ok(Vec::new());
    }
    let parts: Vec<&str> = path.split('/').collect();
    if parts.iter().any(|part| matches!(*part, "" | "." | "..")) {
        return Err(invalid(format!("`{path}` is not a path below the input root")));
    }
    Ok(parts)
}

fn invalid(message: impl Into<String>) -> Fault {
    Fault::new(FaultKind::Local, message)
}

#[cfg(test)]
mod tests;
