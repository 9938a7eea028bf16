//! Declared bounds of kernels, which their safe methods compare with the memory that they are given.

use std::ops::{Add, Div, Mul, Rem, Sub};

use super::program::Kernel;
use crate::backend::{KernelArg, KernelArgKind};
use crate::error::Error;
use crate::range::NdRange;
use crate::text::escape;

/// The value of an expression of integers, which has none after an overflow or a division by zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent(Option<i128>);

impl Extent {
    /// One more than the greatest global id of a dimension: the work-items and the offset.
    pub fn global_size(range: &NdRange, dimension: usize) -> Extent {
        Extent::from_size(&range.global(), dimension) + Extent::from_size(&range.offset(), dimension)
    }

    /// Work-items of a work-group that is not smaller than others.
    pub fn local_size(range: &NdRange, dimension: usize) -> Extent {
        Extent::from_size(&range.local(), dimension)
    }

    /// Work-groups of a dimension.
    pub fn num_groups(range: &NdRange, dimension: usize) -> Extent {
        Extent::from_size(&range.groups(), dimension)
    }

    fn from_size(sizes: &[usize; 3], dimension: usize) -> Extent {
        Extent(sizes.get(dimension).and_then(|size| i128::try_from(*size).ok()))
    }

    /// The smaller of both.
    #[must_use]
    pub fn min(self, other: Extent) -> Extent {
        self.combined(other, |one, other| Some(one.min(other)))
    }

    /// The greater of both.
    #[must_use]
    pub fn max(self, other: Extent) -> Extent {
        self.combined(other, |one, other| Some(one.max(other)))
    }

    fn combined(self, other: Extent, operator: fn(i128, i128) -> Option<i128>) -> Extent {
        match (self.0, other.0) {
            (Some(one), Some(other)) => Extent(operator(one, other)),
            _ => Extent(None),
        }
    }
}

macro_rules! from_integers {
    ($($integer:ty),*) => {
        $(impl From<$integer> for Extent {
            fn from(value: $integer) -> Extent {
                Extent(Some(value.into()))
            }
        })*
    };
}

from_integers!(i8, u8, i16, u16, i32, u32, i64, u64);

macro_rules! operators {
    ($($operator:ident $method:ident $checked:ident),*) => {
        $(impl $operator for Extent {
            type Output = Extent;

            fn $method(self, other: Extent) -> Extent {
                self.combined(other, i128::$checked)
            }
        })*
    };
}

operators!(Add add checked_add, Sub sub checked_sub, Mul mul checked_mul, Div div checked_div, Rem rem checked_rem);

/// The least memory of an argument, or of a work-group, for a launch.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// `None` for shared memory, whose elements are bytes.
    argument: Option<usize>,
    element: usize,
    declared: &'static str,
    count: Extent,
}

impl Bound {
    /// `count` elements of `T`, which the build has declared as `declared`, for the argument with this number.
    pub fn argument<T>(argument: usize, declared: &'static str, count: Extent) -> Bound {
        Bound { argument: Some(argument), element: size_of::<T>(), declared, count }
    }

    /// `count` bytes of shared memory.
    pub fn shared_memory(declared: &'static str, count: Extent) -> Bound {
        Bound { argument: None, element: 1, declared, count }
    }

    /// Compares the bound with what is given. The kernel gets no more of a buffer than the bound, so that checks of
    /// kernels find a wrong one.
    pub(super) fn apply(
        &self,
        kernel: &Kernel,
        range: &NdRange,
        args: &mut [KernelArg<'_>],
    ) -> Result<(), Error> {
        let needed = self.bytes().ok_or_else(|| {
            let problem = format!("its declared bound `{}` has no value for these arguments", self.declared);
            let error = Error::launch(&kernel.info().name, problem);
            error.with_hint("it overflows or divides by zero: give other arguments")
        })?;
        let Some(index) = self.argument else {
            let given = range.shared_memory() as usize;
            return if given < needed { Err(self.too_small(kernel, given, needed)) } else { Ok(()) };
        };
        let Some(KernelArg(kind)) = args.get_mut(index) else { return Ok(()) };
        match kind {
            KernelArgKind::Memory(memory) if memory.size >= needed => {
                memory.size = needed;
                memory.is_bounded = true;
                Ok(())
            }
            KernelArgKind::Local(size) if *size >= needed => Ok(()),
            KernelArgKind::Memory(memory) => Err(self.too_small(kernel, memory.size, needed)),
            KernelArgKind::Local(size) => Err(self.too_small(kernel, *size, needed)),
            _ => Ok(()),
        }
    }

    /// Bytes; a negative count is none.
    fn bytes(&self) -> Option<usize> {
        let count = usize::try_from(self.count.0?.max(0)).ok()?;
        count.checked_mul(self.element)
    }

    #[cold]
    fn too_small(&self, kernel: &Kernel, given: usize, needed: usize) -> Error {
        let name = match self.argument {
            Some(index) => {
                let known = kernel.info().args.as_ref().and_then(|args| args.get(index));
                format!("argument {index} (`{}`)", escape(known.map_or("", |known| &known.name)))
            }
            None => "the shared memory of the range".to_string(),
        };
        let element = self.element.max(1);
        let given = given / element;
        let needed = needed / element;
        let unit = if self.argument.is_some() { "elements" } else { "bytes" };
        let declared = self.declared;
        let problem = format!("{name} has {given} {unit}, the kernel accesses {needed} (`{declared}`)");
        Error::launch(&kernel.info().name, problem)
            .with_hint(format!("give at least {needed} {unit}, or launch it for less"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_without_a_value_stay_so() {
        let n = Extent::from(7u64);
        assert_eq!((n * Extent::from(2i32) - Extent::from(1u8)).0, Some(13));
        assert_eq!((n / Extent::from(2u32) + n % Extent::from(4u16)).0, Some(6));
        assert_eq!((n.max(Extent::from(-1i64)).0, n.min(Extent::from(-1i64)).0), (Some(7), Some(-1)));
        let most = Extent::from(u64::MAX);
        for nothing in [n / Extent::from(0u8), n % Extent::from(0u8), most * most * most] {
            assert_eq!((nothing - nothing).0, None);
            assert_eq!(Bound::argument::<u8>(0, "", nothing).bytes(), None);
        }
        assert_eq!(Bound::argument::<u32>(0, "", Extent::from(-3i32)).bytes(), Some(0));
        assert_eq!(Bound::argument::<u32>(0, "", most).bytes(), None);
    }

    #[test]
    fn an_offset_is_part_of_the_global_size() {
        let range = NdRange::new([64, 4], [16, 2]).with_offset([100, 0]);
        assert_eq!(Extent::global_size(&range, 0), Extent::from(164u8));
        assert_eq!(Extent::global_size(&range, 2), Extent::from(1u8));
        assert_eq!(Extent::local_size(&range, 1), Extent::from(2u8));
        assert_eq!(Extent::num_groups(&range, 0), Extent::from(4u8));
    }
}
