//! Every kind of server: one build fills it, and another with an empty local cache has only hits.

use std::path::Path;

use super::alone::{self, Server};
use super::machine::Machine;
use super::project::{Built, Cache, Package, Project};
use super::rows::{Check, Rows};
use super::servers::{Authority, Buildbox, Nginx, S3, Serves};
use offload_tests::error::{Error, Result};

/// The package, and its program as it is built without other machines.
pub(super) struct Compared {
    pub(super) project: Project,
    pub(super) local: Built,
}

impl Compared {
    /// Builds the package without other machines.
    pub(super) fn prepare(machine: &Machine<'_>, package: Package, rows: &mut Rows) -> Result<Compared> {
        let project = Project::prepare(machine, package)?;
        let local = project.build("", &Cache::new()?)?;
        let what = format!("{} here", package.name());
        rows.build((&what, "none"), &local, &[Check::Silent]);
        if let Some(failure) = local.failure {
            return Err(Error::new(format!("the build without other machines fails: {failure}")));
        }
        project.check_images()?;
        Ok(Compared { project, local })
    }

    /// Builds it with these settings, from an empty cache.
    pub(super) fn build(&self, remote: &str) -> Result<Built> {
        self.checked(self.project.build(remote, &Cache::new()?)?)
    }

    /// The same, without counting compilers.
    pub(super) fn time(&self, remote: &str) -> Result<Built> {
        self.checked(self.project.time(remote, &Cache::new()?)?)
    }

    fn checked(&self, built: Built) -> Result<Built> {
        if built.failure.is_none() {
            self.project.check_images()?;
        }
        Ok(built)
    }

    /// Fills a server, and builds again from an empty cache.
    pub(super) fn fill_and_take(&self, server: &str, remote: &str, rows: &mut Rows) -> Result<()> {
        let same = Check::Same(&self.local);
        let built = self.build(remote)?;
        rows.build(("fills the server", server), &built, &[same, Check::Silent]);
        let built = self.build(remote)?;
        rows.build(("takes all of it", server), &built, &[same, Check::NoCompiler, Check::Silent]);
        Ok(())
    }
}

pub(super) fn run(machine: &Machine<'_>, rows: &mut Rows) -> Result<()> {
    let mut small = Compared::prepare(machine, Package::SMALL, rows)?;
    let dir = tempfile::tempdir()?;
    let root = dir.path();
    small.fill_and_take("folder", &format!("url = \"file://{}\"", root.join("folder").display()), rows)?;

    let http = Nginx::start(&root.join("http"), &Serves::Folder)?;
    small.fill_and_take("nginx, HTTP", &format!("url = \"http://{}\"", http.address()), rows)?;

    bucket(machine, &mut small, &root.join("s3"), rows)?;

    let buildbox = Buildbox::start(machine.buildbox()?, &root.join("buildbox"), 2)?;
    let server = Server { name: "buildbox", url: &buildbox.url(), instance: "" };
    alone::compile(&server, rows)?;
    small.fill_and_take("buildbox", &format!("url = \"{}\"", buildbox.url()), rows)?;
    let workers = Buildbox::start(machine.buildbox()?, &root.join("workers"), 2)?;
    let executes = format!("url = \"{}\", execute = true", workers.url());
    small.fill_and_take("buildbox, executing", &executes, rows)?;

    tools_travel(machine, &mut small, &root.join("bare"), rows)?;

    let standin = machine.standin(&[])?;
    let server = Server { name: "stand-in", url: &standin.url(), instance: "" };
    alone::compile(&server, rows)?;
    small.fill_and_take("stand-in", &format!("url = \"{}\"", standin.url()), rows)?;
    let standin = machine.standin(&["--instance", "main"])?;
    let executes = format!("url = \"{}\", instance = \"main\", execute = true", standin.url());
    small.fill_and_take("stand-in, executing", &executes, rows)?;

    let authority = Authority::new(&root.join("authority"))?;
    let pair = authority.valid()?;
    let standin = machine.standin(&[])?;
    let tls = Nginx::start(&root.join("tls"), &Serves::Grpc(standin.address(), &pair, Some(&authority)))?;
    let secure = format!(
        "url = \"grpcs://localhost:{}\", execute = true, ca = \"{}\", certificate = \"{}\", key = \"{}\"",
        tls.address().port(),
        authority.certificate().display(),
        pair.certificate.display(),
        pair.key.display()
    );
    small.fill_and_take("stand-in, TLS", &secure, rows)
}

/// A writer fills a bucket, a reader takes all of it, and a build without credentials gets a warning.
fn bucket(machine: &Machine<'_>, small: &mut Compared, dir: &Path, rows: &mut Rows) -> Result<()> {
    let s3 = S3::start(&machine.moto()?, dir)?;
    let name = "moto, S3";
    small.project.set_credentials(Some(s3.reader()));
    let built = small.build(&s3.settings())?;
    rows.build(("may not fill it", name), &built, &[Check::Same(&small.local), Check::Warned]);
    small.project.set_credentials(Some(s3.writer()));
    small.fill_and_take(name, &s3.settings(), rows)?;
    small.project.set_credentials(Some(s3.reader()));
    let reads = format!("{}, upload = false", s3.settings());
    let built = small.build(&reads)?;
    rows.build(("only takes", name), &built, &[Check::Same(&small.local), Check::NoCompiler, Check::Silent]);
    small.project.set_credentials(None);
    let built = small.build(&reads)?;
    rows.build(("without credentials", name), &built, &[Check::Same(&small.local), Check::Warned]);
    Ok(())
}

/// Workers that have no compilers get them with their first command.
fn tools_travel(machine: &Machine<'_>, small: &mut Compared, dir: &Path, rows: &mut Rows) -> Result<()> {
    small.project.set_toolchain(Some(&machine.toolchain()?));
    let workers = Buildbox::start_bare(machine.buildbox()?, dir, 2)?;
    let remote = format!("url = \"{}\", execute = true, tools = \"upload\"", workers.url());
    let built = small.build(&remote);
    small.project.set_toolchain(None);
    let checks = [Check::Same(&small.local), Check::Fewer(&small.local), Check::Silent];
    rows.build(("compilers travel", "buildbox, bare"), &built?, &checks);
    Ok(())
}
