//! Sizes of kernel arguments that one image of a module records and another does not.

use std::collections::BTreeMap;

use offload_format::pack::{ArgInfo, ArgKind, KernelInfo};

/// A kernel and the number of its argument.
type Place = (String, usize);

/// What the records of a module agree on.
#[derive(Default)]
struct Sizes {
    values: BTreeMap<Place, Agreed>,
    elements: BTreeMap<Place, Agreed>,
}

/// The size that all records have that have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Agreed {
    On(u32),
    /// A source may declare another structure for another target.
    Differs,
}

/// Completes the sizes of arguments in `kernels`, the records of all images of a module, with the sizes that others of them have. A number or a
/// vector has that of its type.
pub fn complete(mut kernels: Vec<&mut KernelInfo>) {
    let mut sizes = Sizes::default();
    for kernel in &mut kernels {
        for (number, arg) in kernel.args.iter_mut().flatten().enumerate() {
            set_from_type(arg);
            sizes.add((kernel.name.clone(), number), arg);
        }
    }
    for kernel in kernels {
        for (number, arg) in kernel.args.iter_mut().flatten().enumerate() {
            sizes.give(&(kernel.name.clone(), number), arg);
        }
    }
}

fn set_from_type(arg: &mut ArgInfo) {
    let size = crate::parameter::size(&arg.base_type);
    match arg.kind {
        ArgKind::Value => arg.size = arg.size.or(size),
        ArgKind::Global | ArgKind::Constant => arg.element_size = arg.element_size.or(size),
        _ => {}
    }
}

impl Sizes {
    fn add(&mut self, place: Place, arg: &ArgInfo) {
        let (sizes, size) = match arg.kind {
            ArgKind::Value => (&mut self.values, arg.size),
            ArgKind::Global | ArgKind::Constant => (&mut self.elements, arg.element_size),
            _ => return,
        };
        let Some(size) = size else { return };
        let agreed = sizes.entry(place).or_insert(Agreed::On(size));
        if *agreed != Agreed::On(size) {
            *agreed = Agreed::Differs;
        }
    }

    fn give(&self, place: &Place, arg: &mut ArgInfo) {
        match arg.kind {
            ArgKind::Value => arg.size = arg.size.or(agreed(&self.values, place)),
            ArgKind::Global | ArgKind::Constant => {
                arg.element_size = arg.element_size.or(agreed(&self.elements, place));
            }
            _ => {}
        }
    }
}

fn agreed(sizes: &BTreeMap<Place, Agreed>, place: &Place) -> Option<u32> {
    match sizes.get(place) {
        Some(Agreed::On(size)) => Some(*size),
        Some(Agreed::Differs) | None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(args: Vec<ArgInfo>) -> KernelInfo {
        let mut info = KernelInfo::new("k");
        info.args = Some(args);
        info
    }

    fn value(size: Option<u32>) -> ArgInfo {
        ArgInfo::new(ArgKind::Value).with_size(size)
    }

    fn sizes(kernels: &[KernelInfo]) -> Vec<Option<u32>> {
        kernels.iter().map(|kernel| kernel.args.as_ref().unwrap()[0].size).collect()
    }

    #[test]
    fn a_size_that_one_image_records_holds_for_all() {
        let mut kernels = [None, Some(48), None].map(|size| kernel(vec![value(size)]));
        complete(kernels.iter_mut().collect());
        assert_eq!(sizes(&kernels), [Some(48); 3]);
    }

    #[test]
    fn sizes_that_differ_hold_where_they_are_recorded() {
        let mut kernels = [None, Some(48), Some(32)].map(|size| kernel(vec![value(size)]));
        complete(kernels.iter_mut().collect());
        assert_eq!(sizes(&kernels), [None, Some(48), Some(32)]);
    }

    #[test]
    fn numbers_and_vectors_have_the_size_of_their_type() {
        let args = vec![
            value(None).with_base_type("double"),
            ArgInfo::new(ArgKind::Global).with_base_type("float3"),
            ArgInfo::new(ArgKind::Local).with_base_type("float"),
        ];
        let mut kernels = [kernel(args)];
        complete(kernels.iter_mut().collect());
        let args = kernels[0].args.as_ref().unwrap();
        assert_eq!(args[0].size, Some(8));
        assert_eq!(args[1].element_size, Some(16));
        // A size would say that the kernel takes it as an offset.
        assert_eq!((args[2].size, args[2].element_size), (None, None));
    }
}
