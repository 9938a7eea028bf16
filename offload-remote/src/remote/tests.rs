//! Lookups and uploads, with and without faults.

use std::time::Duration;

use tonic::Code;

use super::*;
use crate::api::ActionResult;
use crate::fake::Fake;

const KEY: Hash128 = Hash128([3; 16]);

fn remote(fake: &Fake, rest: &str) -> Remote {
    Remote::new(fake.settings(rest)).unwrap()
}

fn large() -> Bytes {
    (0..9_000_000_u32).map(|number| (number % 251) as u8).collect::<Vec<u8>>().into()
}

#[tokio::test]
async fn a_result_comes_back_whatever_its_size() {
    for stored in [Bytes::new(), Bytes::from_static(b"small"), large()] {
        let fake = Fake::start().await;
        let remote = remote(&fake, "");
        assert_eq!(remote.get(KEY).await, None);
        remote.put(KEY, stored.clone()).await;
        assert_eq!(remote.get(KEY).await.unwrap(), stored);
        let streams = usize::from(stored.len() > 5_000_000);
        assert_eq!((fake.count("stream write"), fake.count("stream read")), (streams, streams));
        assert_eq!((fake.count("capabilities"), remote.notes.take().as_str()), (1, ""));
    }
}

#[tokio::test]
async fn small_messages_are_what_the_server_wants() {
    let fake = Fake::start().await;
    fake.state().batch = 70_000;
    let remote = remote(&fake, "");
    remote.put(KEY, vec![1; 20_000].into()).await;
    assert_eq!(remote.get(KEY).await.unwrap(), vec![1; 20_000]);
    assert_eq!((fake.count("stream write"), fake.count("stream read")), (1, 1));
}

#[tokio::test]
async fn what_is_stored_already_is_not_sent_again() {
    let fake = Fake::start().await;
    remote(&fake, "").put(KEY, large()).await;
    let other = remote(&fake, "");
    other.put(KEY, large()).await;
    other.put(Hash128([4; 16]), large()).await;
    assert_eq!((fake.count("stream write"), fake.count("put result")), (1, 3));
}

#[tokio::test]
async fn a_blob_that_is_another_one_or_cut_or_gone_is_missing() {
    for content in [b"resulT".to_vec(), b"resul".to_vec(), b"results".to_vec(), Vec::new()] {
        let fake = Fake::start().await;
        let remote = remote(&fake, "");
        let stored = Bytes::from_static(b"result");
        remote.put(KEY, stored.clone()).await;
        fake.state().blobs.insert(Digest::from_bytes(&stored).hex(), content);
        assert_eq!(remote.get(KEY).await, None);
        assert!(remote.notes.take().contains("corrupt"));
        fake.state().blobs.remove(&Digest::from_bytes(&stored).hex());
        assert_eq!(remote.get(KEY).await, None);
        assert_eq!(remote.notes.take(), "");
    }
}

#[tokio::test]
async fn a_result_that_claims_too_much_is_missing() {
    let fake = Fake::start().await;
    let remote = remote(&fake, "");
    let digest = Digest { size: u64::MAX >> 1, ..Digest::from_bytes(b"") };
    let action = Entry::for_key(KEY).action.hex();
    fake.state().results.insert(action.clone(), entry::result(&digest));
    assert_eq!(remote.get(KEY).await, None);
    fake.state().results.insert(action, ActionResult::default());
    assert_eq!(remote.get(KEY).await, None);
}

#[tokio::test]
async fn faults_that_pass_are_not_noticed() {
    let fake = Fake::start().await;
    let remote = remote(&fake, "");
    fake.state().faults.push(("capabilities", Code::Internal));
    for call in ["missing", "batch update", "put result", "result", "batch read"] {
        fake.state().faults.extend([(call, Code::Unavailable), (call, Code::ResourceExhausted)]);
    }
    remote.put(KEY, Bytes::from_static(b"result")).await;
    assert_eq!(remote.get(KEY).await.unwrap(), "result");
    assert_eq!((fake.count("put result"), remote.notes.take().as_str()), (3, ""));
}

