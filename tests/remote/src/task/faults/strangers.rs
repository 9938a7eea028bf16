//! Servers that are not who they should be, and those that do not know us.

use super::super::machine::Machine;
use super::super::rows::{Check, Rows};
use super::super::servers::{Authority, Nginx, Serves};
use super::super::tiers::Compared;
use offload_tests::error::Result;

pub(super) fn run((small, machine): (&Compared, &Machine<'_>), rows: &mut Rows) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let [ours, another] = ["ours", "another"].map(|name| Authority::new(&dir.path().join(name)));
    let (ours, another) = (ours?, another?);
    let standin = machine.standin(&["--instance", "main"])?;
    let backend = standin.address();
    let start = |name: &str, serves: Serves<'_>| Nginx::start(&dir.path().join(name), &serves);
    let expired = start("expired", Serves::Grpc(backend, &ours.expired()?, None))?;
    let unknown = start("unknown", Serves::Grpc(backend, &another.valid()?, None))?;
    let closed = start("closed", Serves::Grpc(backend, &ours.valid()?, Some(&ours)))?;
    let secure = |nginx: &Nginx| {
        let (port, authority) = (nginx.address().port(), ours.certificate().display());
        format!("url = \"grpcs://localhost:{port}\", instance = \"main\", ca = \"{authority}\"")
    };
    let cases = [
        ("expired certificate", secure(&expired)),
        ("certificate of another authority", secure(&unknown)),
        ("no certificate of ours", secure(&closed)),
        ("TLS where there is none", format!("url = \"grpcs://{backend}\", instance = \"main\"")),
        ("none where there is TLS", format!("url = \"grpc://{}\"", closed.address())),
        ("another instance", format!("url = \"grpc://{backend}\", instance = \"other\"")),
        ("nobody listens", "url = \"grpc://127.0.0.1:9\"".to_string()),
        ("HTTP where there is gRPC", format!("url = \"http://{backend}\"")),
    ];
    for (what, remote) in cases {
        let built = small.build(&format!("{remote}, timeout = 2, execute = true"))?;
        rows.build((what, "stand-in, nginx"), &built, &[Check::Same(&small.local), Check::Told]);
    }
    Ok(())
}
