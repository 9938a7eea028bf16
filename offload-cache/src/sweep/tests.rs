//! Eviction by age and size, also beside readers.

use super::*;
use crate::directory::STAMP;
use crate::tests::{age, cache, key};
use crate::{Cache, Error};

/// Puts an entry of 100 bytes with its header, last used some days ago.
fn put(cache: &Cache, name: &str, days: u32) -> PathBuf {
    let path = cache.put(key(name), &[7; 52]).unwrap().path;
    age(&path, DAY * days + DAY / 2);
    path
}

fn run(cache: &Cache, limits: Limits) {
    sweep(cache.dir(), &limits, SystemTime::now());
}

#[test]
fn the_oldest_go_until_the_rest_is_small_enough() {
    let (_dir, cache) = cache(Limits::NONE);
    let [old, middle, new] = [("a", 3), ("b", 2), ("c", 1)].map(|(name, days)| put(&cache, name, days));
    run(&cache, Limits { size: Some(300), ..Limits::NONE });
    assert!(old.exists(), "300 bytes are not more than 300");
    run(&cache, Limits { size: Some(299), ..Limits::NONE });
    assert_eq!([&old, &middle, &new].map(|path| path.exists()), [false, true, true]);
    run(&cache, Limits { size: Some(99), ..Limits::NONE });
    assert!(!new.exists());
}

#[test]
fn what_is_unused_for_long_goes() {
    let (_dir, cache) = cache(Limits::NONE);
    let [old, new] = [("a", 5), ("b", 4)].map(|(name, days)| put(&cache, name, days));
    cache.put_dependencies(key("a"), "read").unwrap();
    let deps = old.with_extension("deps");
    age(&deps, DAY * 6);
    let pack = cache.put_pack(offload_format::Hash128::digest(b"p"), 1, |out| out.write_all(b"p")).unwrap();
    age(&pack, DAY * 6);
    run(&cache, Limits { age: Some(DAY * 5), ..Limits::NONE });
    assert_eq!([&old, &deps, &new, &pack].map(|path| path.exists()), [false, false, true, false]);
    // Used again, it is as good as new.
    cache.get(key("b")).unwrap();
    run(&cache, Limits { age: Some(DAY), ..Limits::NONE });
    assert!(new.exists());
}

#[test]
fn without_limits_nothing_goes() {
    let (_dir, cache) = cache(Limits::NONE);
    let path = put(&cache, "a", 10_000);
    run(&cache, Limits::NONE);
    assert!(path.exists());
}

#[test]
fn files_of_others_stay() {
    let (dir, cache) = cache(Limits::NONE);
    let entry = put(&cache, "a", 100);
    let shard = entry.parent().unwrap();
    let foreign = ["notes.txt", "0123.blob", "0123456789ABCDEF0123456789ABCDEF.blob"];
    let mut kept: Vec<_> = foreign.iter().map(|name| shard.join(name)).collect();
    kept.extend([cache.dir().join("important"), cache.dir().join("ab.txt"), dir.path().join("v0.0.1.txt")]);
    for path in &kept {
        fs::write(path, "x").unwrap();
    }
    let other = dir.path().join("v1.0.0");
    let folder = cache.dir().join("folder");
    for directory in [&other, &folder] {
        fs::create_dir(directory).unwrap();
        fs::write(directory.join(format!("{}.blob", "a".repeat(32))), "x").unwrap();
        kept.extend([directory.join(format!("{}.blob", "a".repeat(32))), directory.clone()]);
    }
    kept.iter().for_each(|path| age(path, DAY * 100));
    run(&cache, Limits { size: Some(1), age: Some(DAY) });
    assert!(!entry.exists());
    for path in kept {
        assert!(path.exists(), "{}", path.display());
    }
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let (dir, cache) = cache(Limits::NONE);
    let precious = dir.path().join("precious");
    fs::create_dir(&precious).unwrap();
    let inside = precious.join(format!("{}.blob", "a".repeat(32)));
    fs::write(&inside, "x").unwrap();
    age(&inside, DAY * 100);
    std::os::unix::fs::symlink(&precious, cache.dir().join("ab")).unwrap();
    std::os::unix::fs::symlink(&precious, cache.dir().join(format!("{SCRATCH_PREFIX}x"))).unwrap();
    std::os::unix::fs::symlink(&precious, dir.path().join("v0.0.1")).unwrap();
    // A link has the time of its making: look from the future.
    let later = SystemTime::now() + DAY * 200;
    sweep(cache.dir(), &Limits { size: Some(1), age: Some(DAY) }, later);
    assert!(inside.exists());
}

