//! Comparing a launch with what the pack knows about the kernel.

use offload_format::pack::{ArgInfo, ArgKind, KernelInfo};

use crate::error::Error;
use crate::images::ImageType;
use crate::range::NdRange;
use crate::text::escape;

/// More local memory than any device has, in bytes.
pub(super) const MOST_LOCAL: usize = 1 << 30;

/// The shape of an argument, without its memory.
#[derive(Clone, Copy, Debug)]
pub(super) enum ArgShape {
    /// A value of this size in bytes.
    Value(usize),
    /// Global or constant memory with values of this size in bytes.
    Buffer {
        element: usize,
    },
    /// Local memory of this size in bytes.
    Local(usize),
    Image(ImageType),
    Sampler,
}

/// Refuses what the kernel cannot take.
pub(super) fn check(
    kernel: &KernelInfo,
    range: &NdRange,
    args: impl ExactSizeIterator<Item = ArgShape>,
) -> Result<(), Error> {
    if let Some(refusal) = range.refusal() {
        let error = Error::launch(&kernel.name, refusal);
        return Err(match range.refusal_hint() {
            Some(hint) => error.with_hint(hint),
            None => error,
        });
    }
    check_range(kernel, range)?;
    let Some(known) = &kernel.args else { return Ok(()) };
    if known.len() != args.len() {
        let takes = known.len();
        let given = args.len();
        return Err(Error::launch(&kernel.name, format!("it takes {takes} arguments, {given} are given")));
    }
    for (index, (known, given)) in known.iter().zip(args).enumerate() {
        check_arg(known, given).map_err(|problem| {
            let name = escape(&known.name);
            let type_name = escape(&known.type_name);
            Error::launch(&kernel.name, format!("argument {index} (`{type_name} {name}`) {problem}"))
        })?;
    }
    Ok(())
}

/// Refuses a work-group that the kernel was not compiled for.
fn check_range(kernel: &KernelInfo, range: &NdRange) -> Result<(), Error> {
    let Some(required) = kernel.required_work_group else { return Ok(()) };
    let given = range.local();
    if required.iter().zip(&given).any(|(required, given)| *required as usize != *given) {
        let problem = format!("it requires the local size {required:?}, not {given:?}");
        return Err(Error::launch(&kernel.name, problem));
    }
    if range.is_uneven() {
        let problem = format!(
            "it requires the local size {required:?}, and the last work-groups of the range are smaller"
        );
        return Err(Error::launch(&kernel.name, problem).with_hint(range.fitting_hint()));
    }
    Ok(())
}

fn check_arg(known: &ArgInfo, given: ArgShape) -> Result<(), String> {
    match (known.kind, given) {
        (ArgKind::Value, ArgShape::Value(bytes)) => match known.size {
            Some(size) if size as usize != bytes => Err(format!("is {size} bytes, {bytes} are given")),
            _ => Ok(()),
        },
        (ArgKind::Global | ArgKind::Constant, ArgShape::Buffer { element }) => check_elements(known, element),
        (ArgKind::Local, ArgShape::Local(0)) => Err("needs local memory, 0 bytes are given".to_string()),
        (ArgKind::Local, ArgShape::Local(size)) if size > MOST_LOCAL => {
            Err(format!("can have at most {MOST_LOCAL} bytes of local memory, {size} are given"))
        }
        (ArgKind::Local, ArgShape::Local(_)) => Ok(()),
        (ArgKind::Image, ArgShape::Image(given)) => check_image(known, given),
        (ArgKind::Sampler, ArgShape::Sampler) => Ok(()),
        // A kind of a later release: the driver will tell.
        (ArgKind::Unknown(_), _) => Ok(()),
        (kind, given) => Err(format!("is of kind {kind}, not {}", word(given))),
    }
}

/// Refuses an image of another type.
fn check_image(known: &ArgInfo, given: ImageType) -> Result<(), String> {
    // Only compilers of OpenCL C tell the type.
    if known.base_type.is_empty() || known.base_type == given.name() {
        return Ok(());
    }
    Err(format!("is an `{}`, an `{given}` is given", escape(&known.base_type)))
}

/// Refuses values of another stride than the kernel's. What is a whole number of them, or a part of one, may be another
/// view of the same memory: numbers for a vector, bytes for a structure.
fn check_elements(known: &ArgInfo, given: usize) -> Result<(), String> {
    let Some(size) = known.element_size else { return Ok(()) };
    let size = size as usize;
    if given == 0 || size.is_multiple_of(given) || given.is_multiple_of(size) {
        return Ok(());
    }
    let of_four = given.checked_mul(4) == size.checked_mul(3) && known.base_type.ends_with('3');
    let reason = if of_four { "; OpenCL C's vectors of three take the room of four" } else { "" };
    Err(format!("points to values of {size} bytes, values of {given} bytes are given{reason}"))
}

