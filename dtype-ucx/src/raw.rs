//! The functions and structures of libucp that this crate uses, as `ucp/api/ucp.h` of UCX 1.13 declares them.
//!
//! A structure that starts with a mask of valid fields is declared only up to the last field in use, because UCX accesses no
//! field whose bit is not set. The test in `tests.rs` compares offsets, sizes and constants with the installed header.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::fmt;

pub(crate) use dtype_ucp_generic::Operations;
pub(crate) use dtype_ucp_generic::Status as RawStatus;

/// The version of the API that these declarations follow (`UCP_API_MAJOR`, `UCP_API_MINOR`).
pub(crate) const API: (c_uint, c_uint) = (1, 13);

/// The target of a handle. Only UCX knows its contents.
#[repr(C)]
pub(crate) struct Opaque {
    _private: [u8; 0],
}

pub(crate) type Context = *mut Opaque;
pub(crate) type Worker = *mut Opaque;
pub(crate) type Endpoint = *mut Opaque;
pub(crate) type Message = *mut Opaque;
pub(crate) type Memory = *mut Opaque;
pub(crate) type RemoteKey = *mut Opaque;
pub(crate) type Config = *mut Opaque;
pub(crate) type Datatype = u64;
/// A request, null for an operation that has completed, or an error (`ucs_status_ptr_t`).
pub(crate) type StatusPointer = *mut c_void;

pub(crate) const IN_PROGRESS: RawStatus = RawStatus(1);
pub(crate) const ERR_BUSY: RawStatus = RawStatus(-15);
pub(crate) const ERR_CANCELED: RawStatus = RawStatus(-16);
pub(crate) const ERR_SHMEM_SEGMENT: RawStatus = RawStatus(-17);
pub(crate) const ERR_MESSAGE_TRUNCATED: RawStatus = RawStatus(-9);
pub(crate) const ERR_UNREACHABLE: RawStatus = RawStatus(-6);
pub(crate) const ERR_ENDPOINT_TIMEOUT: RawStatus = RawStatus(-80);
pub(crate) const ERR_LAST: RawStatus = RawStatus(-100);

pub(crate) const CONFIG_PRINT_CONFIG: c_uint = 1;
pub(crate) const CONFIG_PRINT_HIDDEN: c_uint = 1 << 3;

pub(crate) const PARAM_FIELD_FEATURES: u64 = 1;
pub(crate) const PARAM_FIELD_MT_WORKERS_SHARED: u64 = 1 << 5;

pub(crate) const FEATURE_TAG: u64 = 1;
pub(crate) const FEATURE_RMA: u64 = 1 << 1;
pub(crate) const FEATURE_WAKEUP: u64 = 1 << 4;
pub(crate) const FEATURE_AM: u64 = 1 << 6;

pub(crate) const WORKER_PARAM_FIELD_THREAD_MODE: u64 = 1;
pub(crate) const WORKER_ATTR_FIELD_THREAD_MODE: u64 = 1;
pub(crate) const WORKER_ATTR_FIELD_MAX_AM_HEADER: u64 = 1 << 3;

pub(crate) const THREAD_MODE_SINGLE: c_uint = 0;
pub(crate) const THREAD_MODE_SERIALIZED: c_uint = 1;
pub(crate) const THREAD_MODE_MULTI: c_uint = 2;

pub(crate) const EP_PARAM_FIELD_REMOTE_ADDRESS: u64 = 1;
pub(crate) const EP_PARAM_FIELD_ERR_HANDLING_MODE: u64 = 1 << 1;
pub(crate) const EP_PARAM_FIELD_ERR_HANDLER: u64 = 1 << 2;
pub(crate) const ERR_HANDLING_MODE_NONE: c_uint = 0;
pub(crate) const ERR_HANDLING_MODE_PEER: c_uint = 1;
pub(crate) const EP_CLOSE_FLAG_FORCE: u32 = 1;

pub(crate) const MEM_MAP_PARAM_FIELD_ADDRESS: u64 = 1;
pub(crate) const MEM_MAP_PARAM_FIELD_LENGTH: u64 = 1 << 1;
pub(crate) const MEM_MAP_PARAM_FIELD_FLAGS: u64 = 1 << 2;
pub(crate) const MEM_MAP_ALLOCATE: c_uint = 1 << 1;
pub(crate) const MEM_ATTR_FIELD_ADDRESS: u64 = 1;
pub(crate) const MEM_ATTR_FIELD_LENGTH: u64 = 1 << 1;

pub(crate) const DATATYPE_IOV: Datatype = 2;
/// `ucp_dt_make_contig(1)`: the count is the number of bytes.
pub(crate) const DATATYPE_BYTES: Datatype = 1 << 3;

