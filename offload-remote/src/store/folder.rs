//! A folder that machines share, laid out as Bazel's `--disk_cache`: `ac/ab/<SHA-256>` and `cas/ab/<SHA-256>`.
//!
//! Files appear whole, by rename, so that any number of machines may write at once.
//! <https://bazel.build/remote/caching#disk-cache>

use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bytes::Bytes;
use prost::Message;
use tonic::async_trait;

use super::interface::{Blob, Content, Store};
use crate::api::ActionResult;
use crate::digest::Digest;
use crate::fault::{Fault, Kind};

#[derive(Clone, Debug)]
pub(super) struct Folder {
    path: PathBuf,
}

/// Results of actions are small: a larger file is none.
const LARGEST_RESULT: u64 = 16 << 20;

impl Folder {
    pub(super) fn new(path: &Path) -> Folder {
        Folder { path: path.to_path_buf() }
    }

    fn place(&self, kind: &str, digest: &Digest) -> PathBuf {
        let hex = digest.hex();
        self.path.join(kind).join(hex.get(..2).unwrap_or_default()).join(hex)
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Option<Bytes>, Fault> {
        let read = || {
            let mut file = File::open(path)?;
            // Who removes old files goes by this time. A reader without the right to set it reads all the same.
            let _ = file.set_modified(SystemTime::now());
            let mut bytes = Vec::new();
            (&mut file).take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
            Ok(Bytes::from(bytes))
        };
        match read() {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(file_fault("read", path, &error)),
        }
    }

    fn write(&self, path: &Path, content: &Content) -> Result<(), Fault> {
        let temporary = self.path.join("tmp");
        let write = || {
            fs::create_dir_all(&temporary)?;
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            // As any program makes a file: the user's mask says what others may.
            let permissions = Permissions::from_mode(0o666);
            let mut file = tempfile::Builder::new().permissions(permissions).tempfile_in(&temporary)?;
            match content {
                Content::Bytes(bytes) => file.write_all(bytes)?,
                Content::File(source) => {
                    io::copy(&mut File::open(source)?, &mut file)?;
                }
            }
            file.persist(path).map(|_| ()).map_err(|error| error.error)
        };
        write().map_err(|error| file_fault("write", path, &error))
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn file_fault(action: &str, path: &Path, error: &io::Error) -> Fault {
    let fault = Fault { kind: Kind::Lasting, ..Fault::file(action, path, error) };
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            Fault { kind: Kind::Denied, ..fault }.hint("who may only read sets `upload = false`")
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            fault.hint("the disk is full: remove the oldest files of the folder")
        }
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
        let (folder, path) = (self.clone(), self.place("ac", action));
        let bytes = aside(move || folder.read(&path, LARGEST_RESULT)).await?;
        Ok(bytes.and_then(|bytes| ActionResult::decode(bytes).ok()))
    }

    async fn put_result(&self, action: &Digest, result: &ActionResult) -> Result<(), Fault> {
        let (folder, path) = (self.clone(), self.place("ac", action));
        let content = Content::Bytes(result.encode_to_vec().into());
        aside(move || folder.write(&path, &content)).await
    }

    async fn missing(&self, digests: &[Digest]) -> Result<Vec<Digest>, Fault> {
        let (folder, digests) = (self.clone(), digests.to_vec());
        let is_there = move |digest: &Digest| {
            let metadata = fs::metadata(folder.place("cas", digest));
            // A file of another size is what a full disk has left, and is written anew.
            metadata.is_ok_and(|metadata| metadata.len() == digest.size)
        };
        aside(move || Ok(digests.into_iter().filter(|digest| !is_there(digest)).collect())).await
    }

    async fn blobs(&self, digests: &[Digest]) -> Result<Vec<Option<Bytes>>, Fault> {
        let (folder, digests) = (self.clone(), digests.to_vec());
        aside(move || {
            digests.iter().map(|digest| folder.read(&folder.place("cas", digest), digest.size)).collect()
        })
        .await
    }

    async fn put(&self, blobs: &[Blob]) -> Result<(), Fault> {
        let (folder, blobs) = (self.clone(), blobs.to_vec());
        aside(move || {
            blobs.iter().try_for_each(|blob| folder.write(&folder.place("cas", &blob.digest), &blob.content))
        })
        .await
    }
}

#[cfg(test)]
mod tests {
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