#[test]
fn leftovers_of_killed_builds_go_after_a_day() {
    let (_dir, cache) = cache(Limits::NONE);
    let shard = put(&cache, "a", 0).parent().unwrap().to_path_buf();
    let stale =
        [cache.dir().join(".offload-dir"), cache.dir().join(".offload-file"), shard.join(".offload-x")];
    let fresh = [cache.dir().join(".offload-now"), shard.join(".offload-now")];
    fs::create_dir(&stale[0]).unwrap();
    fs::write(stale[0].join("out"), "x").unwrap();
    for path in stale[1..].iter().chain(&fresh) {
        fs::write(path, "x").unwrap();
    }
    stale.iter().for_each(|path| age(path, DAY * 2));
    run(&cache, Limits::NONE);
    assert_eq!(stale.map(|path| path.exists()), [false; 3]);
    assert_eq!(fresh.map(|path| path.exists()), [true; 2]);
}

#[test]
fn unused_releases_go() {
    let (dir, cache) = cache(Limits::NONE);
    let releases = ["v0.0.1", "v0.0.2"].map(|name| dir.path().join(name));
    for release in &releases {
        Cache::at(release.clone(), Limits::NONE).unwrap().put(key("a"), b"x").unwrap();
    }
    age(&releases[0], DAY * 9);
    age(cache.dir(), DAY * 9);
    run(&cache, Limits { age: Some(DAY * 5), ..Limits::NONE });
    assert_eq!(releases.map(|path| path.exists()), [false, true]);
    assert!(cache.dir().exists());
}

#[test]
fn a_day_lies_between_sweeps() {
    let limits = Limits { size: Some(1), age: None };
    let (_dir, cache) = cache(limits);
    let first = put(&cache, "a", 1);
    cache.sweep();
    assert!(first.exists(), "the cache is new");
    age(&cache.dir().join(STAMP), DAY * 2);
    cache.sweep();
    assert!(!first.exists());
    let second = put(&cache, "a", 1);
    cache.sweep();
    assert!(second.exists());
    age(&cache.dir().join(STAMP), DAY * 2);
    cache.sweep();
    assert!(!second.exists());
}

/// Builds on the same directory always get the right bytes, whatever is evicted under their hands.
#[test]
fn readers_and_sweeps_do_not_disturb_each_other() {
    let (_dir, cache) = cache(Limits::NONE);
    let made = std::sync::atomic::AtomicU32::new(0);
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let sweeper = scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                run(&cache, Limits { size: Some(400), ..Limits::NONE });
            }
        });
        let readers: Vec<_> = (0..4).map(|_| scope.spawn(|| read_all(&cache, &made))).collect();
        let read: Vec<_> = readers.into_iter().map(|reader| reader.join()).collect();
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        sweeper.join().unwrap();
        read.into_iter().for_each(|result| result.unwrap());
    });
    assert!(made.into_inner() > 20, "nothing was evicted");
}

fn read_all(cache: &Cache, made: &std::sync::atomic::AtomicU32) {
    for round in 0..400_u32 {
        let content = round % 20;
        let wanted = content.to_le_bytes().repeat(50);
        // More attempts than a build has: here eviction never rests.
        let read = (0..100).find_map(|_| {
            cache
                .retry_lost_entries(&cache.dir().join("out"), || {
                    cache
                        .get_or(key(&content.to_string()), || {
                            made.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                            Ok::<_, Error>(wanted.clone())
                        })?
                        .read()
                })
                .ok()
        });
        assert_eq!(read.unwrap(), wanted);
    }
}
