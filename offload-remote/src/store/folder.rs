//! A shared folder in the layout of Bazel's `--disk_cache`: `ac/ab/<SHA-256>` and `cas/ab/<SHA-256>`.
//!
//! Files are published by rename, so that any number of machines may write at once.
//! <https://bazel.build/remote/caching#disk-cache>

mod tree;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::SystemTime;

use bytes::Bytes;
use prost::Message;
use tonic::async_trait;

use self::tree::{RelativeFile, Tree, is_link};
use super::interface::{Blob, Content, Store};
use crate::api::ActionResult;
use crate::digest::Digest;
use crate::fault::{Fault, FaultKind};

#[derive(Clone, Debug)]
pub(super) struct Folder {
    tree: Tree,
}

/// The largest action result; larger files are not results.
const LARGEST_RESULT: u64 = 16 << 20;
/// The directories of action results and of blobs.
const RESULTS: &str = "ac";
const BLOBS: &str = "cas";

impl Folder {
    pub(super) fn new(path: &Path) -> Folder {
        Folder { tree: Tree { root: path.to_path_buf() } }
    }

    fn read(&self, kind: &str, digest: &Digest, limit: u64) -> Result<Option<Bytes>, Fault> {
        let hex = digest.hex();
        let place = relative_file(kind, &hex);
        match self.read_file(place, limit) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(self.fault("read", place, &error)),
        }
    }

    fn read_file(&self, place: RelativeFile<'_>, limit: u64) -> io::Result<Bytes> {
        let mut file = self.tree.open(place)?;
        // The time of last use, for eviction. A reader without write access cannot set it.
        let _ = file.set_modified(SystemTime::now());
        let mut bytes = Vec::new();
        (&mut file).take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        Ok(Bytes::from(bytes))
    }

    fn write(&self, kind: &str, digest: &Digest, content: &Content) -> Result<(), Fault> {
        let hex = digest.hex();
        let place = relative_file(kind, &hex);
        let written = self.tree.publish(place, |file| match content {
            Content::Bytes(bytes) => file.write_all(bytes),
            Content::File(source) => io::copy(&mut File::open(source)?, file).map(drop),
        });
        written.map_err(|error| self.fault("write", place, &error))
    }

    /// Whether there is a file of this size. A full disk may have left a truncated one, which is written again.
    fn has(&self, digest: &Digest) -> bool {
        let hex = digest.hex();
        let metadata = self.tree.open(relative_file(BLOBS, &hex)).and_then(|file| file.metadata());
        metadata.is_ok_and(|metadata| metadata.len() == digest.size)
    }

    fn fault(&self, action: &str, place: RelativeFile<'_>, error: &io::Error) -> Fault {
        let [kind, part] = place.directories;
        file_fault(action, &self.tree.root.join(kind).join(part).join(place.name), error)
    }
}

fn relative_file<'a>(kind: &'a str, hex: &'a str) -> RelativeFile<'a> {
    RelativeFile { directories: [kind, hex.get(..2).unwrap_or_default()], name: hex }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) || is_link(error)
}

fn file_fault(action: &str, path: &Path, error: &io::Error) -> Fault {
    let fault = Fault { kind: FaultKind::Lasting, ..Fault::file(action, path, error) };
    match error.kind() {
        _ if is_link(error) => {
            fault.hint("symbolic links in the folder are not followed: others can make them")
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            Fault { kind: FaultKind::Denied, ..fault }.hint("who may only read sets `upload = false`")
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

/// Runs blocking file I/O outside the runtime's threads.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let ended = tokio::task::spawn_blocking(work).await;
    ended.unwrap_or_else(|error| Err(Fault::lasting(error.to_string())))
}

#[async_trait]
impl Store for Folder {
    async fn result(&self, action: &Digest, _inline: &[String]) -> Result<Option<ActionResult>, Fault> {
        let folder = self.clone();
        let action = *action;
        let bytes = run_blocking(move || folder.read(RESULTS, &action, LARGEST_RESULT)).await?;
        Ok(bytes.and_then(|bytes| ActionResult::decode(bytes).ok()))
    }

    async fn put_result(&self, action: &Digest, result: &ActionResult) -> Result<(), Fault> {
        let folder = self.clone();
        let action = *action;
        let content = Content::Bytes(result.encode_to_vec().into());
        run_blocking(move || folder.write(RESULTS, &action, &content)).await
    }

    async fn missing(&self, digests: &[Digest]) -> Result<Vec<Digest>, Fault> {
        let folder = self.clone();
        let digests = digests.to_vec();
        run_blocking(move || Ok(digests.into_iter().filter(|digest| !folder.has(digest)).collect())).await
    }

    async fn blobs(&self, digests: &[Digest]) -> Result<Vec<Option<Bytes>>, Fault> {
        let folder = self.clone();
        let digests = digests.to_vec();
        run_blocking(move || digests.iter().map(|digest| folder.read(BLOBS, digest, digest.size)).collect())
            .await
    }

    async fn put(&self, blobs: &[Blob]) -> Result<(), Fault> {
        let folder = self.clone();
        let blobs = blobs.to_vec();
        run_blocking(move || {
            blobs.iter().try_for_each(|blob| folder.write(BLOBS, &blob.digest, &blob.content))
        })
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
        let blob = Blob::from_bytes(&b"content"[..]);
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
        assert_eq!(folder.result(&Digest::from_bytes(b""), &[]).await, Ok(None));
        let fault = folder.put(&[Blob::from_bytes(&b"x"[..])]).await.unwrap_err();
        assert!(fault.message.starts_with(&format!("cannot write `{}", file.display())), "{fault:?}");
        let denied = file_fault("write", &file, &io::ErrorKind::PermissionDenied.into());
        assert_eq!(denied.kind, FaultKind::Denied);
    }
}
