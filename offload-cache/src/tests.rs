//! Entries of the cache: creation, damage, removal and use.

use std::time::{Duration, SystemTime};

use super::*;

pub(crate) fn cache(limits: Limits) -> (tempfile::TempDir, Cache) {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::at(dir.path().join(VERSION), limits).unwrap();
    (dir, cache)
}

pub(crate) fn key(text: &str) -> Key {
    KeyBuilder::new("test").part(text.as_bytes()).finish()
}

/// Makes a file look as if it was last used `ago`.
pub(crate) fn age(path: &Path, ago: Duration) {
    File::open(path).unwrap().set_modified(SystemTime::now() - ago).unwrap();
}

fn unused(path: &Path) -> Duration {
    SystemTime::now().duration_since(path.metadata().unwrap().modified().unwrap()).unwrap_or_default()
}

#[test]
fn an_entry_is_made_once() {
    let (_dir, cache) = cache(Limits::NONE);
    cache.get_or(key("a"), || Ok::<_, Error>(b"made".to_vec())).unwrap();
    let blob = cache.get_or::<Error>(key("a"), || panic!("made again")).unwrap();
    assert_eq!(blob.read().unwrap(), b"made");
}

/// The content of the entry `a`, and how often it was made.
fn read_or_make(cache: &Cache) -> (Vec<u8>, u32) {
    let made = std::cell::Cell::new(0);
    cache.distrusted.store(false, Ordering::Relaxed);
    let content = cache.retry_lost_entries(&cache.dir().join("out"), || {
        cache
            .get_or(key("a"), || {
                made.set(made.get() + 1);
                Ok::<_, Error>(b"some bytes".to_vec())
            })?
            .read()
    });
    (content.unwrap(), made.get())
}

#[test]
fn every_damage_is_missing_and_made_anew() {
    let (_dir, cache) = cache(Limits::NONE);
    let path = cache.put(key("a"), b"some bytes").unwrap().path;
    let good = std::fs::read(&path).unwrap();
    assert_eq!(read_or_make(&cache), (b"some bytes".to_vec(), 0));
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1;
        for damaged in [&bad[..], &good[..at]] {
            std::fs::write(&path, damaged).unwrap();
            assert_eq!(read_or_make(&cache), (b"some bytes".to_vec(), 1), "byte {at} of {}", damaged.len());
        }
    }
}

/// Whole and undamaged, they are the wrong images all the same.
#[test]
fn exchanged_entries_are_made_anew() {
    let (_dir, cache) = cache(Limits::NONE);
    let names = ["for one target", "for another"];
    let paths = names.map(|name| cache.put(key(name), name.as_bytes()).unwrap().path);
    names.iter().for_each(|name| cache.put_dependencies(key(name), name).unwrap());
    let dependencies = names.map(|name| cache.path(key(name), "deps"));
    for [one, other] in [&paths, &dependencies] {
        let kept = std::fs::read(one).unwrap();
        std::fs::rename(other, one).unwrap();
        std::fs::write(other, kept).unwrap();
    }
    for name in names {
        assert_eq!(cache.dependencies(key(name)), None);
        assert_eq!(cache.get_text(key(name)), None);
        let blob = cache.get_or(key(name), || Ok::<_, Error>(name.as_bytes().to_vec())).unwrap();
        assert_eq!(blob.read().unwrap(), name.as_bytes());
    }
}

#[test]
fn results_and_dependencies_are_no_substitutes() {
    let (_dir, cache) = cache(Limits::NONE);
    cache.put_dependencies(key("a"), "read").unwrap();
    std::fs::rename(cache.path(key("a"), "deps"), cache.path(key("a"), "blob")).unwrap();
    assert!(cache.get(key("a")).is_none());
}

#[test]
fn an_entry_that_vanishes_is_made_anew() {
    let (_dir, cache) = cache(Limits::NONE);
    let made = std::cell::Cell::new(0);
    let content = cache.retry_lost_entries(&cache.dir().join("out"), || {
        let blob = cache.get_or(key("a"), || {
            made.set(made.get() + 1);
            Ok::<_, Error>(b"made".to_vec())
        })?;
        if made.get() == 1 {
            std::fs::remove_file(&blob.path).unwrap();
        }
        blob.read()
    });
    assert_eq!((content.unwrap(), made.get()), (b"made".to_vec(), 2));
}

/// The last of ten results, each made of the one before, and whether the cache was distrusted meanwhile.
fn make_chain(cache: &Cache) -> (Vec<u8>, bool) {
    let made = cache.retry_lost_entries(&cache.dir().join("out"), || {
        let mut content = b"start".to_vec();
        for at in 0..10 {
            let key = KeyBuilder::new("link").part(&[at]).part(&content).finish();
            content = cache.get_or(key, || Ok::<_, Error>([&content[..], b"+"].concat()))?.read()?;
        }
        Ok::<_, Error>((content, cache.distrusted.load(Ordering::Relaxed)))
    });
    made.unwrap()
}

