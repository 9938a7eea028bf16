//! Tensors of the host CPU.

use std::cell::Cell;
use std::mem::offset_of;

use super::*;

/// As `dlpack.h` has them where pointers have 64 bits.
#[test]
fn structures_have_the_layout_of_the_header() {
    assert_eq!((size_of::<DLTensor>(), align_of::<DLTensor>()), (48, 8));
    let offsets = [
        offset_of!(DLTensor, device),
        offset_of!(DLTensor, ndim),
        offset_of!(DLTensor, dtype),
        offset_of!(DLTensor, shape),
        offset_of!(DLTensor, strides),
        offset_of!(DLTensor, byte_offset),
    ];
    assert_eq!(offsets, [8, 16, 20, 24, 32, 40]);
    let offsets = [
        offset_of!(DLManagedTensorVersioned, manager_ctx),
        offset_of!(DLManagedTensorVersioned, deleter),
        offset_of!(DLManagedTensorVersioned, flags),
        offset_of!(DLManagedTensorVersioned, dl_tensor),
    ];
    assert_eq!((offsets, size_of::<DLManagedTensorVersioned>()), ([8, 16, 24, 32], 80));
    let offsets = [offset_of!(DLManagedTensor, manager_ctx), offset_of!(DLManagedTensor, deleter)];
    assert_eq!((offsets, size_of::<DLManagedTensor>()), ([48, 56], 64));
}

#[test]
fn an_exported_buffer_is_a_tensor_until_it_is_deleted() {
    let device = Device::host();
    let stream = device.stream().unwrap();
    let tensor = export(&device, stream.upload(&[1u16, 2, 3, 4, 5, 6]).unwrap(), &[1, 3, 2]).unwrap();
    // SAFETY: the tensor is whole until it is deleted.
    unsafe {
        let managed = tensor.as_ref();
        assert_eq!((managed.version, managed.flags), (DLPackVersion { major: 1, minor: 0 }, 0));
        let described = &managed.dl_tensor;
        assert_eq!(described.device, DLDevice { device_type: 1, device_id: 0 });
        assert_eq!(described.dtype, DLDataType { code: 1, bits: 16, lanes: 1 });
        assert_eq!((described.ndim, described.byte_offset), (3, 0));
        assert_eq!(std::slice::from_raw_parts(described.shape, 3), [1, 3, 2]);
        assert_eq!(std::slice::from_raw_parts(described.strides, 3), [6, 2, 1]);
        assert_eq!(std::slice::from_raw_parts(described.data.cast::<u16>(), 6), [1, 2, 3, 4, 5, 6]);
        managed.deleter.unwrap()(tensor.as_ptr());
    }
    let error = export(&device, stream.upload(&[1u16; 6]).unwrap(), &[2, 2]).unwrap_err().to_string();
    assert!(error.contains("shape [2, 2] has not 6 elements"), "{error}");
    let scalar = export_unversioned(&device, stream.upload(&[2.5f64]).unwrap(), &[]).unwrap();
    // SAFETY: as above.
    let scalar = unsafe { import_unversioned::<f64>(&device, scalar) }.unwrap();
    assert_eq!((scalar.shape.len(), stream.download(&scalar.buffer).unwrap()), (0, vec![2.5]));
    let empty = export(&device, stream.upload::<i8>(&[]).unwrap(), &[4, 0]).unwrap();
    // SAFETY: as above.
    let empty = unsafe { import::<i8>(&device, empty) }.unwrap();
    assert_eq!((empty.shape, empty.buffer.len()), (vec![4, 0], 0));
}

thread_local! {
    static DELETED: Cell<u32> = const { Cell::new(0) };
}

unsafe extern "C" fn deleted(_: *mut DLManagedTensorVersioned) {
    DELETED.set(DELETED.get() + 1);
}

/// A tensor of the test's memory.
struct Foreign {
    values: [f32; 12],
    shape: [i64; 2],
    strides: [i64; 2],
}

