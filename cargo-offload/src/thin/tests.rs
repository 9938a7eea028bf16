//! Rebuilding packs whose index is in pages.

use offload_format::codec;

use super::*;
use crate::program;
use crate::publish::publish_pack;

/// A pack of `modules` modules in a file of `dir`.
fn write_pack(path: &Path, modules: usize) {
    let mut builder = PackBuilder::new("many", "1.0.0");
    let mut pieces = BTreeMap::new();
    for at in 0..modules {
        let frame = codec::encode(raw(at).as_bytes(), Codec::Zstd, 3).unwrap();
        pieces.insert(frame.info().hash, Piece::Bytes(frame.bytes().to_vec()));
        let image = NewImage::new(&format!("module{at:04}"), "host".parse().unwrap());
        builder.image(image, frame.info()).unwrap();
    }
    let layout = builder.finish().unwrap();
    let id = layout.id;
    publish_pack(path, &[NewBytes { pieces: super::pieces(layout, &pieces), id }]).unwrap();
}

fn raw(at: usize) -> String {
    format!("image {at} ").repeat(30)
}

/// What is in the pack at `path`: modules and bytes.
fn read_pack(path: &Path) -> Vec<(String, Vec<u8>)> {
    let carrier = Carrier::open(path).unwrap();
    assert_eq!(carrier.skipped, Vec::<String>::new());
    let (found, pack) = carrier.packs().next().unwrap();
    let images = program::images(&pack).unwrap();
    images.iter().map(|i| (i.module.to_string(), carrier.decode(found, &pack, i).unwrap())).collect()
}

#[test]
fn images_move_between_packs_with_and_without_pages() {
    let dir = tempfile::tempdir().unwrap();
    let (old, new) = (dir.path().join("old.pack"), dir.path().join("new.pack"));
    write_pack(&old, 1500);
    for (keep, paged) in [(3, true), (300, false)] {
        let carrier = Carrier::open(&old).unwrap();
        let (found, pack) = carrier.packs().next().unwrap();
        let file = Rc::new(File::open(&old).unwrap());
        let source = Source { path: &old, file: &file, carrier: &carrier, found, pack: &pack };
        let images = program::images(&pack).unwrap();
        let kept: Vec<Image<'_>> = images.into_iter().step_by(keep).collect();
        let about = About::of(&pack).unwrap();
        publish_pack(&new, &[rebuild(&about, &[(source, kept)]).unwrap()]).unwrap();
        let expected = |at: usize| (format!("module{at:04}"), raw(at).into_bytes());
        assert_eq!(read_pack(&new), (0..1500).step_by(keep).map(expected).collect::<Vec<_>>());
        let bytes = std::fs::read(&new).unwrap();
        let pack = Pack::parse(&bytes).unwrap();
        assert_eq!(pack.head_size() > pack.payload_offset(), paged);
    }
}