/// A chain of results of which every one is damaged takes one attempt more, not one for each.
#[test]
fn damage_everywhere_is_made_good_at_once() {
    let (_dir, cache) = cache(Limits::NONE);
    let (made, distrusted) = make_chain(&cache);
    assert!(!distrusted);
    for shard in std::fs::read_dir(cache.dir()).unwrap().map(|entry| entry.unwrap().path()) {
        for file in std::fs::read_dir(shard).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            let mut bytes = std::fs::read(&file).unwrap();
            *bytes.last_mut().unwrap() ^= 1;
            std::fs::write(&file, bytes).unwrap();
        }
    }
    assert_eq!(make_chain(&cache), (made, true));
}

#[test]
fn what_always_vanishes_is_an_error() {
    let (_dir, cache) = cache(Limits::NONE);
    let attempts = std::cell::Cell::new(0);
    let error = cache.retry_lost_entries(&cache.dir().join("out"), || {
        attempts.set(attempts.get() + 1);
        let blob = cache.put(key("a"), b"x")?;
        std::fs::remove_file(&blob.path).unwrap();
        blob.read()
    });
    assert!(error.unwrap_err().to_string().contains("damaged or removed while it was needed"));
    assert_eq!(attempts.get(), 4);
}

/// As where a full disk is cleaned, or another build damages everything.
#[test]
fn where_others_take_all_entries_away_a_build_has_a_cache_of_its_own() {
    let (_dir, cache) = cache(Limits::NONE);
    let out = tempfile::tempdir().unwrap();
    let shared = cache.dir().to_path_buf();
    let content = cache.retry_lost_entries(out.path(), || {
        let blob = cache.put(key("a"), b"made")?;
        if blob.path.starts_with(&shared) {
            std::fs::remove_file(&blob.path).unwrap();
        }
        blob.read()
    });
    assert_eq!(content.unwrap(), b"made");
    assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 0);
}

#[test]
fn other_errors_are_not_repeated() {
    let (_dir, cache) = cache(Limits::NONE);
    let attempts = std::cell::Cell::new(0);
    let result: Result<()> = cache.retry_lost_entries(&cache.dir().join("out"), || {
        attempts.set(attempts.get() + 1);
        Err(Error::io("read", Path::new("x"), std::io::Error::other("y")))
    });
    assert!(result.is_err());
    assert_eq!(attempts.get(), 1);
}

#[test]
fn a_use_is_noted_once_a_day() {
    let (_dir, cache) = cache(Limits::NONE);
    let blob = cache.put(key("a"), b"x").unwrap().path;
    cache.put_dependencies(key("a"), "read").unwrap();
    let deps = cache.path(key("a"), "deps");
    for path in [&blob, &deps] {
        age(path, DAY / 2);
    }
    cache.get(key("a")).unwrap();
    cache.dependencies(key("a")).unwrap();
    for path in [&blob, &deps] {
        assert!(unused(path) >= DAY / 2, "{}", path.display());
        age(path, DAY * 2);
    }
    cache.get(key("a")).unwrap();
    cache.dependencies(key("a")).unwrap();
    for path in [&blob, &deps] {
        assert!(unused(path) < DAY / 2, "{}", path.display());
    }
}

#[test]
fn parts_do_not_run_together() {
    let one = KeyBuilder::new("x").part(b"ab").part(b"c").finish();
    let two = KeyBuilder::new("x").part(b"a").part(b"bc").finish();
    assert_ne!(one, two);
}

fn unused_for(path: &std::path::Path) -> Duration {
    path.metadata().unwrap().modified().unwrap().elapsed().unwrap()
}

#[test]
fn a_pack_is_written_once_and_seems_older_than_the_build() {
    let (_dir, cache) = cache(Limits::NONE);
    let id = Hash128::digest(b"pack");
    let path = cache.put_pack(id, 4, |out| out.write_all(b"pack")).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"pack");
    assert!(path.ends_with(format!("{}/{id}.pack", &id.to_string()[..2])));
    assert!(unused_for(&path) >= BEFORE);
    cache.put_pack(id, 4, |_| panic!("it is there")).unwrap();
    // A use after days updates the file's time, and not its content.
    age(&path, BEFORE + DAY * 3);
    cache.put_pack(id, 4, |_| panic!("it is there")).unwrap();
    assert!((BEFORE..BEFORE + DAY).contains(&unused_for(&path)));
    // A truncated pack is written again.
    std::fs::write(&path, b"pa").unwrap();
    cache.put_pack(id, 4, |out| out.write_all(b"pack")).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"pack");
}
