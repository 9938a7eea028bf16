//! A folder that machines share, laid out as Bazel's `--disk_cache`: `ac/ab/<SHA-256>` and `cas/ab/<SHA-256>`.
//!
//! Files appear whole, by rename, so that any number of machines may write at once.
//! <https://bazel.build/remote/caching#disk-cache>

mod tree;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::SystemTime;

use bytes::Bytes;
use prost::Message;
use tonic::async_trait;

use self::tree::{Place, Tree, is_link};
use super::interface::{Blob, Content, Store};
use crate::api::ActionResult;
use crate::digest::Digest;
use crate::fault::{Fault, Kind};

#[derive(Clone, Debug)]
pub(super) struct Folder {
    tree: Tree,
}

/// Results of actions are small: a larger file is none.
const LARGEST_RESULT: u64 = 16 << 20;
/// The directories with results of actions, and with blobs.
const RESULTS: &str = "ac";
const BLOBS: &str = "cas";

impl Folder {
    pub(super) fn new(path: &Path) -> Folder {
        Folder { tree: Tree { root: path.to_path_buf() } }
    }

    fn read(&self, kind: &str, digest: &Digest, limit: u64) -> Result<Option<Bytes>, Fault> {
        let hex = digest.hex();
        let place = place(kind, &hex);
        let read = || {
            let mut file = self.tree.open(place)?;
            // Who removes old files goes by this time. A reader without the right to set it reads all the same.
            let _ = file.set_modified(SystemTime::now());
            let mut bytes = Vec::new();
            (&mut file).take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
            Ok(Bytes::from(bytes))
        };
        match read() {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(self.fault("read", place, &error)),
        }
    }

    fn write(&self, kind: &str, digest: &Digest, content: &Content) -> Result<(), Fault> {
        let hex = digest.hex();
        let place = place(kind, &hex);
        let written = self.tree.publish(place, |file| match content {
            Content::Bytes(bytes) => file.write_all(bytes),
            Content::File(source) => io::copy(&mut File::open(source)?, file).map(drop),
        });
        written.map_err(|error| self.fault("write", place, &error))
    }

    /// Whether there is a file of this size. One of another size is what a full disk has left, and is written anew.
    fn has(&self, digest: &Digest) -> bool {
        let hex = digest.hex();
        let metadata = self.tree.open(place(BLOBS, &hex)).and_then(|file| file.metadata());
        metadata.is_ok_and(|metadata| metadata.len() == digest.size)
    }

    fn fault(&self, action: &str, place: Place<'_>, error: &io::Error) -> Fault {
        let [kind, part] = place.directories;
        file_fault(action, &self.tree.root.join(kind).join(part).join(place.name), error)
    }
}

fn place<'a>(kind: &'a str, hex: &'a str) -> Place<'a> {
    Place { directories: [kind, hex.get(..2).unwrap_or_default()], name: hex }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) || is_link(error)
}

fn file_fault(action: &str, path: &Path, error: &io::Error) -> Fault {
    let fault = Fault { kind: Kind::Lasting, ..Fault::file(action, path, error) };
    match error.kind() {
        _ if is_link(error) => {
            fault.hint("symbolic links in the folder are not followed: others can make them")
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            Fault { kind: Kind::Denied, ..fault }.hint("who may only read sets `upload = false`")
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            fault.hint("the disk is full: remove the oldest files of the folder")
        }
        io::ErrorKind::NotADirectory => fault.hint(
            "is something else where a directory is expected, or a symbolic link, which is not followed?",
        ),
        _ => fault,
    }
}

/// Work on files blocks, which no thread of the runtime may.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let ended = tokio::task::spawn_blocking(work).await;
    ended.unwrap_or_else(|error| Err(Fault::lasting(error.to_string())))
}

#[async_trait]
impl Store for Folder {
    async fn result(&self, action: &Digest, _inline: &[String]) -> Result<Option<ActionResult>, Fault> {
        let (folder, action) = (self.clone(), *action);
        let bytes = aside(move || folder.read(RESULTS, &action, LARGEST_RESULT)).await?;
        Ok(bytes.and_then(|bytes| ActionResult::decode(bytes).ok()))
    }

    async fn put_result(&self, action: &Digest, result: &ActionResult) -> Result<(), Fault> {
        let (folder, action) = (self.clone(), *action);
        let content = Content::Bytes(result.encode_to_vec().into());
        aside(move || folder.write(RESULTS, &action, &content)).await
    }

    async fn missing(&self, digests: &[Digest]) -> Result<Vec<Digest>, Fault> {
        let (folder, digests) = (self.clone(), digests.to_vec());
        aside(move || Ok(digests.into_iter().filter(|digest| !folder.has(digest)).collect())).await
    }

    async fn blobs(&self, digests: &[Digest]) -> Result<Vec<Option<Bytes>>, Fault> {
        let (folder, digests) = (self.clone(), digests.to_vec());
        aside(move || digests.iter().map(|digest| folder.read(BLOBS, digest, digest.size)).collect()).await
    }

    async fn put(&self, blobs: &[Blob]) -> Result<(), Fault> {
        let (folder, blobs) = (self.clone(), blobs.to_vec());
        aside(move || blobs.iter().try_for_each(|blob| folder.write(BLOBS, &blob.digest, &blob.content)))
            .await
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[tokio::test]
    async fn what_is_put_lies_where_bazel_looks_for_it() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::new(&dir.path().join("cache"));
        let blob = Blob::of(&b"content"[..]);
        assert_eq!(folder.missing(&[blob.digest]).await, Ok(vec![blob.digest]));
        assert_eq!(folder.blobs(&[blob.digest]).await, Ok(vec![None]));
        folder.put(std::slice::from_ref(&blob)).await.unwrap();
        assert_eq!(folder.missing(&[blob.digest]).await, Ok(vec![]));
        let path = dir.path().join("cache/cas/ed").join(blob.digest.hex());
        assert_eq!(fs::read(&path).unwrap(), b"content");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o444, 0o444);

        let result = ActionResult { exit_code: 7, ..Default::default() };
        assert_eq!(folder.result(&blob.digest, &[]).await, Ok(None));
        folder.put_result(&blob.digest, &result).await.unwrap();
        assert_eq!(folder.result(&blob.digest, &[]).await, Ok(Some(result)));
        assert_eq!(fs::read_dir(dir.path().join("cache/tmp")).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn a_folder_that_cannot_be_written_is_named_with_a_hint() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let folder = Folder::new(&file);
        assert_eq!(folder.result(&Digest::of(b""), &[]).await, Ok(None));
        let fault = folder.put(&[Blob::of(&b"x"[..])]).await.unwrap_err();
        assert!(fault.message.starts_with(&format!("cannot write `{}", file.display())), "{fault:?}");
        let denied = file_fault("write", &file, &io::ErrorKind::PermissionDenied.into());
        assert_eq!(denied.kind, Kind::Denied);
    }
}
