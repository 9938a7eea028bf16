//! Opaque handles of CUDA's driver and HIP's runtime.

/// Defines types of handles, each with the opaque type that it points to.
macro_rules! handles {
    ($($handle:ident: $target:ident,)*) => {$(
        /// The opaque target of a handle.
        pub(crate) enum $target {}
        pub(crate) type $handle = *mut $target;
    )*};
}

#[cfg(feature = "cuda")]
pub(crate) use handles;

// `CUevent` and `hipEvent_t`, and so on.
handles! {
    RawEvent: EventTarget,
    RawExternalMemory: ExternalMemoryTarget,
    RawExternalSemaphore: ExternalSemaphoreTarget,
    RawFunction: FunctionTarget,
    RawGraph: GraphTarget,
    RawGraphExec: GraphExecTarget,
    RawGraphNode: GraphNodeTarget,
    RawModule: ModuleTarget,
    RawStream: StreamTarget,
}
