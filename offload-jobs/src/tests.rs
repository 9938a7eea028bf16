//! Tokens, threads and remote slots.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// The most tokens that `threads` threads had at once.
fn most_at_once(jobs: &Jobs, threads: usize) -> usize {
    let inside = AtomicUsize::new(0);
    let most = AtomicUsize::new(0);
    let done = jobs.map(&vec![(); threads], |()| {
        for _ in 0..3 {
            let _token = jobs.token();
            most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(3));
            inside.fetch_sub(1, Ordering::SeqCst);
        }
    });
    assert_eq!(done.len(), threads);
    most.into_inner()
}

#[test]
fn one_job_serves_all_threads() {
    let client = Client::new(0).unwrap();
    assert_eq!(most_at_once(&Jobs::new(Some(client)), 4), 1);
}

#[test]
fn build_scripts_that_have_shared_out_all_tokens_end() {
    let client = Client::new(0).unwrap();
    let scripts = [Jobs::new(Some(client.clone())), Jobs::new(Some(client))];
    thread::scope(|scope| {
        let running = scripts.each_ref().map(|jobs| scope.spawn(|| most_at_once(jobs, 3)));
        assert_eq!(running.map(|script| script.join().unwrap()), [1, 1]);
    });
}

#[test]
fn granted_tokens_are_used_and_given_back() {
    let client = Client::new(2).unwrap();
    let jobs = Jobs::new(Some(client.clone()));
    let most = most_at_once(&jobs, 6);
    assert!((2..=3).contains(&most), "{most}");
    drop(jobs);
    assert_eq!(client.available().unwrap(), 2);
}

#[test]
fn actions_take_remote_slots_and_return_them() {
    let jobs = Jobs::new(Some(Client::new(0).unwrap()));
    jobs.set_remote_limit(2);
    jobs.set_remote_room(Room { commands: 2, was_full: false });
    let grants = [(); 3].map(|()| jobs.local_or_remote());
    let local = grants.iter().filter(|grant| matches!(grant, Grant::Local(_))).count();
    assert_eq!(local, 1);
    thread::scope(|scope| {
        // There is no room until a grant is returned, of either kind.
        let waiting = scope.spawn(|| jobs.local_or_remote());
        thread::sleep(PATIENCE * 3);
        assert!(!waiting.is_finished());
        drop(grants);
        waiting.join().unwrap();
    });
    assert_eq!(jobs.pool.state().slots.in_use(), 0);
    drop(jobs.token());
}

#[test]
fn busy_workers_leave_the_last_actions_to_this_machine() {
    let jobs = Jobs::new(Some(Client::new(0).unwrap()));
    jobs.set_remote_limit(1);
    let token = jobs.token();
    let Grant::Remote(first) = jobs.local_or_remote() else { panic!() };
    let processors = thread::available_parallelism().unwrap().get();
    let count = processors + 16;
    thread::scope(|scope| {
        let threads: Vec<_> =
            (0..count).map(|_| scope.spawn(|| matches!(jobs.local_or_remote(), Grant::Remote(_)))).collect();
        while jobs.pool.state().slots.waiting() < count {
            thread::sleep(PATIENCE);
        }
        jobs.set_remote_room(Room { commands: 1, was_full: true });
        drop(first);
        while jobs.pool.state().slots.waiting() > processors {
            thread::sleep(PATIENCE);
        }
        // The last ones wait for this machine.
        drop(token);
        let mut remote = 0;
        for thread in threads {
            remote += usize::from(thread.join().unwrap());
        }
        assert_eq!(remote, 16);
    });
    let state = jobs.pool.state();
    assert_eq!((state.waiting, state.slots.waiting(), state.slots.in_use()), (0, 0, 0));
    drop(state);
    assert!(matches!(jobs.local_or_remote(), Grant::Local(_)));
}

#[test]
fn without_a_jobserver_threads_are_the_limit() {
    let jobs = Jobs::new(None);
    let _first = jobs.token();
    let _second = jobs.token();
}

#[test]
fn thousands_of_items_do_not_start_thousands_of_threads() {
    let jobs = Jobs::new(None);
    let inside = AtomicUsize::new(0);
    let most = AtomicUsize::new(0);
    let items: Vec<usize> = (0..3000).collect();
    let sums = jobs.map(&items, |item| {
        most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let sum: usize = jobs.map(&[1, 2, 3], |part| part * item).iter().sum();
        inside.fetch_sub(1, Ordering::SeqCst);
        sum
    });
    assert_eq!(sums, items.iter().map(|item| item * 6).collect::<Vec<_>>());
    assert!(most.into_inner() <= THREADS + 1);
    assert_eq!(jobs.spare.into_inner(), THREADS);
}
