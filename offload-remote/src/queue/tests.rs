//! The upload queue of a folder.

use std::path::Path;

use super::*;
use crate::settings::Settings;

fn remote(folder: &Path) -> Arc<Remote> {
    let settings = Settings::parse(&format!("url = \"{}\"", folder.display())).unwrap();
    Arc::new(Remote::new(settings).unwrap())
}

#[tokio::test]
async fn what_was_put_is_stored_when_a_flush_ends() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let queue = Queue::new(Arc::clone(&remote));
    for number in 0..40_u8 {
        queue.put(Hash128::digest(&[number]), vec![number; 1000]);
    }
    assert_eq!(queue.flush(Duration::from_secs(30)).await, FlushOutcome::Complete);
    assert!(queue.is_empty());
    for number in 0..40_u8 {
        assert_eq!(remote.get(Hash128::digest(&[number])).await.unwrap(), vec![number; 1000]);
    }
    assert_eq!(remote.notes.take(), "");
}

#[tokio::test]
async fn the_oldest_results_go_where_memory_is_short() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let queue = Queue::with_limit(Arc::clone(&remote), 2500);
    // No task has run yet when the last one is put.
    for number in 0..4_u8 {
        queue.put(Hash128::digest(&[number]), vec![number; 1000]);
    }
    assert_eq!(queue.flush(Duration::from_secs(30)).await, FlushOutcome::Complete);
    let mut found = Vec::new();
    for number in 0..4_u8 {
        found.push(remote.get(Hash128::digest(&[number])).await.is_some());
    }
    assert_eq!(found, [false, false, true, true]);
    assert!(remote.notes.take().contains("more slowly"));
}

#[tokio::test]
async fn nothing_is_queued_where_nothing_is_stored() {
    let dir = tempfile::tempdir().unwrap();
    let text = format!("url = \"{}\"\nupload = false", dir.path().display());
    let remote = Arc::new(Remote::new(Settings::parse(&text).unwrap()).unwrap());
    let queue = Queue::new(remote);
    queue.put(Hash128::digest(b""), vec![0]);
    assert!(queue.is_empty());
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}
