//! Tensors that are given away, and taken.

use std::any::Any;
use std::ptr::{self, NonNull};

use super::tensor::{DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor};

/// The version that this release writes; the numbers of later minor versions are not used.
const VERSION: DLPackVersion = DLPackVersion { major: 1, minor: 0 };
/// `DLPACK_FLAG_BITMASK_READ_ONLY`.
const READ_ONLY: u64 = 1;

type Deleter<M> = unsafe extern "C" fn(*mut M);

/// A structure that manages a tensor.
pub(super) trait Managed: Sized {
    fn new(tensor: DLTensor, deleter: Deleter<Self>) -> Self;

    /// Refuses a tensor of another version, or one that must not be written.
    fn check(&self) -> Result<(), String>;

    /// Of a tensor that was checked.
    fn tensor(&self) -> &DLTensor;

    fn tensor_mut(&mut self) -> &mut DLTensor;

    fn deleter(&self) -> Option<Deleter<Self>>;
}

impl Managed for DLManagedTensorVersioned {
    fn new(dl_tensor: DLTensor, deleter: Deleter<Self>) -> Self {
        let manager_ctx = ptr::null_mut();
        DLManagedTensorVersioned {
            version: VERSION,
            manager_ctx,
            deleter: Some(deleter),
            flags: 0,
            dl_tensor,
        }
    }

    fn check(&self) -> Result<(), String> {
        let DLPackVersion { major, minor } = self.version;
        if major != VERSION.major {
            return Err(format!("it is of DLPack {major}.{minor}, not of {}", VERSION.major));
        }
        if self.flags & READ_ONLY != 0 {
            return Err("it is read only, and a buffer may be written".to_string());
        }
        Ok(())
    }

    fn tensor(&self) -> &DLTensor {
        &self.dl_tensor
    }

    fn tensor_mut(&mut self) -> &mut DLTensor {
        &mut self.dl_tensor
    }

    fn deleter(&self) -> Option<Deleter<Self>> {
        self.deleter
    }
}

impl Managed for DLManagedTensor {
    fn new(dl_tensor: DLTensor, deleter: Deleter<Self>) -> Self {
        DLManagedTensor { dl_tensor, manager_ctx: ptr::null_mut(), deleter: Some(deleter) }
    }

    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    fn tensor(&self) -> &DLTensor {
        &self.dl_tensor
    }

    fn tensor_mut(&mut self) -> &mut DLTensor {
        &mut self.dl_tensor
    }

    fn deleter(&self) -> Option<Deleter<Self>> {
        self.deleter
    }
}

/// A tensor that another library has, with what it refers to.
#[repr(C)]
pub(super) struct Exported<M> {
    // First: its address is that of the whole.
    managed: M,
    shape: Vec<i64>,
    strides: Vec<i64>,
    _buffer: Box<dyn Any + Send>,
}

impl<M: Managed> Exported<M> {
    /// The tensor with this shape, which its deleter releases with `buffer`.
    pub(super) fn leak(tensor: DLTensor, shape: &[usize], buffer: Box<dyn Any + Send>) -> NonNull<M> {
        let mut strides = vec![1i64; shape.len()];
        let mut step = 1i64;
        for (stride, size) in strides.iter_mut().zip(shape).rev() {
            *stride = step;
            step = step.saturating_mul(i64::try_from(*size).unwrap_or(i64::MAX));
        }
        let shape = shape.iter().map(|size| i64::try_from(*size).unwrap_or(i64::MAX)).collect();
        let managed = M::new(tensor, delete::<M>);
        let mut exported = Box::new(Exported { managed, shape, strides, _buffer: buffer });
        let described = exported.managed.tensor_mut();
        described.ndim = i32::try_from(exported.shape.len()).unwrap_or(i32::MAX);
        described.shape = exported.shape.as_mut_ptr();
        // DLPack 1.2 asks for them, also where rows lie one after another.
        described.strides = exported.strides.as_mut_ptr();
        NonNull::from(Box::leak(exported)).cast()
    }
}

unsafe extern "C" fn delete<M>(managed: *mut M) {
    // SAFETY: it is the start of what `leak` has made, and its deleter is called once.
    drop(unsafe { Box::from_raw(managed.cast::<Exported<M>>()) });
}

/// A tensor of another library, which has it again when this is dropped.
pub(super) struct Imported<M: Managed>(NonNull<M>);

// SAFETY: DLPack sets no thread for the call of a deleter.
unsafe impl<M: Managed> Send for Imported<M> {}
// SAFETY: nothing reads it.
unsafe impl<M: Managed> Sync for Imported<M> {}

impl<M: Managed> Imported<M> {
    pub(super) fn new(managed: NonNull<M>) -> Imported<M> {
        Imported(managed)
    }
}

impl<M: Managed> Drop for Imported<M> {
    fn drop(&mut self) {
        // SAFETY: the tensor lives until its deleter is called, once.
        unsafe {
            if let Some(deleter) = self.0.as_ref().deleter() {
                deleter(self.0.as_ptr());
            }
        }
    }
}
