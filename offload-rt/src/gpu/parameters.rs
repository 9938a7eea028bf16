//! The parameters of a launch: pointers to values, and to words that are made of buffers and local memory.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;

use super::memory::start;
use crate::backend::{BackendStream, KernelArg, KernelArgKind, no_image_arguments};
use crate::error::Problem;

/// So many parameters need no allocation.
pub(super) const ON_STACK: usize = 32;

/// The alignment of the local memory of an argument: the size of the largest vectors of CUDA C++.
const LOCAL_ALIGN: u64 = 16;

/// The dynamic shared memory of a launch, which its local arguments share.
#[derive(Debug, Default)]
pub(super) struct LocalMemory {
    /// Bytes that they need together.
    pub(super) size: u64,
}

impl LocalMemory {
    /// Where `size` bytes more start.
    pub(super) fn add(&mut self, size: usize) -> Result<u64, Problem> {
        let start = self.size;
        let end = start.checked_add(size as u64).and_then(|end| end.checked_next_multiple_of(LOCAL_ALIGN));
        self.size =
            end.ok_or_else(|| Problem::from("it is given more than 2^64 bytes of local memory".to_string()))?;
        Ok(start)
    }
}

/// Parameters that are set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filled {
    /// A pointer to each.
    pub(super) pointers: *mut *mut c_void,
    /// Bytes of dynamic shared memory that local arguments need together.
    pub(super) local: u64,
}

/// Memory for the parameters of one launch: words that are made of arguments, and pointers to them and to values.
///
/// It is filled where it lies, and only as far as there are arguments: a launch neither copies nor clears it.
pub(super) struct Parameters {
    words: Slots<u64>,
    pointers: Slots<*mut c_void>,
}

#[allow(clippy::large_enum_variant, reason = "a launch with few parameters allocates nothing")]
enum Slots<T> {
    Few([MaybeUninit<T>; ON_STACK]),
    Many(Vec<MaybeUninit<T>>),
}

impl Parameters {
    /// For at least `count` parameters.
    pub(super) fn new(count: usize) -> Parameters {
        Parameters { words: Slots::new(count), pointers: Slots::new(count) }
    }

    /// Sets the parameters, of which there is room for so many, to `args` for a launch in `stream`: addresses of device
    /// memory, offsets into the dynamic shared memory, and pointers to values. The pointers of the result lead to `self` and
    /// to the values, which have to stay where they are until the launch.
    #[inline]
    pub(super) fn fill(
        &mut self,
        args: &[KernelArg<'_>],
        stream: &dyn BackendStream,
    ) -> Result<Filled, Problem> {
        let mut local = LocalMemory::default();
        let slots = self.words.get().iter_mut().zip(self.pointers.get());
        for ((word, pointer), arg) in slots.zip(args) {
            let value: *mut c_void = match arg.0 {
                KernelArgKind::Value(bytes) => bytes.as_ptr().cast_mut().cast(),
                KernelArgKind::Memory(range) => ptr::from_mut(word.write(start(range, stream)?)).cast(),
                KernelArgKind::Local(size) => ptr::from_mut(word.write(local.add(size)?)).cast(),
                KernelArgKind::Texture(texture) => {
                    stream.prepare_texture(&**texture)?;
                    ptr::from_mut(word.write(texture.number())).cast()
                }
                KernelArgKind::Image(..) | KernelArgKind::Sampler(_) => {
                    return Err(no_image_arguments());
                }
            };
            pointer.write(value);
        }
        Ok(Filled { pointers: self.pointers.get().as_mut_ptr().cast(), local: local.size })
    }
}

impl<T> Slots<T> {
    fn new(count: usize) -> Slots<T> {
        match count {
            0..=ON_STACK => Slots::Few([const { MaybeUninit::uninit() }; ON_STACK]),
            _ => Slots::Many((0..count).map(|_| MaybeUninit::uninit()).collect()),
        }
    }

    fn get(&mut self) -> &mut [MaybeUninit<T>] {
        match self {
            Slots::Few(slots) => slots,
            Slots::Many(slots) => slots,
        }
    }
}

#[cfg(test)]
#[cfg(all(feature = "host", any(unix, windows)))]
mod tests {
    use super::*;
    use crate::backend::BackendStream;

    /// A stream whose memory any stream may use.
    fn stream() -> Box<dyn BackendStream> {
        crate::Device::host().backend().stream().unwrap()
    }

    /// The parameters of `args`, which are all words, and the bytes of local memory.
    fn words(args: &[KernelArg<'_>]) -> Option<(Vec<u64>, u64)> {
        let mut parameters = Parameters::new(args.len());
        let Filled { pointers, local } = parameters.fill(args, &*stream()).ok()?;
        // SAFETY: there is a pointer for each argument, to a word.
        let words = (0..args.len()).map(|index| unsafe { pointers.add(index).read().cast::<u64>().read() });
        Some((words.collect(), local))
    }

    fn local<'a>(size: usize) -> KernelArg<'a> {
        KernelArg(KernelArgKind::Local(size))
    }

    #[test]
    fn local_arguments_are_offsets_one_after_the_other() {
        let value = KernelArg::value(&7u64);
        assert_eq!(words(&[value, local(5), local(32), value]), Some((vec![7, 0, 16, 7], 48)));
        assert_eq!(words(&[local(132), value, local(1)]), Some((vec![0, 7, 144], 160)));
        assert_eq!(words(&[]), Some((vec![], 0)));
        assert_eq!(words(&[local(usize::MAX)]), None);
    }

    #[test]
    fn local_memory_is_laid_out_in_steps_of_sixteen() {
        let mut local = LocalMemory::default();
        let starts = [5, 32, 1, 16].map(|size| local.add(size).unwrap());
        assert_eq!((starts, local.size), ([0, 16, 48, 64], 80));
        assert!(local.add(usize::MAX).is_err());
        assert!(LocalMemory::default().add(usize::MAX).is_err());
    }

    #[test]
    fn each_parameter_has_a_pointer_to_its_value() {
        for count in [2, ON_STACK, ON_STACK + 1, 100] {
            let values: Vec<u32> = (0..count as u32).collect();
            let args: Vec<KernelArg<'_>> = (0..count)
                .map(|index| if index % 2 == 0 { KernelArg::value(&values[index]) } else { local(16) })
                .collect();
            let mut parameters = Parameters::new(count);
            let Filled { pointers, .. } = parameters.fill(&args, &*stream()).unwrap();
            for index in 0..count {
                // SAFETY: there are so many pointers; they lead to `parameters` and to `values`.
                unsafe {
                    let pointer = pointers.add(index).read();
                    match index % 2 {
                        0 => assert_eq!(pointer.cast::<u32>().read(), index as u32),
                        _ => assert_eq!(pointer.cast::<u64>().read(), 16 * (index as u64 / 2)),
                    }
                }
            }
        }
    }
}
