//! The sizes of a kernel's parameters as the driver has them.

use offload_format::pack::{ArgInfo, ArgKind, KernelInfo};

use crate::backend::{KernelArg, KernelArgKind, no_image_arguments};
use crate::error::Problem;
use crate::gpu::ArgumentCheck;

/// The sizes of a kernel's parameters; `None` if its record says the same, which the launch layer compares with, or if the
/// driver tells none.
#[derive(Debug)]
pub(crate) struct ParameterSizes(Option<Vec<usize>>);

impl ArgumentCheck for ParameterSizes {
    fn new(info: &KernelInfo, sizes: Option<Vec<usize>>) -> ParameterSizes {
        let args = info.args.as_ref();
        ParameterSizes(sizes.filter(|sizes| !args.is_some_and(|args| are_of_sizes(args, sizes))))
    }

    #[inline]
    fn check(&self, args: &[KernelArg<'_>]) -> Result<(), Problem> {
        self.0.as_ref().map_or(Ok(()), |sizes| check_sizes(sizes, args))
    }
}

/// Whether arguments that fit the records `known` have the sizes that the driver has for a kernel's parameters.
fn are_of_sizes(known: &[ArgInfo], sizes: &[usize]) -> bool {
    known.len() == sizes.len()
        && known.iter().zip(sizes).all(|(known, takes)| parameter_size(known) == Some(*takes))
}

fn parameter_size(arg: &ArgInfo) -> Option<usize> {
    match (arg.kind, arg.size) {
        (ArgKind::Value, size) => size.map(|size| size as usize),
        (ArgKind::Global | ArgKind::Constant | ArgKind::Local, _) => Some(size_of::<u64>()),
        _ => None,
    }
}

/// Compares `args` with the sizes that the driver has for a kernel's parameters.
fn check_sizes(sizes: &[usize], args: &[KernelArg<'_>]) -> Result<(), Problem> {
    if sizes.len() != args.len() {
        return Err(format!("it takes {} arguments, {} are given", sizes.len(), args.len()).into());
    }
    for (index, (takes, arg)) in sizes.iter().zip(args).enumerate() {
        let given = match arg.0 {
            KernelArgKind::Value(bytes) => bytes.len(),
            KernelArgKind::Memory(_) | KernelArgKind::Local(_) | KernelArgKind::Texture(_) => {
                size_of::<u64>()
            }
            KernelArgKind::Image(..) | KernelArgKind::Sampler(_) => return Err(no_image_arguments()),
        };
        if given != *takes {
            return Err(format!("argument {index} is {takes} bytes in the image, {given} are given").into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_compared_with_the_driver_s() {
        let args = [KernelArg::value(&1.0f32), KernelArg::local::<u8>(3), KernelArg::local::<u8>(1)];
        assert_eq!(check_sizes(&[4, 8, 8], &args), Ok(()));
        for (sizes, reason) in [
            (&[4, 8][..], "takes 2 arguments, 3 are given"),
            (&[8, 8, 8], "argument 0 is 8 bytes in the image, 4 are given"),
            (&[4, 4, 8], "argument 1 is 4 bytes in the image, 8 are given"),
            (&[4, 8, 4], "argument 2 is 4 bytes"),
        ] {
            assert!(check_sizes(sizes, &args).unwrap_err().text.contains(reason), "{sizes:?}");
        }
    }

    #[test]
    fn records_may_say_what_the_driver_does() {
        fn arg(kind: ArgKind, size: Option<u32>) -> ArgInfo {
            ArgInfo::new(kind).with_size(size)
        }
        let value = arg(ArgKind::Value, Some(4));
        let unsized_value = arg(ArgKind::Value, None);
        let buffer = arg(ArgKind::Global, None);
        let local = arg(ArgKind::Local, Some(8));
        assert!(are_of_sizes(&[value.clone(), buffer.clone(), local], &[4, 8, 8]) && are_of_sizes(&[], &[]));
        for (known, sizes) in [
            (vec![value.clone()], &[8][..]),
            (vec![buffer], &[4]),
            (vec![unsized_value], &[4]),
            (vec![value], &[4, 4]),
            (vec![arg(ArgKind::Image, Some(8))], &[8]),
        ] {
            assert!(!are_of_sizes(&known, sizes), "{known:?}");
        }
    }
}
