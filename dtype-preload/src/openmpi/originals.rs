//! Open MPI's own functions.

use super::layout::{Advance, Convertor, Datatype};
use crate::original::originals;

/// Prepares a convertor.
pub(super) type Prepare =
    unsafe extern "C" fn(*mut Convertor, *const Datatype, usize, *const u8) -> i32;
type SetPosition = unsafe extern "C" fn(*mut Convertor, *mut usize) -> i32;
type CopyContent = unsafe extern "C" fn(*const Datatype, i32, *mut u8, *mut u8) -> i32;

originals! {
    pub(super) static PREPARE_SEND = c"opal_convertor_prepare_for_send": Prepare;
    pub(super) static PREPARE_RECEIVE = c"opal_convertor_prepare_for_recv": Prepare;
    pub(super) static SET_POSITION = c"opal_convertor_set_position_nocheck": SetPosition;
    pub(super) static RAW = c"opal_convertor_raw": Advance;
    pub(super) static COPY = c"opal_datatype_copy_content_same_ddt": CopyContent;
    pub(super) static COMMIT = c"opal_datatype_commit": unsafe extern "C" fn(*mut Datatype) -> i32;
    pub(super) static CLONE = c"opal_datatype_clone": unsafe extern "C" fn(*const Datatype, *mut Datatype) -> i32;
    pub(super) static RESIZE = c"opal_datatype_resize": unsafe extern "C" fn(*mut Datatype, isize, isize) -> i32;
    pub(super) static DESTROY = c"ompi_datatype_destroy": unsafe extern "C" fn(*mut *mut Datatype) -> i32;
}
