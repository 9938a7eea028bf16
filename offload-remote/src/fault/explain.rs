//! Messages and hints for errors of TCP and TLS, whose own texts name no setting.

use std::error::Error;
use std::io;

use rustls::{AlertDescription, CertificateError, Error as Tls};

use super::kind::FaultKind;

/// A fault with a hint.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Explained {
    pub(super) kind: FaultKind,
    pub(super) message: String,
    pub(super) hint: &'static str,
}

/// The explanation of the first known error in the source chain.
pub(super) fn explain(error: &(dyn Error + 'static)) -> Option<Explained> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(tls) = error.downcast_ref::<Tls>() {
            return tls_error(tls);
        }
        if let Some(io) = error.downcast_ref::<io::Error>() {
            let inner = io.get_ref().map(|inner| inner as &(dyn Error + 'static));
            if let Some(explained) = inner.and_then(explain).or_else(|| io_error(io)) {
                return Some(explained);
            }
        }
        next = error.source();
    }
    None
}

/// TLS alerts about certificates.
const ALERTS: [AlertDescription; 7] = [
    AlertDescription::CertificateRequired,
    AlertDescription::BadCertificate,
    AlertDescription::UnknownCA,
    AlertDescription::CertificateUnknown,
    AlertDescription::CertificateExpired,
    AlertDescription::AccessDenied,
    AlertDescription::HandshakeFailure,
];

fn io_error(error: &io::Error) -> Option<Explained> {
    // HTTP/2 keeps only the text of an alert after the handshake.
    let text = error.to_string();
    let alert = ALERTS.into_iter().map(Tls::AlertReceived).find(|alert| text == alert.to_string());
    if let Some(alert) = alert {
        return tls_error(&alert);
    }
    let hint = match error.kind() {
        io::ErrorKind::ConnectionRefused => "nothing listens there: start the server, or correct `url`",
        io::ErrorKind::TimedOut | io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => {
            "is the network there, and does a firewall let this machine through?"
        }
        io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe => {
            "the server went away; a server with TLS wants `grpcs://` or `https://`"
        }
        _ if error.to_string().contains("lookup address") => "the name of the host in `url` is unknown",
        _ => return None,
    };
    Some(Explained { kind: FaultKind::Transient, message: error.to_string(), hint })
}

fn tls_error(error: &Tls) -> Option<Explained> {
    let (message, hint) = match error {
        Tls::InvalidCertificate(error) => certificate_error(error)?,
        Tls::AlertReceived(alert) => alert_error(*alert)?,
        Tls::InvalidMessage(_) => {
            ("the server does not speak TLS", "a server without it has `grpc://` or `http://`")
        }
        _ => return None,
    };
    Some(Explained { kind: FaultKind::Lasting, message: message.into(), hint })
}

fn certificate_error(error: &CertificateError) -> Option<(&'static str, &'static str)> {
    Some(match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => (
            "the server's certificate has expired",
            "have it renewed; if it is valid, the clock of this machine is wrong",
        ),
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            ("the server's certificate is not valid yet", "is the clock of this machine right?")
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => (
            "the server's certificate is for another host",
            "write the host in `url` as the certificate has it",
        ),
        CertificateError::UnknownIssuer => (
            "the server's certificate is of an authority that this machine does not know",
            "name the authority's certificate (PEM) by `ca` in the table `remote`",
        ),
        CertificateError::Revoked => ("the server's certificate is revoked", "have it renewed"),
        _ => return None,
    })
}

fn alert_error(alert: AlertDescription) -> Option<(&'static str, &'static str)> {
    Some(match alert {
        AlertDescription::CertificateRequired => (
            "the server wants a certificate of this machine",
            "name its files by `certificate` and `key` in the table `remote`",
        ),
        alert if ALERTS.contains(&alert) => (
            "the server does not accept the certificate of this machine",
            "`certificate` and `key` in the table `remote` name it",
        ),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(error: Tls) -> io::Error {
        io::Error::other(io::Error::new(io::ErrorKind::InvalidData, error))
    }

    #[test]
    fn certificates_are_explained_however_deep_the_cause_is() {
        for (error, expected) in [
            (CertificateError::Expired, "expired"),
            (CertificateError::UnknownIssuer, "authority"),
            (CertificateError::NotValidForName, "another host"),
        ] {
            let explained = explain(&wrapped(Tls::InvalidCertificate(error))).unwrap();
            assert!(explained.message.contains(expected), "{explained:?}");
            assert_eq!(explained.kind, FaultKind::Lasting);
        }
        let refused = explain(&wrapped(Tls::AlertReceived(AlertDescription::CertificateRequired))).unwrap();
        assert!(refused.hint.contains("`certificate` and `key`"));
    }

    #[test]
    fn a_refused_connection_may_pass() {
        let explained = explain(&io::Error::from(io::ErrorKind::ConnectionRefused)).unwrap();
        assert_eq!(explained.kind, FaultKind::Transient);
        assert_eq!(explain(&io::Error::other("strange")), None);
    }
}
