//! What may go to other threads, and be used by several at once: every value of the launch layer.

use offload_rt::{
    Buffer, Device, Entry, Error, Event, Kernel, LoadedImage, Pinned, Program, Registry, Selection, Slice,
    SliceMut, Stream, Transfer,
};

fn is_shared<T: Send + Sync>() {}

/// It compiles: that is the test.
#[test]
fn values_of_the_layer_go_to_other_threads() {
    is_shared::<(Device, Stream, Event, Kernel, Program)>();
    is_shared::<(Buffer<f32>, Slice<'_, f32>, SliceMut<'_, f32>, Pinned<f32>, Transfer<f32>)>();
    is_shared::<(Registry, Entry, LoadedImage, Selection, Error)>();
}
