//! Packs that are copied to another location unchanged.

use offload_format::pack::Sidecar;

use super::pack::{NewPack, PackContent, PackEnd, Storage};
use crate::error::Result;
use crate::files::pieces::Piece;
use crate::read::metadata::PackMetadata;
use crate::read::pack_file::LocatedPack;

/// The old bytes, if the new packs are old packs without a change.
pub(super) fn copy(packs: &[PackContent<'_>], storage: Storage) -> Result<Option<Vec<NewPack>>> {
    let mut sources = Vec::new();
    for new in packs {
        let [kept] = new.kept.as_slice() else { return Ok(None) };
        let source = kept.source;
        let old = PackMetadata { sidecars: sidecars(&source)?, ..PackMetadata::from_pack(&source.pack)? };
        let whole = kept.images.len() as u64 == source.pack.image_count() && new.metadata == old;
        if !whole || storage != Storage::Kept {
            return Ok(None);
        }
        sources.push(source);
    }
    if !sources.windows(2).all(are_linked)
        || sources.first().is_some_and(|first| sharers(first) != sources.len())
    {
        return Ok(None);
    }
    let next = sources.iter().skip(1).map(Some).chain([None]);
    sources.iter().zip(next).map(|(source, next)| bytes(source, next)).collect::<Result<_>>().map(Some)
}

/// The number of packs in the file that share the payload of `source`.
fn sharers(source: &LocatedPack<'_>) -> usize {
    source.file.packs().filter(|other| other.shares_with(source)).count()
}

fn sidecars(source: &LocatedPack<'_>) -> Result<Vec<Sidecar>> {
    Ok(source.pack.sidecars().collect::<std::result::Result<_, _>>()?)
}

fn bytes(source: &LocatedPack<'_>, next: Option<&LocatedPack<'_>>) -> Result<NewPack> {
    let from = source.file.file().clone();
    let offset = source.index.offset();
    let size = source.pack.size();
    let (own, end) = match next {
        Some(next) => (next.index.offset().saturating_sub(offset), PackEnd::OfNext),
        None => (size, PackEnd::Own),
    };
    let pieces = vec![Piece::Copy { from, offset, size: own }];
    Ok(NewPack { pieces, id: source.pack.id()?, size, end })
}

fn are_linked(pair: &[LocatedPack<'_>]) -> bool {
    match pair {
        [first, second] => first.shares_with(second) && first.index.offset() < second.index.offset(),
        _ => false,
    }
}
