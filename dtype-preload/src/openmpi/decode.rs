//! Decodes the description of an Open MPI datatype to a [`Type`].
//!
//! A description is a list of entries: blocks of a basic type, and loops around the entries up to their ends. The displacements
//! inside a loop are relative to the start of the iteration. So each entry is a vector of its basic type, a loop is a vector
//! with a stride in bytes, and entries side by side are a structure. A struct of a `double` and three `short`, as an array of
//! two:
//!
//! ```text
//! 0  loop of 2, 4 entries, extent 16        hvector(2, 1, 16, structure(
//! 1    elem f64, 1 block of 1 at 0              hvector(1, 1, …, f64) at 0,
//! 2    elem i16, 1 block of 3 at 8              hvector(1, 3, …, i16) at 8))
//! 3  end
//! ```
//!
//! Many single blocks of one type in a row, as in an indexed type, become one list.

use dtype_runtime::{Basic, Error, Type};

use super::layout::{Datatype, Description, Elem, Entry, Head, Loop};
use super::supported::Supported;

/// The kind of a loop's start.
const LOOP: u16 = 0;
/// The kind of a loop's end.
const END: u16 = 1;

/// Deeper loops are left to the library.
const MAX_DEPTH: u32 = 64;

/// Longer descriptions are left to the library.
const MAX_ENTRIES: usize = 1 << 24;

/// The description that was written when the type was made, and not the optimized one, which lacks the basic types.
pub(super) fn description(datatype: &Datatype) -> &Description {
    &datatype.desc
}

/// The type that a datatype represents: the same bytes in the same order, and the same bounds. `None` if its description has an
/// unsupported entry.
///
/// # Safety
///
/// The datatype must be committed and alive, and the library must be [supported](super::supported).
pub(super) unsafe fn decode(datatype: &Datatype, supported: &Supported) -> Option<Type> {
    let desc = description(datatype);
    if desc.entries.is_null() || desc.used == 0 || desc.used > MAX_ENTRIES {
        return None;
    }
    // SAFETY: the library has written this number of entries, and does not change them once the type is committed.
    let entries = unsafe { std::slice::from_raw_parts(desc.entries, desc.used) };
    let lb = datatype.lb as i64;
    let extent = (datatype.ub as i64).checked_sub(lb)?;
    let ty = body(entries, supported, 0)?;
    let ty = Type::resized(&ty, lb, extent).ok()?;
    let same = ty.size() == datatype.size as u64
        && ty.true_lb() == datatype.true_lb as i64
        && ty.true_ub() == datatype.true_ub as i64;
    same.then_some(ty)
}

/// The type of entries side by side.
fn body(entries: &[Entry], supported: &Supported, depth: u32) -> Option<Type> {
    let mut parts = Parts::default();
    let mut at = 0;
    while let Some(entry) = entries.get(at) {
        // SAFETY: all entries start with it, and the library writes whole entries.
        let Head { kind, .. } = unsafe { entry.head };
        match kind {
            END => return None,
            LOOP => {
                // SAFETY: an entry of this kind.
                let Loop { items, loops, extent, .. } = unsafe { entry.start };
                let end = at.checked_add(items as usize)?;
                // SAFETY: as above.
                let ends = entries.get(end).is_some_and(|entry| unsafe { entry.head }.kind == END);
                if !ends || items == 0 || depth == MAX_DEPTH {
                    return None;
                }
                let inside = body(&entries[at + 1..end], supported, depth + 1)?;
                let ty = Type::hvector(loops.into(), 1, extent as i64, &inside).ok()?;
                parts.push(0, ty)?;
                at = end + 1;
            }
            _ => {
                // SAFETY: an entry of this kind.
                parts.elem(unsafe { entry.elem }, supported)?;
                at += 1;
            }
        }
    }
    parts.finish()
}

/// The parts of a structure, and the list of single blocks at its end, which is not a part yet.
#[derive(Default)]
struct Parts {
    displacements: Vec<i64>,
    types: Vec<Type>,
    kind: Option<u16>,
    old: Option<Type>,
    block_lengths: Vec<u64>,
    blocks: Vec<i64>,
}

impl Parts {
    fn elem(&mut self, elem: Elem, supported: &Supported) -> Option<()> {
        let Elem { head, count, blocklen, extent, disp } = elem;
        if self.kind != Some(head.kind) {
            self.close()?;
            self.old = Some(value(head.kind, supported)?);
            self.kind = Some(head.kind);
        }
        let old = self.old.as_ref()?;
        if count == 1 {
            self.block_lengths.push(blocklen as u64);
            self.blocks.push(disp as i64);
            return Some(());
        }
        let ty = Type::hvector(count.into(), blocklen as u64, extent as i64, old).ok()?;
        self.push(disp as i64, ty)
    }

    fn push(&mut self, displacement: i64, ty: Type) -> Option<()> {
        self.close()?;
        self.displacements.push(displacement);
        self.types.push(ty);
        Some(())
    }

    /// Turns the list of single blocks into a part.
    fn close(&mut self) -> Option<()> {
        self.kind = None;
        let Some(old) = self.old.take() else { return Some(()) };
        let (displacement, ty) = match (&*self.block_lengths, &*self.blocks) {
            ([], _) => return Some(()),
            ([1], [disp]) => (*disp, Ok(old)),
            ([len], [disp]) => (*disp, Type::contiguous(*len, &old)),
            (lengths, blocks) => (0, list(lengths, blocks, &old)),
        };
        self.types.push(ty.ok()?);
        self.displacements.push(displacement);
        self.block_lengths.clear();
        self.blocks.clear();
        Some(())
    }

    fn finish(mut self) -> Option<Type> {
        self.close()?;
        match (&*self.displacements, &*self.types) {
            ([], _) => None,
            ([0], [only]) => Some(only.clone()),
            (displacements, types) => {
                Type::structure(&vec![1; types.len()], displacements, types).ok()
            }
        }
    }
}

/// Blocks of one type.
fn list(lengths: &[u64], blocks: &[i64], old: &Type) -> Result<Type, Error> {
    match lengths {
        [first, rest @ ..] if rest.iter().all(|length| length == first) => {
            Type::hindexed_block(*first, blocks, old)
        }
        _ => Type::hindexed(lengths, blocks, old),
    }
}

/// A value of a basic type. It is bytes if only its size is known, and if no caller needs to know where values end.
fn value(kind: u16, supported: &Supported) -> Option<Type> {
    match supported.basic(kind)? {
        (Some(basic), _) => Some(Type::basic(basic)),
        (None, size) if supported.whole_values && size > 1 => None,
        (None, size) => Type::contiguous(size as u64, &Type::basic(Basic::Byte)).ok(),
    }
}
