//! Networks that fail during a build.

use std::thread;
use std::time::Duration;

use super::super::machine::{Machine, skip};
use super::super::project::Built;
use super::super::rows::{Check, Rows};
use super::super::servers::{Cut, Namespace, Proxy, Standin};
use super::super::tiers::Compared;
use super::{HELD_UP, executes};
use offload_tests::error::{Error, Result};

/// The share of a build's traffic before the cut, in percent.
const POINTS: [u64; 3] = [5, 50, 90];

pub(super) fn run((small, machine): (&mut Compared, &Machine<'_>), rows: &mut Rows) -> Result<()> {
    let whole = through((&*small, machine), (Cut::Closed(u64::MAX), ""), rows)?;
    for point in POINTS {
        let bytes = whole / 100 * point;
        through((&*small, machine), (Cut::Closed(bytes), &format!("closed after {point} %")), rows)?;
        through((&*small, machine), (Cut::Silent(bytes), &format!("silent after {point} %")), rows)?;
    }
    namespace((small, machine), rows)
}

/// Builds through a proxy; returns how many bytes went through.
fn through(
    (small, machine): (&Compared, &Machine<'_>),
    (cut, what): (Cut, &str),
    rows: &mut Rows,
) -> Result<u64> {
    let standin = machine.standin(&[])?;
    let proxy = Proxy::start(standin.address(), cut)?;
    let remote = format!("url = \"{}\", timeout = 2, execute = true", proxy.url());
    let built = small.build(&remote)?;
    if !what.is_empty() {
        // Which calls there are depends on which worker is free: some builds have fewer.
        let expected = if proxy.is_cut() { Check::Warned } else { Check::Silent };
        check((small, what, "stand-in, proxy"), (&built, expected), rows);
    }
    Ok(proxy.passed())
}

fn check(
    (small, what, server): (&Compared, &str, &str),
    (built, expected): (&Built, Check<'_>),
    rows: &mut Rows,
) {
    let checks = [Check::Same(&small.local), expected, Check::Within(HELD_UP)];
    rows.build((what, server), built, &checks);
}

/// A server in a network of its own, whose cable is pulled once it was asked something.
fn namespace((small, machine): (&mut Compared, &Machine<'_>), rows: &mut Rows) -> Result<()> {
    if !machine.workspace.is_root() {
        return skip("a network of its own needs root");
    }
    let namespace = Namespace::new()?;
    let standin = namespace.standin(machine.standin_program())?;
    small.project.set_network(Some(namespace.here()));
    pulled((small, &namespace), &standin, rows)?;
    small.project.set_network(None);
    Ok(())
}

fn pulled((small, namespace): (&Compared, &Namespace), standin: &Standin, rows: &mut Rows) -> Result<()> {
    let remote = executes(standin);
    let built = small.build(&remote)?;
    rows.build(("executed there", "stand-in, netns"), &built, &[Check::Same(&small.local), Check::Silent]);
    standin.forget()?;
    let built = thread::scope(|scope| {
        let building = scope.spawn(|| small.build(&remote));
        while standin.counts()?.calls < 2 && !building.is_finished() {
            thread::sleep(Duration::from_millis(5));
        }
        namespace.cut()?;
        building.join().map_err(|_| Error::new("the build's thread has panicked"))?
    })?;
    check((small, "the cable is pulled", "stand-in, netns"), (&built, Check::Warned), rows);
    let built = small.build(&remote)?;
    check((small, "no route", "stand-in, netns"), (&built, Check::Warned), rows);
    Ok(())
}