#[tokio::test]
async fn a_server_that_fails_three_requests_is_left_alone() {
    let fake = Fake::start().await;
    let remote = remote(&fake, "timeout = 2");
    fake.state().faults = vec![("result", Code::Unavailable); 100];
    for _ in 0..5 {
        assert_eq!(remote.get(KEY).await, None);
    }
    assert_eq!(fake.count("result"), 12);
    let note = remote.notes.take();
    assert!(note.starts_with(&format!("no results come from `{}`: result fails", fake.url)), "{note}");
}

#[tokio::test]
async fn a_server_that_does_not_answer_costs_one_limit() {
    let fake = Fake::start().await;
    fake.state().delay = Duration::from_secs(60);
    let remote = remote(&fake, "timeout = 1");
    let start = std::time::Instant::now();
    assert_eq!(remote.get(KEY).await, None);
    assert!(start.elapsed() < Duration::from_secs(3));
    let note = remote.notes.take();
    assert!(note.contains("no answer within 1 s\nhint: `timeout`"), "{note}");
}

#[tokio::test]
async fn a_server_that_stores_and_never_answers_costs_two_limits() {
    let fake = Fake::start().await;
    let remote = remote(&fake, "timeout = 1");
    fake.state().hangs = vec!["result"];
    let start = std::time::Instant::now();
    for number in 0..10 {
        assert_eq!(remote.get(Hash128([number; 16])).await, None);
        remote.put(Hash128([number; 16]), Bytes::from_static(b"result")).await;
    }
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    assert_eq!(fake.count("result"), 2);
    assert_eq!(remote.notes.take().matches("no answer within 1 s").count(), 1);
}

#[tokio::test]
async fn a_server_that_takes_no_results_is_asked_once() {
    let fake = Fake::start().await;
    fake.state().updates = false;
    let one = remote(&fake, "");
    for number in 0..3 {
        one.put(Hash128([number; 16]), Bytes::from_static(b"result")).await;
    }
    assert_eq!((fake.count("put result"), fake.count("batch update")), (0, 0));
    assert!(one.notes.take().contains("takes no results from this machine\nhint: give a credential"));
    assert!(one.health.allows(Purpose::Storing));

    let fake = Fake::start().await;
    fake.state().faults = vec![("put result", Code::PermissionDenied)];
    let other = remote(&fake, "");
    other.put(KEY, Bytes::from_static(b"result")).await;
    assert!(!other.stores_results());
    assert!(other.notes.take().contains("set `upload = false`"));
}

#[tokio::test]
async fn an_unknown_instance_is_named() {
    let fake = Fake::start().await;
    fake.state().instance = "main".into();
    let wrong = remote(&fake, "instance = \"mian\"");
    assert_eq!(wrong.get(KEY).await, None);
    let note = wrong.notes.take();
    assert!(note.contains("the instance `mian`: unknown instance\nhint: `instance`"), "{note}");
    let right = remote(&fake, "instance = \"main\"");
    right.put(KEY, large()).await;
    assert_eq!(right.get(KEY).await.unwrap(), large());
}

#[tokio::test]
async fn credentials_go_with_each_call() {
    let fake = Fake::start().await;
    fake.state().secret = Some(("authorization", "Bearer 1"));
    let without = remote(&fake, "");
    assert_eq!(without.get(KEY).await, None);
    assert!(without.notes.take().contains("hint: give a credential by `headers`"));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("token");
    std::fs::write(&path, "Bearer 1\n").unwrap();
    let with = remote(&fake, &format!("headers = {{ authorization = {{ file = \"{}\" }} }}", path.display()));
    with.put(KEY, large()).await;
    assert_eq!(with.get(KEY).await.unwrap(), large());
}

#[tokio::test]
async fn a_server_that_is_not_there_is_missing_with_a_hint() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("url = \"grpc://{}\"", listener.local_addr().unwrap());
    drop(listener);
    let remote = Remote::new(Settings::parse(&url).unwrap()).unwrap();
    assert_eq!(remote.get(KEY).await, None);
    let note = remote.notes.take();
    assert!(note.contains("refused") && note.contains("hint: nothing listens there"), "{note}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_once_whatever_meets_it_first() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("url = \"grpc://{}\"", listener.local_addr().unwrap());
    drop(listener);
    let remote = Remote::new(Settings::parse(&url).unwrap()).unwrap();
    remote.put(KEY, Bytes::from_static(b"result")).await;
    assert_eq!(remote.get(KEY).await, None);
    let note = remote.notes.take();
    assert!(note.contains("not stored") && !note.contains("no results come"), "{note}");
}
