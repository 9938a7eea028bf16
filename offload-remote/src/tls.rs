//! TCP and TLS connectors.

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

/// The timeout of a connection attempt: an unresponsive host must not delay every request.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The HTTP version of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    /// For gRPC.
    Http2,
}

/// The connector for `url`.
///
/// # Errors
/// If a certificate or key cannot be read, or this machine has no root certificates.
pub(crate) fn connector(
    settings: &Settings,
    url: &Uri,
    protocol: Protocol,
) -> Result<HttpsConnector<HttpConnector>, Error> {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(CONNECT_TIMEOUT.min(settings.timeout())));
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
    let chain = certificates(certificate)?;
    let secret = private_key(client)?;
    builder.with_client_auth_cert(chain, secret).map_err(|error| {
        Error::new(format!("`{}` with the key `{}`: {error}", certificate.display(), key.display()))
            .hint("`certificate` and `key` in the table `remote` must belong together")
    })
}

/// The root certificates of the system, and those of `ca`.
fn roots(settings: &Settings) -> Result<RootCertStore, Error> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(path) = settings.authority() {
        for certificate in certificates(path)? {
            roots.add(certificate).map_err(|error| {
                Error::new(format!("`{}` is not a valid CA certificate: {error}", path.display()))
            })?;
        }
    }
    if roots.is_empty() {
        return Err(Error::new("this machine knows no authority for certificates")
            .hint("install `ca-certificates`, or name one by `ca` in the table `remote`"));
    }
    Ok(roots)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let found: Result<Vec<_>, _> =
        CertificateDer::pem_file_iter(path).and_then(|certificates| certificates.collect());
    let found = found.map_err(|error| pem_error(path, &error))?;
    if found.is_empty() {
        return Err(Error::new(format!("`{}` has no certificate", path.display()))
            .hint("the file must be in PEM format"));
    }
    Ok(found)
}

fn private_key(client: &Client) -> Result<PrivateKeyDer<'static>, Error> {
    PrivateKeyDer::from_pem_file(&client.key).map_err(|error| pem_error(&client.key, &error))
}

fn pem_error(path: &Path, error: &rustls::pki_types::pem::Error) -> Error {
    Error::new(format!("cannot read `{}`: {error}", path.display())).hint("the file must be in PEM format")
}

#[cfg(test)]
mod tests;
