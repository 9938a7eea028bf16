//! Connections: TCP, and TLS by rustls for servers that have it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use http::uri::Scheme;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

use crate::settings::{Client, Settings};
use crate::{Error, settings};

/// The most that a connection takes; a host that does not answer would hold every request up otherwise.
const CONNECT: Duration = Duration::from_secs(10);

/// What is spoken on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    /// As gRPC wants it.
    Http2,
}

/// Makes connections to `url` as the settings say.
///
/// # Errors
/// A file with certificates or keys cannot be read, or this machine knows no authority.
pub(crate) fn connector(
    settings: &Settings,
    url: &Uri,
    protocol: Protocol,
) -> Result<HttpsConnector<HttpConnector>, Error> {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(CONNECT.min(settings.timeout())));
    let builder = HttpsConnectorBuilder::new().with_tls_config(config(settings, url)?).https_or_http();
    Ok(match protocol {
        Protocol::Http1 => builder.enable_http1().wrap_connector(tcp),
        Protocol::Http2 => builder.enable_http2().wrap_connector(tcp),
    })
}

fn config(settings: &Settings, url: &Uri) -> Result<ClientConfig, Error> {
    let has_tls = url.scheme() == Some(&Scheme::HTTPS);
    let roots = if has_tls { roots(settings)? } else { RootCertStore::empty() };
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::new(format!("TLS: {error}")))?
        .with_root_certificates(roots);
    let Some(client) = settings.client() else { return Ok(builder.with_no_client_auth()) };
    let settings::Client { certificate, key } = client;
    let (chain, secret) = (certificates(certificate)?, private_key(client)?);
    builder.with_client_auth_cert(chain, secret).map_err(|error| {
        Error::new(format!("`{}` with the key `{}`: {error}", certificate.display(), key.display()))
            .hint("`certificate` and `key` in the table `remote` must belong together")
    })
}

/// Those of the system, and the one that the settings name.
fn roots(settings: &Settings) -> Result<RootCertStore, Error> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(path) = settings.authority() {
        for certificate in certificates(path)? {
            roots
                .add(certificate)
                .map_err(|error| Error::new(format!("`{}` is no authority: {error}", path.display())))?;
        }
    }
    if roots.is_empty() {
        return Err(Error::new("this machine knows no authority for certificates")
            .hint("install `ca-certificates`, or name one by `ca` in the table `remote`"));
    }
    Ok(roots)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let unreadable = |error| pem_error(path, &error);
    let found: Vec<_> = CertificateDer::pem_file_iter(path)
        .map_err(unreadable)?
        .collect::<Result<_, _>>()
        .map_err(unreadable)?;
    if found.is_empty() {
        return Err(Error::new(format!("`{}` has no certificate", path.display())).hint("the form is PEM"));
    }
    Ok(found)
}

fn private_key(client: &Client) -> Result<PrivateKeyDer<'static>, Error> {
    PrivateKeyDer::from_pem_file(&client.key).map_err(|error| pem_error(&client.key, &error))
}

fn pem_error(path: &Path, error: &rustls::pki_types::pem::Error) -> Error {
    Error::new(format!("cannot read `{}`: {error}", path.display())).hint("the form is PEM")
}

#[cfg(test)]
mod tests;
