//! What the library tells of communicators: the neighbours of a rank in a topology.

use std::ffi::c_int;
use std::ptr;

use super::abi::Word;
use crate::original::{Original, originals};

originals! {
    static TOPO_TEST = c"PMPI_Topo_test": Ask;
    static CARTDIM = c"PMPI_Cartdim_get": Ask;
    static GRAPH = c"PMPI_Graph_neighbors_count":
        unsafe extern "C" fn(Word, c_int, *mut c_int) -> c_int;
    static DIST_GRAPH = c"PMPI_Dist_graph_neighbors_count":
        unsafe extern "C" fn(Word, *mut c_int, *mut c_int, *mut c_int) -> c_int;
}

pub(super) type Ask = unsafe extern "C" fn(Word, *mut c_int) -> c_int;

/// The library's answer about a communicator, which must exist.
pub(super) fn ask(original: &Original<Ask>, communicator: Word) -> Option<c_int> {
    let mut answer = 0;
    // SAFETY: the number lives through the call.
    (unsafe { original.get()?(communicator, &raw mut answer) } == 0).then_some(answer)
}

/// The numbers of ranks that this one sends to and receives from; 0 where its arguments are not used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Role {
    pub(super) to: usize,
    pub(super) from: usize,
    /// Whether elements that are received may be left as they are.
    pub(super) keeps: bool,
}

/// The neighbours of a rank in a communicator that exists; `None` if it has no topology that is known.
pub(super) fn neighbours(communicator: Word, rank: c_int) -> Option<Role> {
    let (mut from, mut to, mut is_weighted) = (0, 0, 0);
    // In MPICH's ABI and in the standard's.
    // A neighbour in a grid may be `MPI_PROC_NULL`, from which nothing is received.
    let keeps = match ask(&TOPO_TEST, communicator)? {
        2 | 211 => {
            from = 2 * ask(&CARTDIM, communicator)?;
            to = from;
            true
        }
        1 | 212 => {
            // SAFETY: the number lives through the call.
            let code = unsafe { GRAPH.get()?(communicator, rank, &raw mut from) };
            to = from;
            (code == 0).then_some(false)?
        }
        3 | 213 => {
            let count = DIST_GRAPH.get()?;
            // SAFETY: the numbers live through the call.
            let code = unsafe {
                count(communicator, &raw mut from, &raw mut to, ptr::from_mut(&mut is_weighted))
            };
            (code == 0).then_some(false)?
        }
        _ => return None,
    };
    Some(Role { to: to.try_into().ok()?, from: from.try_into().ok()?, keeps })
}