pub(crate) const OP_ATTR_FIELD_CALLBACK: u32 = 1 << 1;
pub(crate) const OP_ATTR_FIELD_USER_DATA: u32 = 1 << 2;
pub(crate) const OP_ATTR_FIELD_DATATYPE: u32 = 1 << 3;
pub(crate) const OP_ATTR_FIELD_FLAGS: u32 = 1 << 4;
pub(crate) const OP_ATTR_FIELD_MEMORY_TYPE: u32 = 1 << 6;
pub(crate) const OP_ATTR_FLAG_NO_IMM_CMPL: u32 = 1 << 16;

pub(crate) const MEMORY_TYPE_HOST: c_uint = 0;

pub(crate) const AM_HANDLER_PARAM_FIELD_ID: u64 = 1;
pub(crate) const AM_HANDLER_PARAM_FIELD_CALLBACK: u64 = 1 << 2;
pub(crate) const AM_HANDLER_PARAM_FIELD_ARGUMENT: u64 = 1 << 3;
pub(crate) const AM_SEND_FLAG_REPLY: u32 = 1;
pub(crate) const AM_SEND_FLAG_EAGER: u32 = 1 << 1;
pub(crate) const AM_RECV_ATTR_FIELD_REPLY_EP: u64 = 1;
pub(crate) const AM_RECV_ATTR_FLAG_DATA: u64 = 1 << 16;
pub(crate) const AM_RECV_ATTR_FLAG_RNDV: u64 = 1 << 17;

/// `ucp_params_t`.
#[repr(C)]
pub(crate) struct Params {
    pub(crate) field_mask: u64,
    pub(crate) features: u64,
    pub(crate) request_size: usize,
    pub(crate) request_init: *const c_void,
    pub(crate) request_cleanup: *const c_void,
    pub(crate) tag_sender_mask: u64,
    pub(crate) mt_workers_shared: c_int,
}

/// `ucp_worker_params_t`.
#[repr(C)]
pub(crate) struct WorkerParams {
    pub(crate) field_mask: u64,
    pub(crate) thread_mode: c_uint,
}

/// `ucp_worker_attr_t`.
#[repr(C)]
pub(crate) struct WorkerAttributes {
    pub(crate) field_mask: u64,
    pub(crate) thread_mode: c_uint,
    pub(crate) address_flags: u32,
    pub(crate) address: *mut c_void,
    pub(crate) address_length: usize,
    pub(crate) max_am_header: usize,
}

/// `ucp_err_handler_t`.
#[repr(C)]
pub(crate) struct ErrorHandler {
    pub(crate) callback: Option<unsafe extern "C" fn(*mut c_void, Endpoint, RawStatus)>,
    pub(crate) argument: *mut c_void,
}

/// `ucp_ep_params_t`.
#[repr(C)]
pub(crate) struct EndpointParams {
    pub(crate) field_mask: u64,
    pub(crate) address: *const c_void,
    pub(crate) error_mode: c_uint,
    pub(crate) error_handler: ErrorHandler,
}

/// `ucp_mem_map_params_t`.
#[repr(C)]
pub(crate) struct MemoryParams {
    pub(crate) field_mask: u64,
    pub(crate) address: *mut c_void,
    pub(crate) length: usize,
    pub(crate) flags: c_uint,
}

/// `ucp_mem_attr_t`.
#[repr(C)]
pub(crate) struct MemoryAttributes {
    pub(crate) field_mask: u64,
    pub(crate) address: *mut c_void,
    pub(crate) length: usize,
}

/// `ucp_dt_iov_t`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Block {
    pub(crate) buffer: *mut c_void,
    pub(crate) length: usize,
}

/// `ucp_tag_recv_info_t`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct TagInfo {
    pub(crate) sender_tag: u64,
    pub(crate) length: usize,
}

/// `ucp_send_nbx_callback_t`.
pub(crate) type SendCallback = unsafe extern "C" fn(*mut c_void, RawStatus, *mut c_void);
/// `ucp_tag_recv_nbx_callback_t`.
pub(crate) type ReceiveCallback =
    unsafe extern "C" fn(*mut c_void, RawStatus, *const TagInfo, *mut c_void);

/// `ucp_am_recv_data_nbx_callback_t`.
pub(crate) type FetchCallback = unsafe extern "C" fn(*mut c_void, RawStatus, usize, *mut c_void);

/// The union of callbacks in [`RequestParams`].
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) union Callback {
    pub(crate) send: SendCallback,
    pub(crate) receive: ReceiveCallback,
    pub(crate) fetch: FetchCallback,
}