impl Foreign {
    fn new() -> Foreign {
        Foreign { values: std::array::from_fn(|index| index as f32), shape: [3, 2], strides: [2, 1] }
    }

    fn tensor(&mut self) -> DLManagedTensorVersioned {
        let dl_tensor = DLTensor {
            data: self.values.as_mut_ptr().cast(),
            device: DLDevice { device_type: 1, device_id: 0 },
            ndim: 2,
            dtype: f32::DATA_TYPE,
            shape: self.shape.as_mut_ptr(),
            strides: self.strides.as_mut_ptr(),
            byte_offset: 8,
        };
        let version = DLPackVersion { major: 1, minor: 9 };
        DLManagedTensorVersioned {
            version,
            manager_ctx: ptr::null_mut(),
            deleter: Some(deleted),
            flags: 2,
            dl_tensor,
        }
    }
}

fn imported(tensor: &mut DLManagedTensorVersioned) -> Result<Tensor<f32>, Error> {
    // SAFETY: the tensor is whole, or the part that is not is refused.
    unsafe { import(&Device::host(), NonNull::from(tensor)) }
}

#[test]
fn an_imported_tensor_is_used_without_a_copy_and_deleted_once() {
    let stream = Device::host().stream().unwrap();
    let mut foreign = Foreign::new();
    let mut tensor = foreign.tensor();
    let mut found = imported(&mut tensor).unwrap();
    assert_eq!(found.shape, [3, 2]);
    assert_eq!(stream.download(&found.buffer).unwrap(), [2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    stream.fill(found.buffer.slice_mut(4..).unwrap(), 9.0).unwrap();
    assert_eq!(DELETED.get(), 0);
    drop(found);
    assert_eq!((DELETED.get(), foreign.values[6..9].to_vec()), (1, vec![9.0, 9.0, 8.0]));
    // Steps of a dimension with one element say nothing, and locked memory is the program's.
    foreign.shape = [1, 2];
    foreign.strides = [77, 1];
    let mut tensor = foreign.tensor();
    tensor.dl_tensor.device = DLDevice { device_type: 3, device_id: 2 };
    assert_eq!(imported(&mut tensor).unwrap().buffer.len(), 2);
    tensor.deleter = None;
    assert_eq!(imported(&mut tensor).unwrap().buffer.len(), 2);
    assert_eq!(DELETED.take(), 2);
}

#[test]
fn what_is_no_buffer_is_refused_and_stays_the_caller_s() {
    type Change = fn(&mut DLManagedTensorVersioned);
    let changes: [(Change, &str); 8] = [
        (|tensor| tensor.version.major = 2, "DLPack 2.9"),
        (|tensor| tensor.flags |= 1, "read only"),
        (|tensor| tensor.dl_tensor.device.device_type = 2, "device type 2, number 0"),
        (|tensor| tensor.dl_tensor.dtype.bits = 64, "bits: 64"),
        (|tensor| tensor.dl_tensor.dtype.lanes = 2, "lanes: 2"),
        (|tensor| tensor.dl_tensor.byte_offset = 2, "is not one of elements of 4 bytes"),
        (|tensor| tensor.dl_tensor.ndim = -1, "-1 dimensions"),
        (|tensor| tensor.dl_tensor.data = ptr::null_mut(), "is not one of"),
    ];
    let mut foreign = Foreign::new();
    for (change, text) in changes {
        let mut tensor = foreign.tensor();
        tensor.dl_tensor.byte_offset = 0;
        change(&mut tensor);
        let error = imported(&mut tensor).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
    for (shape, strides, text) in [
        ([3, 2], [1, 3], "one after another"),
        ([3, -2], [2, 1], "size -2"),
        ([i64::MAX, 2], [2, 1], "more memory"),
    ] {
        (foreign.shape, foreign.strides) = (shape, strides);
        let error = imported(&mut foreign.tensor()).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
    assert_eq!(DELETED.get(), 0);
}
