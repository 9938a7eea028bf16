//! Tokens, threads, and actions that go to other machines.

use std::sync::atomic::{AtomicUsize, Ordering};

use offload_format::remote::{Origin, Program};

use super::*;

/// The most tokens that `threads` threads had at once.
fn most_at_once(jobs: &Jobs, threads: usize) -> usize {
    let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
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

fn action(name: &str) -> Action {
    let arguments = vec![name.to_string()];
    let program =
        Program { path: "tool".into(), library_directories: vec![], opened: vec![], others: vec![] };
    let (variables, inputs, outputs) = (vec![], vec![], vec![]);
    let (directory, programs) = (String::new(), vec![program]);
    Action { arguments, variables, directory, inputs, outputs, programs, seconds: 0 }
}

fn executed(name: &str) -> Executed {
    let (stderr, outputs, origin) = (vec![], vec![], Origin::Run);
    Executed { exit_code: 0, stdout: name.into(), stderr, outputs, origin }
}

#[test]
fn actions_go_elsewhere_where_there_is_room_and_come_back() {
    let jobs = Jobs::new(Some(Client::new(0).unwrap()));
    jobs.run_elsewhere(2);
    jobs.has_room_elsewhere(Room { commands: 2, was_full: false });
    let places = ["a", "b", "c"].map(|name| jobs.offer(action(name)));
    let here = places.iter().filter(|place| matches!(place, Offered::Here(_))).count();
    assert_eq!(here, 1);
    thread::scope(|scope| {
        // There is no room until one ends, wherever that is.
        let waiting = scope.spawn(|| jobs.offer(action("d")));
        thread::sleep(PATIENCE * 3);
        assert!(!waiting.is_finished());
        drop(places);
        waiting.join().unwrap();
    });
    assert_eq!(jobs.pool.state().offers.open(), 0);
    drop(jobs.token());
}

/// What became of an action that was offered.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Here,
    /// The text that another machine has printed, or nothing if it failed there.
    Elsewhere(Option<Vec<u8>>),
}

/// Offers an action. Of several that go together the last one fails.
fn offered(jobs: &Jobs, name: &str) -> End {
    let outcome = match jobs.offer(action(name)) {
        Offered::Here(_) => return End::Here,
        Offered::Ended(outcome) => outcome,
        Offered::Elsewhere(bundle) => {
            let actions = bundle.actions();
            let good = actions.len().saturating_sub(1).max(1);
            let outcome = |action: &&Action| Some(executed(&action.arguments[0]));
            let outcomes = actions.iter().take(good).map(outcome).collect();
            bundle.end(outcomes)
        }
    };
    End::Elsewhere(outcome.map(|executed| executed.stdout))
}

#[test]
fn whoever_is_taken_along_gets_its_own_outcome() {
    let jobs = Jobs::new(Some(Client::new(0).unwrap()));
    jobs.run_elsewhere(1);
    let token = jobs.token();
    let Offered::Elsewhere(first) = jobs.offer(action("first")) else { panic!() };
    let here = thread::available_parallelism().unwrap().get();
    let names: Vec<String> = (0..here + 16).map(|number| number.to_string()).collect();
    thread::scope(|scope| {
        let jobs = &jobs;
        let threads: Vec<_> = names.iter().map(|name| scope.spawn(move || offered(jobs, name))).collect();
        while jobs.pool.state().waiting < names.len() {
            thread::sleep(PATIENCE);
        }
        // Workers are busy: from now on several go together.
        jobs.has_room_elsewhere(Room { commands: 1, was_full: true });
        first.end(vec![Some(executed("first"))]);
        while jobs.pool.state().waiting > here {
            thread::sleep(PATIENCE);
        }
        // The last ones wait for this machine.
        drop(token);
        let mut counts = [0; 3];
        for (name, thread) in names.iter().zip(threads) {
            match thread.join().unwrap() {
                End::Here => counts[0] += 1,
                End::Elsewhere(None) => counts[1] += 1,
                End::Elsewhere(Some(text)) => {
                    assert_eq!(text, name.as_bytes());
                    counts[2] += 1;
                }
            }
        }
        let [ran_here, failed, good] = counts;
        assert!(ran_here >= 1 && failed >= 1 && good >= 8, "{counts:?}");
    });
    assert_eq!(jobs.pool.state().waiting, 0);
    assert!(matches!(jobs.offer(action("later")), Offered::Here(_)));
}

#[test]
fn without_a_jobserver_threads_are_the_limit() {
    let jobs = Jobs::new(None);
    let (_first, _second) = (jobs.token(), jobs.token());
}

#[test]
fn thousands_of_items_do_not_start_thousands_of_threads() {
    let jobs = Jobs::new(None);
    let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
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
