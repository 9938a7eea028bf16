//! TLS proxy of the fake server, with the certificates beside this file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::Fake;

/// The client certificates that are required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clients {
    Any,
    Known,
}

/// A file of the tests.
pub(crate) fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/fake/certificates").join(name)
}

fn certificate(name: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_file(file(name)).unwrap()
}

/// The port at which the server answers with TLS, and the certificate `name`.
pub(crate) async fn secure(fake: &Fake, name: &str, clients: Clients) -> u16 {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = match clients {
        Clients::Any => builder.with_no_client_auth(),
        Clients::Known => {
            let mut roots = RootCertStore::empty();
            roots.add(certificate("authority.pem")).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    let key = PrivateKeyDer::from_pem_file(file(&format!("{name}.key"))).unwrap();
    let mut config = builder.with_single_cert(vec![certificate(&format!("{name}.pem"))], key).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let address = fake.url.replace("grpc://", "");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            let address = address.clone();
            tokio::spawn(async move {
                let mut stream = acceptor.accept(stream).await?;
                tokio::io::copy_bidirectional(&mut stream, &mut TcpStream::connect(address).await?).await
            });
        }
    });
    port
}
