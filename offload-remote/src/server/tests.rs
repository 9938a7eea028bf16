//! Daemons with a shared folder, and clients that send requests, truncate messages, or disconnect.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream as Client;
use std::path::Path;
use std::time::Instant;

use offload_format::Hash128;
use offload_protocol::remote::{Reply, Request};

use super::*;

struct Running {
    dir: tempfile::TempDir,
    server: std::thread::JoinHandle<Result<(), Error>>,
}

fn options(dir: &Path) -> ServeOptions {
    let settings = Settings::parse(&format!("url = \"{}/cache\"", dir.display())).unwrap();
    ServeOptions { socket: dir.join("socket"), settings, idle: Duration::from_millis(300) }
}

impl Running {
    fn new() -> Running {
        let dir = tempfile::tempdir().unwrap();
        let options = options(dir.path());
        let server = std::thread::spawn(move || serve(&options));
        Running { dir, server }
    }

    fn connect(&self) -> Client {
        let start = Instant::now();
        loop {
            if let Ok(client) = Client::connect(self.dir.path().join("socket")) {
                return client;
            }
            assert!(start.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn send(client: &mut Client, bytes: &[u8]) {
    client.write_all(&(bytes.len() as u64).to_le_bytes()).unwrap();
    client.write_all(bytes).unwrap();
}

fn ask(client: &mut Client, request: &Request) -> Reply {
    send(client, &request.to_bytes());
    let mut size = [0; 8];
    client.read_exact(&mut size).unwrap();
    let mut bytes = vec![0; u64::from_le_bytes(size) as usize];
    client.read_exact(&mut bytes).unwrap();
    Reply::from_bytes(&bytes).unwrap()
}

#[test]
fn results_of_one_build_script_are_found_by_another() {
    let running = Running::new();
    let mut one = running.connect();
    let mut other = running.connect();
    let key = Hash128::digest(b"key");
    assert!(matches!(ask(&mut other, &Request::Get { key }), Reply::Missing { .. }));
    assert_eq!(ask(&mut one, &Request::Put { key, stored: b"result".to_vec() }), Reply::Accepted);
    assert_eq!(ask(&mut one, &Request::Flush { seconds: 20 }), Reply::Accepted);
    assert_eq!(ask(&mut other, &Request::Get { key }), Reply::Found(b"result".to_vec()));
    let socket = std::fs::metadata(running.dir.path().join("socket")).unwrap();
    assert_eq!(socket.permissions().mode() & 0o777, 0o600);
    drop((one, other));
    running.server.join().unwrap().unwrap();
    assert!(!running.dir.path().join("socket").exists());
}

#[test]
fn the_second_server_ends_at_once_and_the_first_goes_on() {
    let running = Running::new();
    let mut client = running.connect();
    serve(&options(running.dir.path())).unwrap();
    assert_eq!(ask(&mut client, &Request::Flush { seconds: 1 }), Reply::Accepted);
}

#[test]
fn of_servers_that_start_together_one_listens() {
    let dir = tempfile::tempdir().unwrap();
    let servers: Vec<_> = (0..8)
        .map(|_| {
            let options = options(dir.path());
            std::thread::spawn(move || serve(&options))
        })
        .collect();
    for server in servers {
        server.join().unwrap().unwrap();
    }
}

#[test]
fn what_a_killed_server_left_does_not_disturb_the_next() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["socket", "socket.new"] {
        drop(std::os::unix::net::UnixListener::bind(dir.path().join(name)).unwrap());
    }
    serve(&options(dir.path())).unwrap();
}

#[test]
fn a_directory_that_is_open_to_others_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let error = serve(&options(dir.path())).unwrap_err();
    assert!(error.to_string().contains("hint: `chmod go-w"), "{error}");
}

#[test]
fn cut_and_senseless_messages_end_their_connection_alone() {
    let running = Running::new();
    let mut other = running.connect();
    let message = Request::Put { key: Hash128::digest(b"a"), stored: vec![1; 50] }.to_bytes();
    let framed = [&(message.len() as u64).to_le_bytes()[..], &message].concat();
    for end in 0..framed.len() {
        running.connect().write_all(&framed[..end]).unwrap();
    }
    for size in [0, 1, u64::MAX, 1 << 40, 1 << 31] {
        let mut client = running.connect();
        // At once: the server may end the connection as soon as it has read the size.
        client.write_all(&[&u64::to_le_bytes(size)[..], &[9; 3]].concat()).unwrap();
        let _ = client.shutdown(std::net::Shutdown::Write);
        assert_eq!(client.read(&mut [0; 8]).unwrap_or(0), 0);
    }
    for bit in 0..message.len() * 8 {
        let mut changed = message.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        send(&mut running.connect(), &changed);
    }
    assert!(matches!(ask(&mut other, &Request::Get { key: Hash128::digest(b"b") }), Reply::Missing { .. }));
}

#[test]
fn who_writes_nothing_more_gets_the_reply_all_the_same() {
    let running = Running::new();
    let mut client = running.connect();
    let message = Request::Get { key: Hash128::digest(b"a") }.to_bytes();
    send(&mut client, &message);
    client.shutdown(std::net::Shutdown::Write).unwrap();
    let mut bytes = Vec::new();
    client.read_to_end(&mut bytes).unwrap();
    assert!(matches!(Reply::from_bytes(&bytes[8..]), Ok(Reply::Missing { .. })));
}

#[test]
fn a_path_may_be_longer_than_those_of_sockets() {
    let dir = tempfile::tempdir().unwrap();
    let long = dir.path().join("d".repeat(200));
    std::fs::create_dir(&long).unwrap();
    let options = options(&long);
    serve(&options).unwrap();
}

#[test]
fn a_client_that_goes_does_not_keep_the_server() {
    let running = Running::new();
    let mut client = running.connect();
    send(&mut client, &Request::Flush { seconds: 3600 }.to_bytes());
    drop(client);
    running.server.join().unwrap().unwrap();
}