pub(super) fn word(given: ArgShape) -> &'static str {
    match given {
        ArgShape::Value(_) => "a value",
        ArgShape::Buffer { .. } => "a buffer",
        ArgShape::Local(_) => "local memory",
        ArgShape::Image(_) => "an image",
        ArgShape::Sampler => "a sampler",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::Arg;

    fn kernel(kinds: &[(ArgKind, Option<u32>)]) -> KernelInfo {
        let mut args = Vec::new();
        for (kind, size) in kinds {
            args.push(ArgInfo::new(*kind).named("a", "t").with_size(*size));
        }
        let mut info = KernelInfo::new("k");
        info.args = Some(args);
        info
    }

    fn checked(kernel: &KernelInfo, range: &NdRange, args: &[Arg<'_>]) -> Result<(), Error> {
        check(kernel, range, args.iter().map(Arg::given))
    }

    #[test]
    fn kinds_and_sizes_are_compared() {
        let range = NdRange::new([4], [2]);
        let mut buffer = [0u8; 4];
        let cases: [(ArgKind, Option<u32>, Arg<'_>, bool); 13] = [
            (ArgKind::Value, Some(4), Arg::value(&1.0f32), true),
            (ArgKind::Value, None, Arg::value(&1.0f64), true),
            (ArgKind::Value, Some(4), Arg::value(&1.0f64), false),
            (ArgKind::Value, Some(4), Arg::input(&[1u8; 4]), false),
            (ArgKind::Global, None, Arg::in_out(&mut buffer), true),
            (ArgKind::Constant, None, Arg::input(&[1u8; 4]), true),
            (ArgKind::Global, None, Arg::value(&1u64), false),
            (ArgKind::Global, None, Arg::local::<u8>(4), false),
            (ArgKind::Local, None, Arg::local::<f32>(4), true),
            (ArgKind::Local, None, Arg::local::<f32>(0), false),
            (ArgKind::Local, None, Arg::local::<f64>(usize::MAX), false),
            (ArgKind::Image, None, Arg::input(&[1u8; 4]), false),
            (ArgKind::Unknown(99), None, Arg::input(&[1u8; 4]), true),
        ];
        for (kind, size, arg, fits) in cases {
            let shown = format!("{kind} {size:?} {arg:?}");
            assert_eq!(checked(&kernel(&[(kind, size)]), &range, &[arg]).is_ok(), fits, "{shown}");
        }
    }

    #[test]
    fn images_are_of_the_type_of_the_argument() {
        let range = NdRange::new([4], [2]);
        let mut kernel = kernel(&[(ArgKind::Image, None), (ArgKind::Sampler, None)]);
        let cases = [
            ("image2d_t", [ArgShape::Image(ImageType::D2), ArgShape::Sampler], true),
            ("", [ArgShape::Image(ImageType::D2), ArgShape::Sampler], true),
            ("image2d_array_t", [ArgShape::Image(ImageType::D2), ArgShape::Sampler], false),
            ("image2d_t", [ArgShape::Buffer { element: 4 }, ArgShape::Sampler], false),
            ("image2d_t", [ArgShape::Sampler, ArgShape::Sampler], false),
            ("image2d_t", [ArgShape::Image(ImageType::D2), ArgShape::Image(ImageType::D2)], false),
            ("image2d_t", [ArgShape::Image(ImageType::D2), ArgShape::Value(8)], false),
        ];
        for (base_type, given, fits) in cases {
            kernel.args.as_mut().unwrap()[0].base_type = base_type.to_string();
            assert_eq!(check(&kernel, &range, given.into_iter()).is_ok(), fits, "{base_type} {given:?}");
        }
    }

    #[test]
    fn strides_are_compared() {
        let range = NdRange::new([4], [2]);
        let mut vectors = KernelInfo::new("k");
        vectors.args = Some(vec![ArgInfo::new(ArgKind::Global).with_element_size(16)]);
        let cases = [
            (Arg::input(&[[0f32; 4]; 2]), true),
            (Arg::input(&[0f32; 8]), true),
            (Arg::input(&[0u8; 32]), true),
            (Arg::input(&[[0f32; 8]; 2]), true),
            (Arg::input(&[[0f32; 3]; 2]), false),
            (Arg::input(&[[0f32; 5]; 2]), false),
            (Arg::input::<f32>(&[]), true),
        ];
        for (arg, fits) in cases {
            assert_eq!(checked(&vectors, &range, std::slice::from_ref(&arg)).is_ok(), fits, "{arg:?}");
        }
    }

    #[test]
    fn counts_and_required_sizes_are_compared() {
        let range = NdRange::new([4], [2]);
        let mut kernel = kernel(&[]);
        let error = checked(&kernel, &range, &[Arg::value(&1u32)]).unwrap_err().to_string();
        assert!(error.contains("takes 0 arguments, 1 are given"), "{error}");
        kernel.required_work_group = Some([2, 1, 1]);
        assert!(checked(&kernel, &range, &[]).is_ok());
        kernel.required_work_group = Some([4, 1, 1]);
        assert!(checked(&kernel, &range, &[]).unwrap_err().to_string().contains("[4, 1, 1]"));
        kernel = KernelInfo::default();
        assert!(checked(&kernel, &range, &[Arg::value(&1u32)]).is_ok());
    }
}
