//! Comparing a file with one that a runtime has written again.

use std::collections::BTreeSet;
use std::path::Path;

use offload_containers::syclbin::{AbstractModule, BundleState, Payload, PropertySets, parse};
use offload_format::Limits;

/// # Panics
/// If the second file lacks anything of the first. Of an executable native code comes in place of IR.
pub fn assert(one: &Path, other: &Path) {
    let files = [one, other].map(|path| std::fs::read(path).unwrap());
    let [one, other] = files.each_ref().map(|bytes| parse(bytes, &Limits::default()).unwrap());
    let state = one.state().unwrap();
    assert_eq!((state, one.modules.len()), (other.state().unwrap(), other.modules.len()));
    for module in &one.modules {
        let kernels: BTreeSet<&str> = module.kernels().collect();
        let again = other.modules.iter().find(|again| again.kernels().collect::<BTreeSet<_>>() == kernels);
        let again = again.unwrap_or_else(|| panic!("no module has {kernels:?}"));
        assert_kept(&module.metadata, &again.metadata);
        match state {
            BundleState::Executable => assert!(!again.native.is_empty(), "the code of {kernels:?} is gone"),
            _ => assert_forms(module, again),
        }
    }
}

fn assert_forms(module: &AbstractModule<'_>, again: &AbstractModule<'_>) {
    assert_eq!(bytes(&module.ir), bytes(&again.ir));
    assert_eq!(bytes(&module.native), bytes(&again.native));
    let forms = module.ir.iter().zip(&again.ir).chain(module.native.iter().zip(&again.native));
    forms.for_each(|(form, again)| assert_kept(&form.metadata, &again.metadata));
}

fn bytes(forms: &[Payload<'_>]) -> Vec<Vec<u8>> {
    forms.iter().map(|form| form.bytes.to_vec()).collect()
}

/// A runtime may add sets and properties.
fn assert_kept(sets: &PropertySets<'_>, again: &PropertySets<'_>) {
    for property in sets.properties() {
        let kept = again.get(property.set, property.name);
        assert_eq!(kept, sets.get(property.set, property.name), "{property:?}");
    }
}
