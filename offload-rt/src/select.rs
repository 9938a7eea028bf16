//! The choice of an image for a device: a function of data alone.

mod rules;
mod verdict;

use std::collections::BTreeSet;

pub use self::verdict::{Outcome, Selection, Verdict};
use self::{rules::Fit, verdict::verdicts};
use crate::device::Device;
use crate::entry::Entry;
use crate::error::{Error, Kind};
use crate::registry::Registry;
use crate::text::escape;

/// An image with how well it fits, or why it does not.
type Judged<'r> = (&'r Entry, Result<Fit, String>);

/// The best image of `module` for `device`, with what was decided about each of the others.
pub(crate) fn select(registry: &Registry, module: &str, device: &Device) -> Result<Selection, Error> {
    let candidates = candidates(registry, module)?;
    let judged: Vec<Judged<'_>> =
        candidates.iter().map(|entry| (*entry, rules::judge(entry, device))).collect();
    // `max_by_key` would take the last of equals; the first is the one that the table shows first.
    let best = judged
        .iter()
        .rev()
        .filter_map(|(entry, fit)| Some((*entry, fit.as_ref().ok()?)))
        .max_by_key(|(_, fit)| *fit);
    match best {
        Some((entry, fit)) => Ok(Selection::new(entry.clone(), verdicts(&judged, (entry, *fit)))),
        None => Err(no_fit(registry, module, (device, &judged))),
    }
}

fn candidates<'r>(registry: &'r Registry, module: &str) -> Result<Vec<&'r Entry>, Error> {
    let found: Vec<&Entry> = registry.entries().iter().filter(|entry| entry.module() == module).collect();
    if found.is_empty() {
        let present: BTreeSet<&str> = registry.entries().iter().map(Entry::module).collect();
        let present = present.into_iter().map(|name| format!("`{}`", escape(name))).collect();
        let missing = missing(registry, module);
        return Err(Kind::UnknownModule { module: module.to_string(), present, missing }.into());
    }
    let packages: BTreeSet<&str> = found.iter().map(|entry| entry.package()).collect();
    if packages.len() > 1 {
        let packages = packages.into_iter().map(escape).collect();
        return Err(Kind::Ambiguous { module: module.to_string(), packages }.into());
    }
    Ok(found)
}

fn no_fit(registry: &Registry, module: &str, (device, judged): (&Device, &[Judged<'_>])) -> Error {
    let refusals = judged.iter().filter_map(|(entry, fit)| Some((entry, fit.as_ref().err()?)));
    let refused =
        refusals.map(|(entry, reason)| format!("{}: {reason}", escape(entry.target_text()))).collect();
    let (device, missing) = (device.description(), missing(registry, module));
    Kind::NoFit { module: module.to_string(), device, refused, missing }.into()
}

/// What the build left out of `module`, and packs that cannot be read: they may have held it.
fn missing(registry: &Registry, module: &str) -> Vec<String> {
    let concerned = |name: &str| name == module || name.is_empty();
    let notices =
        registry.notices().iter().filter(|notice| concerned(&notice.module)).map(ToString::to_string);
    let skipped = registry.skipped().iter().map(|skipped| format!("cannot be read: {skipped}"));
    notices.chain(skipped).collect()
}
