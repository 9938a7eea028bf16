//! How many kernels and arguments a description has, before anything is made of them: a record may be a few bytes long,
//! and what is made of it is not.

use crate::msgpack::Reader;

/// The numbers of a description.
#[derive(Debug, Default)]
pub(super) struct Shape {
    pub(super) kernels: u64,
    pub(super) arguments: u64,
}

impl Shape {
    pub(super) fn read(mut description: Reader<'_>) -> Option<Shape> {
        let mut shape = Shape::default();
        description.map(|key, value| match key {
            "amdhsa.kernels" => value.list(|kernel| shape.count_kernel(kernel)),
            _ => value.skip(),
        })?;
        Some(shape)
    }

    fn count_kernel(&mut self, kernel: &mut Reader<'_>) -> Option<()> {
        self.kernels = self.kernels.saturating_add(1);
        kernel.map(|key, value| match key {
            ".args" => value.list(|argument| {
                self.arguments = self.arguments.saturating_add(1);
                argument.map(|_, value| value.skip())
            }),
            _ => value.skip(),
        })
    }
}
