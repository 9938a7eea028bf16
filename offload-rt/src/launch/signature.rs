//! The signature of a kernel in compact form, for the fast check of a launch.

use offload_format::pack::{ArgInfo, ArgKind, KernelInfo};

use super::check::MOST_LOCAL;
use crate::backend::{BackendStream, ContextId, KernelArg, KernelArgKind};
use crate::images::ImageType;
use crate::range::NdRange;

/// The context, work-group and arguments that a launch of a kernel must have.
#[derive(Debug)]
pub(super) struct Signature {
    context: ContextId,
    /// The work-group that it requires.
    group: Option<[usize; 3]>,
    /// `None` if the pack does not know.
    args: Option<Box<[ExpectedArg]>>,
}

#[derive(Clone, Copy, Debug)]
enum ExpectedArg {
    /// A value of this size in bytes.
    Value(usize),
    Buffer,
    Local,
    Image(ImageType),
    Sampler,
    /// The records tell more.
    Unclear,
}

impl Signature {
    pub(super) fn new(kernel: &KernelInfo, context: ContextId) -> Signature {
        let args = kernel.args.as_ref().map(|args| args.iter().map(ExpectedArg::new).collect());
        Signature {
            context,
            group: kernel.required_work_group.map(|sizes| sizes.map(|size| size as usize)),
            args,
        }
    }

    /// Whether the launch is right. If not, or if the pack does not know, the comparison with the records tells.
    #[inline]
    pub(super) fn fit(&self, stream: &dyn BackendStream, range: &NdRange, args: &[KernelArg<'_>]) -> bool {
        let Some(takes) = &self.args else { return false };
        range.is_valid()
            && takes.len() == args.len()
            && self.group.is_none_or(|group| group == range.local() && !range.is_uneven())
            && stream.context() == self.context
            && takes.iter().zip(args).all(|(takes, arg)| self.fits(*takes, arg))
    }

    #[inline]
    fn fits(&self, takes: ExpectedArg, arg: &KernelArg<'_>) -> bool {
        match (takes, arg.0) {
            (ExpectedArg::Value(size), KernelArgKind::Value(bytes)) => bytes.len() == size,
            (ExpectedArg::Buffer, KernelArgKind::Memory(range)) => range.memory.context() == self.context,
            (ExpectedArg::Local, KernelArgKind::Local(size)) => size != 0 && size <= MOST_LOCAL,
            (ExpectedArg::Image(takes), KernelArgKind::Image(image, given)) => {
                takes == given && image.context() == self.context
            }
            (ExpectedArg::Value(size), KernelArgKind::Texture(texture)) => {
                size == size_of::<u64>() && texture.context() == self.context
            }
            (ExpectedArg::Sampler, KernelArgKind::Sampler(sampler)) => sampler.context() == self.context,
            _ => false,
        }
    }
}

impl ExpectedArg {
    fn new(arg: &ArgInfo) -> ExpectedArg {
        match (arg.kind, arg.size) {
            (ArgKind::Value, Some(size)) => ExpectedArg::Value(size as usize),
            (ArgKind::Global | ArgKind::Constant, _) => ExpectedArg::Buffer,
            (ArgKind::Local, _) => ExpectedArg::Local,
            (ArgKind::Image, _) => match ImageType::from_name(&arg.base_type) {
                Some(image_type) => ExpectedArg::Image(image_type),
                None => ExpectedArg::Unclear,
            },
            (ArgKind::Sampler, _) => ExpectedArg::Sampler,
            _ => ExpectedArg::Unclear,
        }
    }
}

#[cfg(all(test, feature = "host", any(unix, windows)))]
mod tests {
    use super::*;
    use crate::Device;
    use crate::backend::Backend;

    fn kernel(args: &[(ArgKind, Option<u32>)]) -> KernelInfo {
        let mut info = KernelInfo::new("k");
        info.args = Some(args.iter().map(|(kind, size)| ArgInfo::new(*kind).with_size(*size)).collect());
        info
    }

    #[test]
    fn what_fits_is_what_the_records_allow() {
        let stream = Device::host().stream().unwrap();
        let buffer = stream.upload(&[1.0f32; 4]).unwrap();
        let host = stream.backend().context();
        let range = NdRange::new([8], [4]);
        let value = KernelArg::value(&1.0f32);
        let memory = KernelArg::buffer(&buffer);
        let local = KernelArg::local::<f32>;
        let four = (ArgKind::Value, Some(4));
        let cases: [(&[_], &[_], bool); 12] = [
            (&[], &[], true),
            (&[four, (ArgKind::Global, None), (ArgKind::Local, None)], &[value, memory, local(2)], true),
            (&[(ArgKind::Constant, Some(8))], &[memory], true),
            (&[four], &[], false),
            (&[], &[value], false),
            (&[four], &[memory], false),
            (&[(ArgKind::Value, Some(8))], &[value], false),
            (&[(ArgKind::Global, None)], &[value], false),
            (&[(ArgKind::Local, None)], &[local(0)], false),
            (&[(ArgKind::Local, None)], &[local(MOST_LOCAL)], false),
            (&[(ArgKind::Image, None)], &[memory], false),
            // The size is unknown: the records allow any.
            (&[(ArgKind::Value, None)], &[value], false),
        ];
        for (takes, args, fits) in cases {
            assert_eq!(
                Signature::new(&kernel(takes), host).fit(stream.backend(), &range, args),
                fits,
                "{takes:?}"
            );
        }
        let unknown = Signature::new(&KernelInfo::default(), host);
        assert!(!unknown.fit(stream.backend(), &range, &[]));
    }

    #[test]
    fn work_groups_and_contexts_are_compared() {
        let stream = Device::host().stream().unwrap();
        let host = stream.backend().context();
        let range = NdRange::new([8], [4]);
        for (group, fits) in [([4, 1, 1], true), ([8, 1, 1], false)] {
            let mut kernel = kernel(&[]);
            kernel.required_work_group = Some(group);
            assert_eq!(Signature::new(&kernel, host).fit(stream.backend(), &range, &[]), fits);
        }
        let other = ContextId { backend: Backend::OpenCl, ..host };
        assert!(!Signature::new(&kernel(&[]), other).fit(stream.backend(), &range, &[]));
        let buffer = stream.upload(&[1.0f32; 4]).unwrap();
        let signature =
            Signature { context: other, ..Signature::new(&kernel(&[(ArgKind::Global, None)]), host) };
        assert!(!signature.fits(ExpectedArg::Buffer, &KernelArg::buffer(&buffer)));
    }
}
