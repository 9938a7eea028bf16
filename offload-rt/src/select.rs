//! The choice of an image for each kernel of a module: a function of data alone.

mod candidates;
mod choice;
mod rules;
mod selection;
mod verdict;

pub use self::selection::Selection;
pub use self::verdict::{Outcome, Verdict};

pub(crate) use self::candidates::variants;
use self::choice::Picks;
use self::rules::Fit;
use self::verdict::verdicts;
use crate::device::Device;
use crate::entry::Entry;
use crate::error::{Error, Kind};
use crate::registry::Registry;
use crate::text::escape;

/// An image with how well it fits, or why it does not.
type Judged<'r> = (&'r Entry, Result<Fit, String>);

/// Names and values that choose a variant, in any order; none for a module without variants.
pub(crate) type Values<'v> = [(&'v str, &'v str)];

/// The best image for each kernel of `module`, with what was decided about each of its images.
pub(crate) fn select(
    registry: &Registry,
    (module, values): (&str, &Values<'_>),
    device: &Device,
) -> Result<Selection, Error> {
    let candidates = candidates::of(registry, module, values)?;
    let judged: Vec<Judged<'_>> =
        candidates.iter().map(|entry| (entry, rules::judge(entry, device))).collect();
    let picks = Picks::of(&judged);
    let asked = Asked {
        name: module.to_string(),
        module: name(module, &judged),
        device: device.description(),
        registry: registry.clone(),
    };
    Selection::new(asked, &judged, &picks).map_err(|asked| no_fit(asked, &judged))
}

/// What a choice was asked for; it stands in errors.
#[derive(Clone, Debug)]
struct Asked {
    name: String,
    /// `module` or `module/variant`.
    module: String,
    device: String,
    /// What it was asked of.
    registry: Registry,
}

impl Asked {
    /// What the build has left out of `module`, which only errors tell.
    fn missing(&self) -> Vec<String> {
        missing(&self.registry, &self.name)
    }
}

fn name(module: &str, judged: &[Judged<'_>]) -> String {
    let variant = judged.first().map(|(entry, _)| entry.variant()).unwrap_or_default();
    if variant.is_empty() { module.to_string() } else { format!("{module}/{variant}") }
}

fn no_fit(asked: Asked, judged: &[Judged<'_>]) -> Error {
    let refusals = judged.iter().filter_map(|(entry, fit)| Some((entry, fit.as_ref().err()?)));
    let refused = refusals.map(|(entry, reason)| format!("{}: {reason}", entry.place())).collect();
    let missing = asked.missing();
    let Asked { module, device, .. } = asked;
    Kind::NoFit { module, device, refused, missing }.into()
}

/// What the build left out of `module`, and packs that cannot be read: they may have held it.
fn missing(registry: &Registry, module: &str) -> Vec<String> {
    let concerned = |name: &str| name == module || name.is_empty();
    let notices =
        registry.notices().iter().filter(|notice| concerned(&notice.module)).map(ToString::to_string);
    let skipped = registry.skipped().iter().map(|skipped| format!("cannot be read: {skipped}"));
    notices.chain(skipped).collect()
}

/// Names for a message, each in quotes.
fn quoted<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    names.into_iter().map(|name| format!("`{}`", escape(name))).collect()
}
