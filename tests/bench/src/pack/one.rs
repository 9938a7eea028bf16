//! One image of 25 in a new process: from our pack, from a compressed bundle that is inflated whole, and by the bundler.

use std::path::{Path, PathBuf};

use super::cost::Cost;
use super::peers::{Peers, bundle_id, option};
use super::sets::{Set, file_name};
use super::tool::{self, Ran, Tool};
use crate::median;
use offload_tests::error::{Error, Result};

pub(super) const SET: &str = "one image of 25";
pub(super) const OURS: &str = "offload, balanced";
pub(super) const OURS_WHOLE: &str = "offload, balanced, with the process";
pub(super) const CCOB: &str = "CCOB, default level, in process";
pub(super) const BUNDLER: &str = "clang-offload-bundler -unbundle";

/// How often each image is read; the fastest counts, because noise of a busy machine only adds time.
const RUNS: usize = 5;

/// Every image of the set's only module is read; the table has the median of all.
pub(super) fn measure(
    (tool, peers): (&Tool, &Peers<'_>),
    set: &Set,
    (pack, dir): (&Path, &Path),
) -> Result<Vec<Cost>> {
    let modules = set.modules()?;
    let (module, images) = modules.first().ok_or_else(|| Error::new("there is no module"))?;
    let ccob = peers.ccob(module, None);
    let mut samples = [OURS, OURS_WHOLE, CCOB, BUNDLER].map(|who| (who, Vec::new()));
    for image in images {
        let ran = read(tool, (pack, module), &file_name(image)?)?;
        let whole = inflate(tool, &ccob, image)?;
        let unbundled = unbundle((tool, peers), &ccob, (image, dir))?;
        let bytes = tool::size(image)?;
        let times = [
            (inside(&ran), ran.peak),
            (ran.seconds, ran.peak),
            (inside(&whole), whole.peak),
            (unbundled.seconds, unbundled.peak),
        ];
        for ((_, samples), (seconds, peak)) in samples.iter_mut().zip(times) {
            samples.push((seconds, peak, bytes));
        }
    }
    let raw = set.size()?;
    Ok(samples.into_iter().map(|(who, samples)| cost(who, samples, raw)).collect())
}

/// Seconds that a process took for the image alone.
fn inside(ran: &Ran) -> f64 {
    ran.value("microseconds").unwrap_or(f64::NAN) / 1e6
}

fn cost(who: &str, samples: Vec<(f64, u64, u64)>, raw: u64) -> Cost {
    let peak = median(samples.iter().map(|(_, peak, _)| *peak as f64).collect());
    let bytes = median(samples.iter().map(|(_, _, bytes)| *bytes as f64).collect());
    let seconds = median(samples.into_iter().map(|(seconds, _, _)| seconds).collect());
    let bytes = bytes as u64;
    let peak = peak as u64;
    Cost { set: SET.into(), who: who.into(), raw, bytes, index: 0, seconds, peak }
}

fn read(tool: &Tool, (pack, module): (&Path, &str), target: &str) -> Result<Ran> {
    let mut command = tool.command("one");
    command.arg(pack).args([module, target]);
    fastest(|| tool.measure(&command))
}

fn inflate(tool: &Tool, ccob: &Path, image: &Path) -> Result<Ran> {
    let mut command = tool.command("ccob");
    let name = file_name(image)?;
    command.arg(ccob).arg(name.split_once(':').map_or("", |(_, target)| target));
    fastest(|| tool.measure(&command))
}

fn unbundle((tool, peers): (&Tool, &Peers<'_>), ccob: &Path, (image, dir): (&Path, &Path)) -> Result<Ran> {
    let out: PathBuf = dir.join("unbundled");
    let mut command = peers.unbundle(ccob, &[bundle_id(image)?]);
    command.arg(option("-output=", &out));
    fastest(|| tool.measure(&command))
}

fn fastest(run: impl Fn() -> Result<Ran>) -> Result<Ran> {
    let mut best = run()?;
    for _ in 1..RUNS {
        let ran = run()?;
        if time(&ran) < time(&best) {
            best = ran;
        }
    }
    Ok(best)
}

fn time(ran: &Ran) -> f64 {
    ran.value("microseconds").unwrap_or(ran.seconds * 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_the_median_of_each() {
        let cost = cost("us", vec![(3.0, 10, 5), (1.0, 30, 7), (2.0, 20, 6)], 9);
        assert_eq!((cost.seconds, cost.peak, cost.bytes, cost.raw), (2.0, 20, 6, 9));
    }
}
