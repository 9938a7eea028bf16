//! Tests of DLPack that every GPU passes.

use std::ptr::{self, NonNull};
use std::sync::Mutex;

use offload_rt::dlpack::{DLManagedTensorVersioned, DLPackVersion, DLTensor};
use offload_rt::{Buffer, Device, Event, dlpack};

use super::graphs::Ready;

pub fn a_tensor_goes_to_another_library_and_comes_back(ready: &Ready, device_type: i32) {
    let stream = &ready.stream;
    let device = stream.device();
    let values: Vec<f32> = (0..6000).map(|index| index as f32).collect();
    let tensor = dlpack::export(device, stream.upload(&values).unwrap(), &[2, 3, 1000]).unwrap();
    // SAFETY: the tensor is whole.
    let described = unsafe { &tensor.as_ref().dl_tensor };
    assert_eq!((described.device.device_type, described.device.device_id), (device_type, 0));
    assert!(!described.data.is_null() && described.data.addr().is_multiple_of(16));
    // SAFETY: as above; who takes it is refused, and may try again.
    let refused = unsafe { dlpack::import::<f32>(&Device::host(), tensor) }.unwrap_err().to_string();
    assert!(refused.contains(&format!("device type {device_type}, number 0")), "{refused}");
    // SAFETY: as above.
    let mut back = unsafe { dlpack::import::<f32>(device, tensor) }.unwrap();
    assert_eq!(back.shape, [2, 3, 1000]);
    let ones = stream.upload(&[1.0f32; 6000]).unwrap();
    let mut copied = stream.zeroed::<f32>(6000).unwrap();
    // It goes while work with it is queued, in another stream too.
    let beside = stream.fork().unwrap();
    for _ in 0..50 {
        ready.add(&beside, 1.0, &ones, &mut back.buffer).unwrap();
    }
    beside.copy(&back.buffer, &mut copied).unwrap();
    drop(back);
    let mut next = stream.allocate::<f32>(6000).unwrap();
    stream.fill(&mut next, -1.0).unwrap();
    let expected: Vec<f32> = values.iter().map(|value| value + 50.0).collect();
    assert!(beside.download(&copied).unwrap() == expected);
    // A tensor that another library has drops its buffer when it is deleted.
    let tensor = dlpack::export_unversioned(device, next, &[6000]).unwrap();
    // SAFETY: the deleter is called once.
    unsafe { tensor.as_ref().deleter.unwrap()(tensor.as_ptr()) };
}

pub fn a_tensor_of_another_device_is_refused(ready: &[Ready]) {
    let [first, second] = [&ready[0].stream, &ready[1].stream];
    let buffer = second.upload(&[1u8; 4]).unwrap();
    assert!(dlpack::export(first.device(), buffer, &[4]).is_err());
    let tensor = dlpack::export(second.device(), second.upload(&[1u8; 4]).unwrap(), &[4]).unwrap();
    // SAFETY: the tensor is whole, and taken once.
    unsafe {
        let error = dlpack::import::<u8>(first.device(), tensor).unwrap_err().to_string();
        assert!(error.contains("number 1") && error.contains("number 0"), "{error}");
        let back = dlpack::import::<u8>(second.device(), tensor).unwrap();
        assert_eq!(second.download(&back.buffer).unwrap(), [1; 4]);
    }
}

/// What the deleter of a tensor of the test finds: whether the work with it is done.
struct Lender {
    buffer: Buffer<f32>,
    uses: Mutex<Option<Event>>,
    was_done: Mutex<Option<bool>>,
}

unsafe extern "C" fn is_done(tensor: *mut DLManagedTensorVersioned) {
    // SAFETY: the test keeps both.
    let lender = unsafe { &*(*tensor).manager_ctx.cast::<Lender>() };
    let uses = lender.uses.lock().unwrap();
    *lender.was_done.lock().unwrap() = Some(uses.as_ref().unwrap().is_done().unwrap());
}

/// `address` is the raw address of a buffer.
pub fn another_library_has_its_memory_again_when_the_work_is_done(
    ready: &Ready,
    device_type: i32,
    address: impl Fn(&Buffer<f32>) -> u64,
) {
    let stream = &ready.stream;
    let len = 1 << 20;
    let lender =
        Lender { buffer: stream.zeroed(len).unwrap(), uses: Mutex::new(None), was_done: Mutex::new(None) };
    let mut shape = [len as i64];
    let device = dlpack::DLDevice { device_type, device_id: 0 };
    let mut tensor = DLManagedTensorVersioned {
        version: DLPackVersion { major: 1, minor: 0 },
        manager_ctx: (&raw const lender).cast_mut().cast(),
        deleter: Some(is_done),
        flags: 0,
        dl_tensor: DLTensor {
            data: ptr::with_exposed_provenance_mut(address(&lender.buffer) as usize),
            device,
            ndim: 1,
            dtype: <f32 as dlpack::Element>::DATA_TYPE,
            shape: shape.as_mut_ptr(),
            strides: ptr::null_mut(),
            byte_offset: 0,
        },
    };
    // SAFETY: the tensor is whole, and the test keeps it.
    let mut taken =
        unsafe { dlpack::import::<f32>(stream.device(), NonNull::from(&mut tensor)) }.unwrap().buffer;
    let ones = stream.upload(&vec![1.0f32; len]).unwrap();
    for _ in 0..50 {
        ready.add(stream, 1.0, &ones, &mut taken).unwrap();
    }
    *lender.uses.lock().unwrap() = Some(stream.record().unwrap());
    drop(taken);
    assert_eq!(*lender.was_done.lock().unwrap(), Some(true));
    assert!(stream.download(&lender.buffer).unwrap().iter().all(|value| *value == 50.0));
}
