//! The optimized description, by the rules of Open MPI's `opal_datatype_t` (`opt_desc`).
//!
//! - Data that follow each other in the type map and touch in memory become one entry; where their
//!   types differ, an entry of bytes.
//! - A loop over one run becomes a run itself if its iterations touch. Otherwise, if the first iteration touches the data
//!   before the loop, that iteration is merged there. If only one or two iterations remain, they are unrolled; otherwise a loop
//!   over bytes remains.
//!
//! Open MPI executes this form. This crate executes the [`Plan`](super::Plan) instead; the optimized description is here for
//! tools that compare the two engines.

use alloc::vec::Vec;

use crate::basic::Basic;
use crate::types::{Description, Elem, Entry, Writer};

/// Loops over one run with at most this many iterations are unrolled.
const WRITTEN_OUT: u64 = 2;

/// Optimizes a description.
pub(super) fn optimize(description: &Description) -> Description {
    let mut out = Writer::new();
    let mut loops = Vec::new();
    for entry in description.entries() {
        match *entry {
            Entry::Elem(elem) => append(&mut out, elem),
            Entry::Loop(head) => loops.push((out.open(), head)),
            // The last entry ends no loop; `finish` writes it.
            Entry::EndLoop(_) => {
                let Some((open, head)) = loops.pop() else { break };
                match *out.body(&open) {
                    [Entry::Elem(body)] => {
                        out.discard(open);
                        repeat_run(&mut out, as_bytes(body), head.loops, head.extent);
                    }
                    _ => out.close(open, head.loops, head.extent),
                }
            }
        }
    }
    out.finish(description.extent())
}

/// Adds data, merged with the data before them where they touch.
fn append(out: &mut Writer, elem: Elem) {
    match out.last_elem() {
        Some(last) if last.basic != elem.basic && last.end() == elem.disp => {
            *last = as_bytes(*last);
            last.count += elem.size();
        }
        _ => out.elem(elem),
    }
}

/// Adds `loops` iterations over a run of bytes.
fn repeat_run(out: &mut Writer, run: Elem, loops: u64, extent: i64) {
    if i128::from(extent) == i128::from(run.count) {
        return append(out, Elem { count: run.count * loops, ..run });
    }
    let touches = out.last_elem().is_some_and(|last| last.end() == run.disp);
    let merged = u64::from(touches);
    if touches {
        append(out, run);
    }
    let turn = |n: u64| {
        // A displacement of data, which fits 64 bits.
        Elem { disp: run.disp.wrapping_add(extent.wrapping_mul(n.cast_signed())), ..run }
    };
    if loops - merged <= WRITTEN_OUT {
        (merged..loops).for_each(|n| append(out, turn(n)));
    } else {
        let open = out.open();
        out.elem(turn(merged));
        out.close(open, loops - merged, extent);
    }
}

fn as_bytes(elem: Elem) -> Elem {
    Elem { basic: Basic::U8, count: elem.size(), disp: elem.disp, extent: 1 }
}
