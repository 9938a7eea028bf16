//! Wrong servers, certificates and instances.

use super::super::machine::Machine;
use super::super::rows::{Check, Rows};
use super::super::servers::{Authority, Nginx, Serves};
use super::super::tiers::Compared;
use offload_tests::error::Result;

pub(super) fn run((small, machine): (&Compared, &Machine<'_>), rows: &mut Rows) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let [ours, another] = ["ours", "another"].map(|name| Authority::new(&dir.path().join(name)));
    let ours = ours?;
    let another = another?;
    let standin = machine.standin(&["--instance", "main"])?;
    let backend = standin.address();
    let root = dir.path();
    let expired = Nginx::start(&root.join("expired"), &Serves::Grpc(backend, &ours.expired()?, None))?;
    let unknown = Nginx::start(&root.join("unknown"), &Serves::Grpc(backend, &another.valid()?, None))?;
    let closed = Nginx::start(&root.join("closed"), &Serves::Grpc(backend, &ours.valid()?, Some(&ours)))?;
    let cases = [
        ("expired certificate", secure(&expired, &ours)),
        ("certificate of another authority", secure(&unknown, &ours)),
        ("no certificate of ours", secure(&closed, &ours)),
        ("TLS where there is none", format!("url = \"grpcs://{backend}\", instance = \"main\"")),
        ("none where there is TLS", format!("url = \"grpc://{}\"", closed.address())),
        ("another instance", format!("url = \"grpc://{backend}\", instance = \"other\"")),
        ("connection refused", "url = \"grpc://127.0.0.1:9\"".to_string()),
        ("HTTP where there is gRPC", format!("url = \"http://{backend}\"")),
    ];
    for (what, remote) in cases {
        let built = small.build(&format!("{remote}, timeout = 2, execute = true"))?;
        rows.build((what, "stand-in, nginx"), &built, &[Check::Same(&small.local), Check::Warned]);
    }
    Ok(())
}

fn secure(nginx: &Nginx, ours: &Authority) -> String {
    let port = nginx.address().port();
    let authority = ours.certificate().display();
    format!("url = \"grpcs://localhost:{port}\", instance = \"main\", ca = \"{authority}\"")
}
