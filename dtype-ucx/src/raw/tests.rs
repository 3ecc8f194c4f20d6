//! The declarations against the installed header, by a C compiler.

use std::fmt::Write as _;
use std::io::Write as _;
use std::mem::{offset_of, size_of};
use std::process::{Command, Stdio};

use super::*;

/// Static assertions about a structure's fields, and its size. A structure with a mask may be longer than declared.
macro_rules! structure {
    ($text:ident, $ours:ident, $theirs:literal, $compare:literal, { $($field:ident: $name:literal),* $(,)? }) => {
        $(
            writeln!($text, "CHECK(offsetof({}, {}) == {});", $theirs, $name, offset_of!($ours, $field)).unwrap();
        )*
        let fields = [$(stringify!($field)),*];
        assert!(!fields.is_empty());
        writeln!($text, "CHECK(sizeof({}) {} {});", $theirs, $compare, size_of::<$ours>()).unwrap();
    };
}

macro_rules! constants {
    ($text:ident, { $($ours:expr => $theirs:literal),* $(,)? }) => {
        $( writeln!($text, "CHECK((long long)({}) == {}LL);", $theirs, $ours).unwrap(); )*
    };
}

fn assertions() -> String {
    let mut text = String::from(
        "#include <stddef.h>\n#include <ucp/api/ucp.h>\n#define CHECK(what) _Static_assert(what, #what)\n",
    );
    structure!(text, Params, "ucp_params_t", ">=", {
        field_mask: "field_mask", features: "features", request_size: "request_size",
        request_init: "request_init", request_cleanup: "request_cleanup",
        tag_sender_mask: "tag_sender_mask", mt_workers_shared: "mt_workers_shared",
    });
    structure!(text, WorkerParams, "ucp_worker_params_t", ">=", {
        field_mask: "field_mask", thread_mode: "thread_mode",
    });
    structure!(text, WorkerAttributes, "ucp_worker_attr_t", ">=", {
        field_mask: "field_mask", thread_mode: "thread_mode", address_flags: "address_flags",
        address: "address", address_length: "address_length", max_am_header: "max_am_header",
    });
    structure!(text, ActiveParams, "ucp_am_recv_param_t", "==", {
        attributes: "recv_attr", reply_endpoint: "reply_ep",
    });
    structure!(text, HandlerParams, "ucp_am_handler_param_t", ">=", {
        field_mask: "field_mask", id: "id", flags: "flags", callback: "cb", argument: "arg",
    });
    structure!(text, ErrorHandler, "ucp_err_handler_t", "==", {
        callback: "cb", argument: "arg",
    });
    structure!(text, EndpointParams, "ucp_ep_params_t", ">=", {
        field_mask: "field_mask", address: "address", error_mode: "err_mode",
        error_handler: "err_handler",
    });
    structure!(text, MemoryParams, "ucp_mem_map_params_t", ">=", {
        field_mask: "field_mask", address: "address", length: "length", flags: "flags",
    });
    structure!(text, MemoryAttributes, "ucp_mem_attr_t", ">=", {
        field_mask: "field_mask", address: "address", length: "length",
    });
    structure!(text, Block, "ucp_dt_iov_t", "==", { buffer: "buffer", length: "length" });
    structure!(text, TagInfo, "ucp_tag_recv_info_t", "==", {
        sender_tag: "sender_tag", length: "length",
    });
    structure!(text, RequestParams, "ucp_request_param_t", ">=", {
        mask: "op_attr_mask", flags: "flags", request: "request", callback: "cb",
        datatype: "datatype", user_data: "user_data", reply_buffer: "reply_buffer",
        memory_type: "memory_type",
    });
    structure!(text, Operations, "ucp_generic_dt_ops_t", "==", {
        start_pack: "start_pack", start_unpack: "start_unpack", packed_size: "packed_size",
        pack: "pack", unpack: "unpack", finish: "finish",
    });
    text
}

