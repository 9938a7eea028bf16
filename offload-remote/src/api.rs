//! Messages of the Remote Execution API, re-exported under short paths.

pub(crate) use bazel_remote_apis::build::bazel::remote::execution::v2::*;
pub(crate) use bazel_remote_apis::google::bytestream;
pub(crate) use bazel_remote_apis::google::longrunning;
pub(crate) use bazel_remote_apis::google::protobuf;
pub(crate) use bazel_remote_apis::google::rpc;
