//! Where the images of a module come from: compilers, or the package itself.

use super::{Compiled, Session};
use crate::config::{Vendored as When, WantedTarget};
use crate::error::{Error, Result};

/// What becomes of each of some targets, in their order.
pub(super) type Results = Vec<Result<Vec<Compiled>>>;

/// What becomes of each of `targets`: `build` compiles those for which the package brings nothing along, or nothing
/// that is to be used.
pub(super) fn results(
    session: &Session<'_>,
    targets: &[WantedTarget],
    build: impl Fn(&[WantedTarget]) -> Result<Results>,
) -> Result<Results> {
    match session.workshop.vendored {
        When::Never => build(targets),
        When::Fallback => fallback(session, targets, each(targets, &build)?),
        When::Prefer => prefer(session, targets, build),
    }
}

/// As `build`, where a missing tool that all targets need is missed by each.
fn each(targets: &[WantedTarget], build: impl Fn(&[WantedTarget]) -> Result<Results>) -> Result<Results> {
    match build(targets) {
        Err(error) if error.is_missing_tool() => Ok(targets.iter().map(|_| Err(error.again())).collect()),
        results => results,
    }
}

/// Vendored images in place of those that cannot be compiled for want of a tool.
fn fallback(session: &Session<'_>, targets: &[WantedTarget], results: Results) -> Result<Results> {
    let lacks = |result: &Result<Vec<Compiled>>| result.as_ref().is_err_and(Error::is_missing_tool);
    if !results.iter().any(lacks) {
        return Ok(results);
    }
    let vendored = session.workshop.shelf.look((session.env, session.cache), session.sources)?;
    let (mut supplied, mut reason) = (Vec::new(), String::new());
    let results = targets.iter().zip(results).map(|(wanted, result)| {
        let error = match result {
            Err(error) if error.is_missing_tool() => error,
            result => return result,
        };
        match vendored.images(session.env, wanted) {
            images if images.is_empty() => Err(vendored.explain(error)),
            images => {
                supplied.push(wanted);
                reason = error.summary().to_string();
                Ok(images)
            }
        }
    });
    let results = results.collect();
    tell(session, &supplied, &reason);
    Ok(results)
}

/// Vendored images wherever they fit.
fn prefer(
    session: &Session<'_>,
    targets: &[WantedTarget],
    build: impl Fn(&[WantedTarget]) -> Result<Results>,
) -> Result<Results> {
    let vendored = session.workshop.shelf.look((session.env, session.cache), session.sources)?;
    let images: Vec<Vec<Compiled>> =
        targets.iter().map(|wanted| vendored.images(session.env, wanted)).collect();
    let left = targets.iter().zip(&images).filter(|(_, images)| images.is_empty());
    let left: Vec<WantedTarget> = left.map(|(wanted, _)| wanted.clone()).collect();
    let mut built = each(&left, build)?.into_iter();
    let lost = || Err(Error::new("a target has no result"));
    let filled = images.into_iter().map(|images| match images.is_empty() {
        true => built.next().unwrap_or_else(lost).map_err(|error| vendored.explain(error)),
        false => Ok(images),
    });
    Ok(filled.collect())
}

/// That the images are not of this build is said: it is what somebody has to know who looks for a difference.
fn tell(session: &Session<'_>, supplied: &[&WantedTarget], reason: &str) {
    if supplied.is_empty() {
        return;
    }
    let names: Vec<String> = supplied.iter().map(|wanted| format!("`{}`", wanted.target)).collect();
    let module = &session.sources.module;
    session.env.warn(&format!("vendored images of `{module}` are used for {}: {reason}", names.join(", ")));
}
