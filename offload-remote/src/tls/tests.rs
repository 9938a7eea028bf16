//! Valid certificates, and messages for invalid ones.

use bytes::Bytes;
use offload_format::Hash128;

use super::*;
use crate::fake::Fake;
use crate::fake::secure::{Clients, file, secure};
use crate::remote::Remote;

fn error_of(text: &str) -> String {
    connector(&Settings::parse(text).unwrap(), &Uri::from_static("https://host"), Protocol::Http2)
        .unwrap_err()
        .to_string()
}

fn remote(url: &str, rest: &str) -> Remote {
    Remote::new(Settings::parse(&format!("url = \"{url}\"\n{rest}")).unwrap()).unwrap()
}

/// The warning about a server with the certificate `name`.
async fn note(name: &str, clients: Clients, rest: &str) -> String {
    let fake = Fake::start().await;
    let port = secure(&fake, name, clients).await;
    let remote = remote(&format!("grpcs://localhost:{port}"), rest);
    let key = Hash128([1; 16]);
    remote.put(key, Bytes::from_static(b"result")).await;
    let found = remote.get(key).await;
    let note = remote.notes.take();
    assert_eq!(found.is_some(), note.is_empty(), "{note}");
    note
}

fn authority() -> String {
    format!("ca = \"{}\"", file("authority.pem").display())
}

fn client(name: &str) -> String {
    let certificate = file(&format!("{name}.pem"));
    let key = file(&format!("{name}.key"));
    format!("{}\ncertificate = \"{}\"\nkey = \"{}\"", authority(), certificate.display(), key.display())
}

#[test]
fn files_that_are_missing_or_no_pem_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ca.pem");
    let text = format!("url = \"grpcs://host\"\nca = \"{}\"", path.display());
    assert!(error_of(&text).contains("ca.pem"));
    std::fs::write(&path, "no certificate").unwrap();
    assert!(error_of(&text).contains("has no certificate\nhint: the file must be in PEM format"));
    let other = format!(
        "certificate = \"{}\"\nkey = \"{}\"",
        file("client.pem").display(),
        file("server.key").display()
    );
    let note = error_of(&format!("url = \"grpcs://host\"\n{}\n{other}", authority()));
    assert!(
        note.contains("hint: `certificate` and `key` in the table `remote` must belong together"),
        "{note}"
    );
}

#[tokio::test]
async fn a_server_whose_authority_is_named_is_trusted() {
    assert_eq!(note("server", Clients::Any, &authority()).await, "");
    assert_eq!(note("server", Clients::Known, &client("client")).await, "");
}

#[tokio::test]
async fn each_mistake_has_its_hint() {
    for (name, clients, rest, hint) in [
        ("expired", Clients::Any, authority(), "certificate has expired\nhint: have it renewed"),
        ("server", Clients::Any, String::new(), "does not know\nhint: name the authority's certificate"),
        ("server", Clients::Known, authority(), "hint: name its files by `certificate` and `key`"),
        (
            "server",
            Clients::Known,
            client("expired"),
            "hint: `certificate` and `key` in the table `remote` name it",
        ),
    ] {
        let note = note(name, clients, &rest).await;
        assert!(note.contains(hint), "{note}");
    }
}

#[tokio::test]
async fn a_server_with_and_one_without_tls_are_told_apart() {
    let fake = Fake::start().await;
    let plain = remote(&fake.url.replace("grpc://", "grpcs://"), &authority());
    assert_eq!(plain.get(Hash128([1; 16])).await, None);
    let note = plain.notes.take();
    assert!(note.contains("does not speak TLS\nhint: a server without it has `grpc://`"), "{note}");
    let port = secure(&fake, "server", Clients::Any).await;
    let secret = remote(&format!("grpc://localhost:{port}"), "timeout = 5");
    assert_eq!(secret.get(Hash128([1; 16])).await, None);
    let note = secret.notes.take();
    assert!(note.contains("a server with TLS wants `grpcs://`"), "{note}");
}