/// `ucp_am_recv_param_t`.
#[repr(C)]
pub(crate) struct ActiveParams {
    pub(crate) attributes: u64,
    pub(crate) reply_endpoint: Endpoint,
}

/// `ucp_am_recv_callback_t`: argument, header, its length, data, their length, parameters.
pub(crate) type ActiveCallback = unsafe extern "C" fn(
    *mut c_void,
    *const c_void,
    usize,
    *mut c_void,
    usize,
    *const ActiveParams,
) -> RawStatus;

/// `ucp_am_handler_param_t`.
#[repr(C)]
pub(crate) struct HandlerParams {
    pub(crate) field_mask: u64,
    pub(crate) id: c_uint,
    pub(crate) flags: u32,
    pub(crate) callback: Option<ActiveCallback>,
    pub(crate) argument: *mut c_void,
}

/// `ucp_request_param_t`.
#[repr(C)]
pub(crate) struct RequestParams {
    pub(crate) mask: u32,
    pub(crate) flags: u32,
    pub(crate) request: *mut c_void,
    pub(crate) callback: Callback,
    pub(crate) datatype: Datatype,
    pub(crate) user_data: *mut c_void,
    pub(crate) reply_buffer: *mut c_void,
    pub(crate) memory_type: c_uint,
}

unsafe extern "C" {
    pub(crate) fn ucp_get_version(major: *mut c_uint, minor: *mut c_uint, release: *mut c_uint);
    pub(crate) fn ucp_config_read(
        prefix: *const c_char,
        file: *const c_char,
        config: *mut Config,
    ) -> RawStatus;
    pub(crate) fn ucp_config_modify(
        config: Config,
        name: *const c_char,
        value: *const c_char,
    ) -> RawStatus;
    /// The stream is a `FILE` of C.
    pub(crate) fn ucp_config_print(
        config: Config,
        stream: *mut Opaque,
        title: *const c_char,
        flags: c_uint,
    );
    pub(crate) fn ucp_config_release(config: Config);
    pub(crate) fn ucp_init_version(
        major: c_uint,
        minor: c_uint,
        params: *const Params,
        config: Config,
        context: *mut Context,
    ) -> RawStatus;
    pub(crate) fn ucp_cleanup(context: Context);

    pub(crate) fn ucp_worker_create(
        context: Context,
        params: *const WorkerParams,
        worker: *mut Worker,
    ) -> RawStatus;
    pub(crate) fn ucp_worker_destroy(worker: Worker);
    pub(crate) fn ucp_worker_query(worker: Worker, attributes: *mut WorkerAttributes) -> RawStatus;
    pub(crate) fn ucp_worker_get_address(
        worker: Worker,
        address: *mut *mut c_void,
        length: *mut usize,
    ) -> RawStatus;
    pub(crate) fn ucp_worker_release_address(worker: Worker, address: *mut c_void);
    pub(crate) fn ucp_worker_progress(worker: Worker) -> c_uint;
    pub(crate) fn ucp_worker_get_efd(worker: Worker, fd: *mut c_int) -> RawStatus;
    pub(crate) fn ucp_worker_arm(worker: Worker) -> RawStatus;
    pub(crate) fn ucp_worker_flush_nbx(
        worker: Worker,
        params: *const RequestParams,
    ) -> StatusPointer;

    pub(crate) fn ucp_ep_create(
        worker: Worker,
        params: *const EndpointParams,
        endpoint: *mut Endpoint,
    ) -> RawStatus;
    pub(crate) fn ucp_ep_close_nbx(
        endpoint: Endpoint,
        params: *const RequestParams,
    ) -> StatusPointer;
    pub(crate) fn ucp_ep_flush_nbx(
        endpoint: Endpoint,
        params: *const RequestParams,
    ) -> StatusPointer;

    pub(crate) fn ucp_tag_send_nbx(
        endpoint: Endpoint,
        buffer: *const c_void,
        count: usize,
        tag: u64,
        params: *const RequestParams,
    ) -> StatusPointer;
    pub(crate) fn ucp_tag_recv_nbx(
        worker: Worker,
        buffer: *mut c_void,
        count: usize,
        tag: u64,
        mask: u64,
        params: *const RequestParams,
    ) -> StatusPointer;
    pub(crate) fn ucp_tag_probe_nb(
        worker: Worker,
        tag: u64,
        mask: u64,
        remove: c_int,
        info: *mut TagInfo,
    ) -> Message;
    pub(crate) fn ucp_tag_msg_recv_nbx(
        worker: Worker,
        buffer: *mut c_void,
        count: usize,
        message: Message,
        params: *const RequestParams,
    ) -> StatusPointer;

    pub(crate) fn ucp_mem_map(
        context: Context,
        params: *const MemoryParams,
        memory: *mut Memory,
    ) -> RawStatus;
    pub(crate) fn ucp_mem_unmap(context: Context, memory: Memory) -> RawStatus;
    pub(crate) fn ucp_mem_query(memory: Memory, attributes: *mut MemoryAttributes) -> RawStatus;
    pub(crate) fn ucp_rkey_pack(
        context: Context,
        memory: Memory,
        buffer: *mut *mut c_void,
        length: *mut usize,
    ) -> RawStatus;
    pub(crate) fn ucp_rkey_buffer_release(buffer: *mut c_void);
    pub(crate) fn ucp_ep_rkey_unpack(
        endpoint: Endpoint,
        buffer: *const c_void,
        key: *mut RemoteKey,
    ) -> RawStatus;
    pub(crate) fn ucp_rkey_destroy(key: RemoteKey);
    pub(crate) fn ucp_rkey_ptr(key: RemoteKey, remote: u64, pointer: *mut *mut c_void)
    -> RawStatus;
    pub(crate) fn ucp_put_nbx(
        endpoint: Endpoint,
        buffer: *const c_void,
        count: usize,
        remote: u64,
        key: RemoteKey,
        params: *const RequestParams,
    ) -> StatusPointer;
    pub(crate) fn ucp_get_nbx(
        endpoint: Endpoint,
        buffer: *mut c_void,
        count: usize,
        remote: u64,
        key: RemoteKey,
        params: *const RequestParams,
    ) -> StatusPointer;

    pub(crate) fn ucp_worker_set_am_recv_handler(
        worker: Worker,
        params: *const HandlerParams,
    ) -> RawStatus;
    pub(crate) fn ucp_am_send_nbx(
        endpoint: Endpoint,
        id: c_uint,
        header: *const c_void,
        header_length: usize,
        buffer: *const c_void,
        count: usize,
        params: *const RequestParams,
    ) -> StatusPointer;
    pub(crate) fn ucp_am_recv_data_nbx(
        worker: Worker,
        data: *mut c_void,
        buffer: *mut c_void,
        count: usize,
        params: *const RequestParams,
    ) -> StatusPointer;
    pub(crate) fn ucp_am_data_release(worker: Worker, data: *mut c_void);

    pub(crate) fn ucp_request_cancel(worker: Worker, request: *mut c_void);
    pub(crate) fn ucp_request_check_status(request: *mut c_void) -> RawStatus;
    /// As `ucp_request_check_status`, but it may see the status before another thread has written it.
    pub(crate) fn ucp_request_is_completed(request: *mut c_void) -> c_int;
    pub(crate) fn ucp_request_free(request: *mut c_void);
    /// As `ucp_request_free`, but the callback of a request that has not completed is still called.
    pub(crate) fn ucp_request_release(request: *mut c_void);

    pub(crate) fn ucp_dt_create_generic(
        operations: *const Operations,
        context: *mut c_void,
        datatype: *mut Datatype,
    ) -> RawStatus;
    pub(crate) fn ucp_dt_destroy(datatype: Datatype);

    pub(crate) fn ucs_status_string(status: RawStatus) -> *const c_char;

    // From C's library: a stream that writes to memory, which it allocates.
    pub(crate) fn open_memstream(memory: *mut *mut c_char, length: *mut usize) -> *mut Opaque;
    pub(crate) fn fclose(stream: *mut Opaque) -> c_int;
    pub(crate) fn free(memory: *mut c_void);
}

/// The result of a call that may start a request.
pub(crate) enum Started {
    /// The call has completed or failed at once. No callback is called.
    Completed(RawStatus),
    /// The callback will be called. The request must be freed then, or before.
    Pending(*mut c_void),
}

impl Started {
    /// Decodes a `ucs_status_ptr_t`: null, a small negative number as an address, or a request.
    pub(crate) fn decode(pointer: StatusPointer) -> Self {
        let address = pointer.addr();
        if address == 0 {
            return Self::Completed(RawStatus::OK);
        }
        let least_error = (ERR_LAST.0 as isize).cast_unsigned();
        if address >= least_error {
            let [lowest, ..] = address.to_le_bytes();
            return Self::Completed(RawStatus(lowest.cast_signed()));
        }
        Self::Pending(pointer)
    }
}

/// A status in the form in which a call that may start a request returns it.
pub(crate) fn status_pointer(RawStatus(status): RawStatus) -> StatusPointer {
    std::ptr::without_provenance_mut(isize::from(status).cast_unsigned())
}

impl fmt::Debug for Started {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Completed(status) => write!(f, "Completed({})", status.0),
            Self::Pending(_) => f.write_str("Pending"),
        }
    }
}

#[cfg(test)]
mod tests;
