//! A minimal HTTP cache, and the client's reaction to its responses.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use offload_format::Hash128;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;
use crate::remote::Remote;

const KEY: Hash128 = Hash128([5; 16]);

#[derive(Clone, Default)]
pub(super) struct Server(Arc<Mutex<State>>);

#[derive(Default)]
pub(super) struct State {
    files: HashMap<String, Vec<u8>>,
    requests: Vec<String>,
    heads: Vec<String>,
    /// For the next requests, by method.
    statuses: Vec<(&'static str, u16)>,
    secret: Option<&'static str>,
}

/// The value of a header in the head of a request.
pub(super) fn header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")))
}

impl Server {
    /// The request line and headers of each request.
    pub(super) fn heads(&self) -> Vec<String> {
        self.0.lock().unwrap().heads.clone()
    }

    pub(super) async fn start(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/cache", listener.local_addr().unwrap());
        let server = self.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let server = server.clone();
                tokio::spawn(async move { server.serve(stream).await });
            }
        });
        url
    }

    async fn serve(&self, mut stream: TcpStream) -> Option<()> {
        loop {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.ok()?);
            }
            let head = String::from_utf8(head).unwrap();
            let mut body = vec![0; header(&head, "content-length").map_or(0, |size| size.parse().unwrap())];
            stream.read_exact(&mut body).await.ok()?;
            self.0.lock().unwrap().heads.push(head.replace("\r\n", "\n"));
            let mut words = head.split(' ');
            let method = words.next()?;
            let path = words.next()?;
            let secret = header(&head, "authorization").map(str::to_string);
            let (status, content) = self.answer(method, path, (secret, body));
            let mut answer =
                format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\n\r\n", content.len()).into_bytes();
            if method != "HEAD" {
                answer.extend(content);
            }
            stream.write_all(&answer).await.ok()?;
        }
    }

    fn answer(&self, method: &str, path: &str, (secret, body): (Option<String>, Vec<u8>)) -> (u16, Vec<u8>) {
        let mut state = self.0.lock().unwrap();
        state.requests.push(format!("{method} {path}"));
        if let Some(place) = state.statuses.iter().position(|(name, _)| *name == method) {
            return (state.statuses.remove(place).1, b"an explanation".to_vec());
        }
        if state.secret.is_some() && secret.as_deref() != state.secret {
            return (401, Vec::new());
        }
        if method == "PUT" {
            state.files.insert(path.to_string(), body);
            return (201, Vec::new());
        }
        state.files.get(path).map_or((404, Vec::new()), |content| (200, content.clone()))
    }
}

fn remote(url: &str, rest: &str) -> Remote {
    Remote::new(Settings::parse(&format!("url = \"{url}\"\n{rest}")).unwrap()).unwrap()
}

#[tokio::test]
async fn a_result_comes_back_from_where_bazel_puts_its_own() {
    for stored in [Bytes::new(), Bytes::from_static(b"result"), vec![7; 3_000_000].into()] {
        let server = Server::default();
        let remote = remote(&server.start().await, "");
        assert_eq!(remote.get(KEY).await, None);
        remote.put(KEY, stored.clone()).await;
        assert_eq!(remote.get(KEY).await.unwrap(), stored);
        let paths: Vec<String> = server.0.lock().unwrap().files.keys().cloned().collect();
        let blob = format!("/cache/cas/{}", Digest::from_bytes(&stored).hex());
        assert_eq!(paths.contains(&blob), !stored.is_empty());
        assert!(paths.iter().any(|path| path.starts_with("/cache/ac/")), "{paths:?}");
        assert_eq!(remote.notes.take(), "");
    }
}

#[tokio::test]
async fn a_file_that_is_another_one_or_cut_is_missing() {
    for content in [&b"resulT"[..], b"resul", b"results and more"] {
        let server = Server::default();
        let remote = remote(&server.start().await, "");
        remote.put(KEY, Bytes::from_static(b"result")).await;
        let path = format!("/cache/cas/{}", Digest::from_bytes(b"result").hex());
        server.0.lock().unwrap().files.insert(path, content.to_vec());
        assert_eq!(remote.get(KEY).await, None);
        assert!(remote.notes.take().contains("corrupt"));
    }
}

#[tokio::test]
async fn faults_that_pass_are_not_noticed() {
    let server = Server::default();
    server.0.lock().unwrap().statuses =
        vec![("PUT", 503), ("PUT", 429), ("HEAD", 500), ("GET", 502), ("GET", 504)];
    let remote = remote(&server.start().await, "");
    remote.put(KEY, Bytes::from_static(b"result")).await;
    assert_eq!(remote.get(KEY).await.unwrap(), "result");
    assert_eq!(remote.notes.take(), "");
}

#[tokio::test]
async fn what_a_server_refuses_is_told_with_a_hint() {
    for (status, expected) in [
        (403, "set `upload = false`"),
        (405, "set `upload = false`"),
        (409, "create_full_put_path"),
        (413, "client_max_body_size"),
        (301, "redirects"),
        (507, "the server's disk is full"),
    ] {
        let server = Server::default();
        server.0.lock().unwrap().statuses = vec![("PUT", status); 9];
        let remote = remote(&server.start().await, "");
        remote.put(KEY, Bytes::from_static(b"result")).await;
        let note = remote.notes.take();
        assert!(
            note.starts_with("results of this machine are not stored") && note.contains(expected),
            "{note}"
        );
        assert_eq!(remote.stores_results(), !matches!(status, 403 | 405));
        assert_eq!(remote.get(KEY).await, None);
    }
}

#[tokio::test]
async fn a_credential_goes_with_each_request() {
    let server = Server::default();
    server.0.lock().unwrap().secret = Some("Basic YTpi");
    let url = server.start().await;
    let without = remote(&url, "");
    assert_eq!(without.get(KEY).await, None);
    assert!(without.notes.take().contains("401"));
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("token"), "Basic YTpi").unwrap();
    let file = dir.path().join("token").display().to_string();
    let with = remote(&url, &format!("headers = {{ Authorization = {{ file = \"{file}\" }} }}"));
    with.put(KEY, Bytes::from_static(b"result")).await;
    assert_eq!(with.get(KEY).await.unwrap(), "result");
}

#[tokio::test]
async fn a_server_that_ends_connections_is_missing() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { while listener.accept().await.is_ok() {} });
    let remote = remote(&url, "timeout = 5");
    assert_eq!(remote.get(KEY).await, None);
    let note = remote.notes.take();
    assert!(note.starts_with(&format!("no results come from `{url}`: ")), "{note}");
}
