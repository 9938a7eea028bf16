//! The kernels of a loaded image: their records, completed by the library's attributes, and its handles.

use offload_format::pack::KernelInfo;

use super::limits::Needs;
use crate::backend::find_kernel;
use crate::error::Error;

/// The resources of a kernel, as the library reports them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resources {
    pub(super) needs: Needs,
    /// Registers of a thread.
    pub(super) registers: u32,
    /// Bytes of private memory of a thread.
    pub(super) private_memory: u32,
    /// Threads that run in step: a warp or a wavefront.
    pub(super) sub_group: u32,
}

/// A kernel's record, and the library's function for it.
#[derive(Clone, Debug)]
pub(super) struct Resolved<F> {
    pub(super) info: KernelInfo,
    pub(super) function: F,
}

/// The kernels of a loaded image.
#[derive(Debug)]
pub(super) struct ResolvedKernels<F> {
    infos: Vec<KernelInfo>,
    /// Of each kernel, in the same order.
    functions: Vec<F>,
}

impl Resources {
    /// Fills in what `info`, the pack's record, does not have.
    pub(super) fn complete(&self, info: &mut KernelInfo) {
        info.registers.get_or_insert(self.registers);
        info.private_memory.get_or_insert(self.private_memory.into());
        info.sub_group_size.get_or_insert(self.sub_group);
        info.local_memory.get_or_insert(self.needs.static_shared.into());
        info.max_work_group.get_or_insert(self.needs.max_threads);
    }
}

impl<F: Clone> ResolvedKernels<F> {
    /// The records.
    pub(super) fn infos(&self) -> &[KernelInfo] {
        &self.infos
    }

    /// The kernel `name`; `None` if nothing is known of any kernel.
    ///
    /// # Errors
    /// The image has others.
    pub(super) fn get(&self, name: &str) -> Result<Option<Resolved<F>>, Error> {
        if self.infos.is_empty() {
            return Ok(None);
        }
        let info = find_kernel(&self.infos, name)?.clone();
        let found = self.infos.iter().zip(&self.functions).find(|(kernel, _)| kernel.name == name);
        let (_, function) = found.ok_or_else(|| Error::launch(name, "the image lost its entry"))?;
        Ok(Some(Resolved { info, function: function.clone() }))
    }
}

impl<F> FromIterator<Resolved<F>> for ResolvedKernels<F> {
    fn from_iter<I: IntoIterator<Item = Resolved<F>>>(kernels: I) -> ResolvedKernels<F> {
        let (infos, functions) = kernels.into_iter().map(|kernel| (kernel.info, kernel.function)).unzip();
        ResolvedKernels { infos, functions }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_keep_what_the_pack_knows() {
        let needs = Needs { max_threads: 256, static_shared: 64 };
        let resources = Resources { needs, registers: 10, private_memory: 8, sub_group: 32 };
        let mut info = KernelInfo::new("k");
        info.registers = Some(40);
        resources.complete(&mut info);
        assert_eq!((info.registers, info.private_memory, info.sub_group_size), (Some(40), Some(8), Some(32)));
        assert_eq!((info.local_memory, info.max_work_group), (Some(64), Some(256)));
    }

    #[test]
    fn a_kernel_is_found_by_its_name() {
        let kernels = ["a", "b"].map(KernelInfo::new).into_iter().zip([1, 2]);
        let none: ResolvedKernels<u8> = [].into_iter().collect();
        assert!(none.get("a").unwrap().is_none());
        let kernels: ResolvedKernels<u8> =
            kernels.map(|(info, function)| Resolved { info, function }).collect();
        assert_eq!(kernels.get("b").unwrap().unwrap().function, 2);
        let error = kernels.get("c").unwrap_err().to_string();
        assert!(error.contains("`c`") && error.contains("a, b"), "{error}");
        assert_eq!(kernels.infos().len(), 2);
    }
}
