//! Packs that stay what they are, in another place.

use offload_format::pack::Elsewhere;

use super::{About, Ends, NewBytes, Part, Storage};
use crate::error::Result;
use crate::files::pieces::Piece;
use crate::read::pack_file::Source;

/// The old bytes, if the new packs are old packs without a change.
pub(super) fn copy(parts: &[Part<'_>], storage: Storage) -> Result<Option<Vec<NewBytes>>> {
    let mut sources = Vec::new();
    for part in parts {
        let [(source, images)] = part.kept.as_slice() else { return Ok(None) };
        let whole = images.len() as u64 == source.pack.image_count()
            && part.about == About { elsewhere: elsewhere(source)?, ..About::of(&source.pack)? };
        if !whole || storage != Storage::Kept {
            return Ok(None);
        }
        sources.push(*source);
    }
    let linked = |pair: &[Source<'_>]| match pair {
        [first, second] => first.shares_with(second) && first.found.offset() < second.found.offset(),
        _ => false,
    };
    if !sources.windows(2).all(linked) || sources.first().is_some_and(|first| sharers(first) != sources.len())
    {
        return Ok(None);
    }
    let next = sources.iter().skip(1).map(Some).chain([None]);
    sources.iter().zip(next).map(|(source, next)| bytes(source, next)).collect::<Result<_>>().map(Some)
}

/// How many packs of the file share the payload of `source`.
fn sharers(source: &Source<'_>) -> usize {
    source.carrier.packs().filter(|other| other.shares_with(source)).count()
}

fn elsewhere(source: &Source<'_>) -> Result<Vec<Elsewhere>> {
    Ok(source.pack.elsewhere().collect::<std::result::Result<_, _>>()?)
}

fn bytes(source: &Source<'_>, next: Option<&Source<'_>>) -> Result<NewBytes> {
    let (from, offset, size) = (source.carrier.file().clone(), source.found.offset(), source.pack.size());
    let (own, ends) = match next {
        Some(next) => (next.found.offset().saturating_sub(offset), Ends::InNext),
        None => (size, Ends::Here),
    };
    let pieces = vec![Piece::Copy { from, offset, size: own }];
    Ok(NewBytes { pieces, id: source.pack.id()?, size, ends })
}