/// Static assertions about the sizes of numbers, and the values of constants.
fn constants() -> String {
    let mut text = String::new();
    writeln!(text, "CHECK(sizeof(ucs_status_t) == {});", size_of::<RawStatus>()).unwrap();
    writeln!(text, "CHECK(sizeof(ucp_datatype_t) == {});", size_of::<Datatype>()).unwrap();
    writeln!(text, "CHECK(sizeof(ucp_tag_t) == {});", size_of::<u64>()).unwrap();
    constants!(text, {
        RawStatus::OK.0 => "UCS_OK",
        RawStatus::NO_MEMORY.0 => "UCS_ERR_NO_MEMORY",
        RawStatus::INVALID_PARAM.0 => "UCS_ERR_INVALID_PARAM",
        IN_PROGRESS.0 => "UCS_INPROGRESS",
        ERR_BUSY.0 => "UCS_ERR_BUSY",
        ERR_CANCELED.0 => "UCS_ERR_CANCELED",
        ERR_SHMEM_SEGMENT.0 => "UCS_ERR_SHMEM_SEGMENT",
        ERR_MESSAGE_TRUNCATED.0 => "UCS_ERR_MESSAGE_TRUNCATED",
        ERR_LAST.0 => "UCS_ERR_LAST",
        PARAM_FIELD_FEATURES => "UCP_PARAM_FIELD_FEATURES",
        PARAM_FIELD_MT_WORKERS_SHARED => "UCP_PARAM_FIELD_MT_WORKERS_SHARED",
        FEATURE_TAG => "UCP_FEATURE_TAG",
        FEATURE_RMA => "UCP_FEATURE_RMA",
        FEATURE_WAKEUP => "UCP_FEATURE_WAKEUP",
        MEM_MAP_PARAM_FIELD_ADDRESS => "UCP_MEM_MAP_PARAM_FIELD_ADDRESS",
        MEM_MAP_PARAM_FIELD_LENGTH => "UCP_MEM_MAP_PARAM_FIELD_LENGTH",
        MEM_MAP_PARAM_FIELD_FLAGS => "UCP_MEM_MAP_PARAM_FIELD_FLAGS",
        MEM_MAP_ALLOCATE => "UCP_MEM_MAP_ALLOCATE",
        MEM_ATTR_FIELD_ADDRESS => "UCP_MEM_ATTR_FIELD_ADDRESS",
        MEM_ATTR_FIELD_LENGTH => "UCP_MEM_ATTR_FIELD_LENGTH",
        FEATURE_AM => "UCP_FEATURE_AM",
        WORKER_PARAM_FIELD_THREAD_MODE => "UCP_WORKER_PARAM_FIELD_THREAD_MODE",
        WORKER_ATTR_FIELD_THREAD_MODE => "UCP_WORKER_ATTR_FIELD_THREAD_MODE",
        WORKER_ATTR_FIELD_MAX_AM_HEADER => "UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER",
        THREAD_MODE_SINGLE => "UCS_THREAD_MODE_SINGLE",
        THREAD_MODE_SERIALIZED => "UCS_THREAD_MODE_SERIALIZED",
        THREAD_MODE_MULTI => "UCS_THREAD_MODE_MULTI",
        EP_PARAM_FIELD_REMOTE_ADDRESS => "UCP_EP_PARAM_FIELD_REMOTE_ADDRESS",
        EP_PARAM_FIELD_ERR_HANDLING_MODE => "UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE",
        EP_PARAM_FIELD_ERR_HANDLER => "UCP_EP_PARAM_FIELD_ERR_HANDLER",
        ERR_HANDLING_MODE_NONE => "UCP_ERR_HANDLING_MODE_NONE",
        ERR_HANDLING_MODE_PEER => "UCP_ERR_HANDLING_MODE_PEER",
        EP_CLOSE_FLAG_FORCE => "UCP_EP_CLOSE_FLAG_FORCE",
        CONFIG_PRINT_CONFIG => "UCS_CONFIG_PRINT_CONFIG",
        CONFIG_PRINT_HIDDEN => "UCS_CONFIG_PRINT_HIDDEN",
        DATATYPE_IOV => "ucp_dt_make_iov()",
        DATATYPE_BYTES => "ucp_dt_make_contig(1)",
        OP_ATTR_FIELD_CALLBACK => "UCP_OP_ATTR_FIELD_CALLBACK",
        OP_ATTR_FIELD_USER_DATA => "UCP_OP_ATTR_FIELD_USER_DATA",
        OP_ATTR_FIELD_DATATYPE => "UCP_OP_ATTR_FIELD_DATATYPE",
        OP_ATTR_FIELD_FLAGS => "UCP_OP_ATTR_FIELD_FLAGS",
        OP_ATTR_FIELD_MEMORY_TYPE => "UCP_OP_ATTR_FIELD_MEMORY_TYPE",
        OP_ATTR_FLAG_NO_IMM_CMPL => "UCP_OP_ATTR_FLAG_NO_IMM_CMPL",
        MEMORY_TYPE_HOST => "UCS_MEMORY_TYPE_HOST",
        AM_HANDLER_PARAM_FIELD_ID => "UCP_AM_HANDLER_PARAM_FIELD_ID",
        AM_HANDLER_PARAM_FIELD_CALLBACK => "UCP_AM_HANDLER_PARAM_FIELD_CB",
        AM_HANDLER_PARAM_FIELD_ARGUMENT => "UCP_AM_HANDLER_PARAM_FIELD_ARG",
        AM_SEND_FLAG_REPLY => "UCP_AM_SEND_FLAG_REPLY",
        AM_SEND_FLAG_EAGER => "UCP_AM_SEND_FLAG_EAGER",
        AM_RECV_ATTR_FIELD_REPLY_EP => "UCP_AM_RECV_ATTR_FIELD_REPLY_EP",
        AM_RECV_ATTR_FLAG_DATA => "UCP_AM_RECV_ATTR_FLAG_DATA",
        AM_RECV_ATTR_FLAG_RNDV => "UCP_AM_RECV_ATTR_FLAG_RNDV",
    });
    text
}

