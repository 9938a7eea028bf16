//! A certificate authority with its certificates.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use offload_tests::error::{Error, Result};

/// An authority: its own certificate and key, and its list of what it has signed.
#[derive(Debug)]
pub(in super::super) struct Authority {
    dir: PathBuf,
    own: Pair,
}

/// A certificate and its key.
#[derive(Clone, Debug)]
pub(in super::super) struct Pair {
    pub(in super::super) certificate: PathBuf,
    pub(in super::super) key: PathBuf,
}

const VALID: [&str; 2] = ["20200101000000Z", "20991231235959Z"];
const EXPIRED: [&str; 2] = ["20200101000000Z", "20200201000000Z"];

/// <https://docs.openssl.org/3.0/man1/openssl-ca/>
const CONFIGURATION: &str = "\
[ca]
default_ca = own
[own]
database = index.txt
serial = serial
new_certs_dir = .
default_md = sha256
policy = any
x509_extensions = server
unique_subject = no
[any]
commonName = supplied
[server]
basicConstraints = critical,CA:false
subjectAltName = DNS:localhost,IP:127.0.0.1
extendedKeyUsage = serverAuth,clientAuth
[req]
distinguished_name = name
[name]
[authority]
basicConstraints = critical,CA:true
keyUsage = critical,keyCertSign,cRLSign
subjectKeyIdentifier = hash
";

impl Authority {
    /// A new one in the empty directory `dir`.
    pub(in super::super) fn new(dir: &Path) -> Result<Authority> {
        fs::create_dir_all(dir)?;
        fs::write(dir.join("ca.cnf"), CONFIGURATION)?;
        fs::write(dir.join("index.txt"), "")?;
        fs::write(dir.join("serial"), "01\n")?;
        let own = Pair { certificate: dir.join("ca.pem"), key: dir.join("ca.key") };
        let authority = Authority { dir: dir.to_path_buf(), own };
        let request =
            ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3650", "-subj", "/CN=authority"];
        let files = ["-config", "ca.cnf", "-extensions", "authority", "-keyout", "ca.key", "-out", "ca.pem"];
        authority.openssl(&[&request[..], &files].concat())?;
        Ok(authority)
    }

    /// The CA certificate.
    pub(in super::super) fn certificate(&self) -> &Path {
        &self.own.certificate
    }

    pub(in super::super) fn valid(&self) -> Result<Pair> {
        self.sign("valid", VALID)
    }

    pub(in super::super) fn expired(&self) -> Result<Pair> {
        self.sign("expired", EXPIRED)
    }

    fn sign(&self, name: &str, [from, to]: [&str; 2]) -> Result<Pair> {
        let [key, request, certificate] = ["key", "csr", "pem"].map(|end| format!("{name}.{end}"));
        let ask = ["req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-config", "ca.cnf"];
        self.openssl(&[&ask[..], &["-keyout", &key, "-out", &request]].concat())?;
        let sign = ["ca", "-batch", "-notext", "-config", "ca.cnf", "-cert", "ca.pem", "-keyfile", "ca.key"];
        let times = ["-startdate", from, "-enddate", to, "-in", &request, "-out", &certificate];
        self.openssl(&[&sign[..], &times].concat())?;
        Ok(Pair { certificate: self.dir.join(certificate), key: self.dir.join(key) })
    }

    fn openssl(&self, args: &[&str]) -> Result<()> {
        let output = Command::new("openssl").args(args).current_dir(&self.dir).output()?;
        let text = String::from_utf8_lossy(&output.stderr);
        if output.status.success() { Ok(()) } else { Err(Error::new(format!("openssl: {}", text.trim()))) }
    }
}
