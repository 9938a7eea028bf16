//! Calls of the stand-in, with and without injected faults.

use super::*;
use crate::api::{ActionResult, Command, OutputFile};
use crate::client::{Client, action};

const HOURS: Duration = Duration::from_secs(3600);

fn options(work: Work) -> Options {
    Options { instance: "main".to_string(), slots: 2, work }
}

/// A server, and a client of it.
async fn pair(work: Work) -> (Standin, Client) {
    let server = Standin::new(options(work));
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let serving = server.clone();
    tokio::spawn(async move { serving.serve(listener).await });
    let client = Client::connect(url, "main").await.unwrap();
    (server, client)
}

fn shell(script: &str) -> Command {
    Command {
        arguments: ["/bin/sh", "-c", script].map(String::from).into(),
        output_paths: vec!["out/a".to_string(), "out/b".to_string()],
        ..Command::default()
    }
}

fn file(path: &str, content: &[u8]) -> OutputFile {
    OutputFile { path: path.to_string(), digest: Some(blobs::digest(content)), ..OutputFile::default() }
}

#[tokio::test]
async fn commands_run_once() {
    let (server, client) = pair(Work::Run).await;
    let command = shell("cat in > out/a; echo printed; echo complained >&2; exit 3");
    let response = client.execute(&command, &[("in", b"content")]).await.unwrap();
    let result = response.result.unwrap();
    assert_eq!(result.exit_code, 3);
    assert_eq!(result.output_files.len(), 1, "an output that was not written is left out");
    let read = async |digest: &Option<Digest>| client.read(digest.as_ref().unwrap()).await.unwrap();
    assert_eq!(read(&result.output_files[0].digest).await, b"content");
    assert_eq!(read(&result.stdout_digest).await, b"printed\n");
    assert_eq!(read(&result.stderr_digest).await, b"complained\n");
    // A failure is not kept.
    let again = client.execute(&command, &[("in", b"content")]).await.unwrap();
    assert!(!again.cached_result);
    let good = shell("echo > out/a");
    assert!(!client.execute(&good, &[]).await.unwrap().cached_result);
    assert!(client.execute(&good, &[]).await.unwrap().cached_result);
    assert_eq!(server.counts().worked, 3);
}

#[tokio::test]
async fn a_server_without_faults_keeps_what_it_gets() {
    let (server, client) = pair(Work::Run).await;
    let blob = (blobs::digest(b"blob"), b"blob".to_vec());
    assert_eq!(client.missing(vec![blob.0.clone()]).await.unwrap(), vec![blob.0.clone()]);
    client.upload(vec![blob.clone()]).await.unwrap();
    assert!(client.missing(vec![blob.0.clone()]).await.unwrap().is_empty());
    assert_eq!(client.read(&blob.0).await.unwrap(), b"blob");
    let wrong = (blobs::digest(b"other"), b"blob".to_vec());
    assert_eq!(client.upload(vec![wrong]).await.unwrap_err().code(), tonic::Code::InvalidArgument);
    let counts = server.counts();
    assert_eq!((counts.received, counts.sent), (4, 4));
    assert_eq!(counts.to_string().parse(), Ok(counts));
}

#[tokio::test]
async fn another_instance_is_not_there() {
    let (_server, client) = pair(Work::Run).await;
    assert!(client.capabilities().await.unwrap().execution_capabilities.unwrap().exec_enabled);
    let other = client.with_instance("other");
    assert_eq!(other.capabilities().await.unwrap_err().code(), tonic::Code::NotFound);
}

#[tokio::test]
async fn results_are_exchanged_on_request() {
    let (server, client) = pair(Work::Run).await;
    let actions = ["a", "b"].map(|name| action(&shell(name), &[]).0);
    for (action, content) in actions.iter().zip([b"1", b"2"]) {
        let result = ActionResult { output_files: vec![file("x", content)], ..ActionResult::default() };
        client.set_result(action, result).await.unwrap();
    }
    let first = async || client.result(&actions[0]).await.unwrap().unwrap().output_files[0].clone();
    assert_eq!(first().await, file("x", b"1"));
    server.set_faults(vec![Fault::Exchanged]);
    assert_eq!(first().await, file("x", b"2"));
}

#[tokio::test]
async fn blobs_are_cut_and_refused_on_request() {
    let (server, client) = pair(Work::Run).await;
    let blob = (blobs::digest(b"blob"), b"blob".to_vec());
    client.upload(vec![blob.clone()]).await.unwrap();
    server.set_faults(vec![Fault::Truncated, Fault::Full]);
    assert_eq!(client.read(&blob.0).await.unwrap(), b"bl");
    let refused = client.upload(vec![blob.clone()]).await.unwrap_err();
    assert_eq!(refused.code(), tonic::Code::ResourceExhausted);
    assert!(client.set_result(&blob.0, ActionResult::default()).await.is_err());
    server.set_faults(vec![Fault::Unavailable]);
    let refused = client.execute(&shell("true"), &[]).await.unwrap_err();
    assert_eq!(refused.code(), tonic::Code::Unavailable);
}

#[tokio::test]
async fn calls_hang_on_request() {
    let (server, client) = pair(Work::Run).await;
    server.set_faults(vec![Fault::Hangs(2)]);
    client.capabilities().await.unwrap();
    let second = tokio::time::timeout(Duration::from_millis(100), client.capabilities());
    assert!(second.await.is_err(), "the second call got an answer");
}

#[tokio::test]
async fn workers_are_as_many_as_slots() {
    let (_server, client) = pair(Work::Sleep(Duration::from_millis(50))).await;
    let start = std::time::Instant::now();
    let jobs = (0..6).map(|number| {
        let client = client.clone();
        tokio::spawn(async move { client.execute(&shell(&number.to_string()), &[]).await })
    });
    for job in jobs.collect::<Vec<_>>() {
        let result = job.await.unwrap().unwrap().result.unwrap();
        assert_eq!(result.output_files.len(), 2);
    }
    assert!(start.elapsed() >= Duration::from_millis(150), "six actions of 50 ms on two workers");
}

#[tokio::test]
async fn what_is_missing_is_said() {
    let (_server, client) = pair(Work::Sleep(HOURS)).await;
    let digest = blobs::digest(b"no action");
    let response = client.execute_action(&digest).await.unwrap();
    assert_eq!(response.status.unwrap().code, tonic::Code::FailedPrecondition as i32);
}

#[test]
fn faults_are_read() {
    assert_eq!("delay=500".parse(), Ok(Fault::Delay(Duration::from_millis(500))));
    assert_eq!("dies=3".parse(), Ok(Fault::Dies(3)));
    for word in ["", "dies", "dies=x", "burns"] {
        assert!(word.parse::<Fault>().is_err(), "{word}");
    }
}