/// Whether the C compiler accepts the text, and what it says.
fn compile(text: &str) -> (bool, String) {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let mut command = Command::new(&compiler);
    command.args(["-fsyntax-only", "-x", "c"]);
    if let Ok(root) = std::env::var("UCX_DIR") {
        command.arg(format!("-I{root}/include"));
    }
    let child = command.arg("-").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap_or_else(|error| panic!("the C compiler {compiler}: {error}"));
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn declarations_agree_with_the_header() {
    let text = assertions() + &constants();
    let (accepted, message) = compile(&text);
    assert!(accepted, "{message}");
    // The compiler does evaluate them.
    let wrong =
        text.replace("CHECK(sizeof(ucp_dt_iov_t) == 16);", "CHECK(sizeof(ucp_dt_iov_t) == 24);");
    assert_ne!(wrong, text);
    let (accepted, message) = compile(&wrong);
    assert!(!accepted && message.contains("ucp_dt_iov_t"), "{message}");
}

#[test]
fn status_pointers() {
    let decoded = |address: usize| {
        format!("{:?}", Started::decode(std::ptr::without_provenance_mut(address)))
    };
    assert_eq!(decoded(0), "Completed(0)");
    assert_eq!(decoded(usize::MAX), "Completed(-1)");
    assert_eq!(decoded((-9_isize).cast_unsigned()), "Completed(-9)");
    assert_eq!(decoded((-100_isize).cast_unsigned()), "Completed(-100)");
    assert_eq!(decoded((-101_isize).cast_unsigned()), "Pending");
    assert_eq!(decoded(4096), "Pending");
}
