//! Where values start in the packed stream.
//!
//! Not every library's receiver accepts a fragment that ends inside a value: MPICH 4.0 refuses it ("Message truncated"), and
//! Open MPI 5.0 writes the start of a value that begins a block into the gap before the block. The other rank may run without
//! this library, so fragments for such a library are packed so that they end where values end.

use dtype_runtime::Type;
use dtype_runtime::types::Entry;

/// The packed bytes of an instance as a sequence of values.
#[derive(Debug)]
pub(crate) struct Values {
    /// Packed bytes of an instance.
    size: usize,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// All values have this size.
    Equal(usize),
    Mixed(Vec<Entry>),
}

impl Values {
    pub(crate) fn new(ty: &Type) -> Option<Self> {
        let size = usize::try_from(ty.size()).ok().filter(|&size| size > 0)?;
        let description = ty.description();
        let entries = description.entries();
        let mut sizes = entries.iter().filter_map(|entry| match entry {
            Entry::Elem(elem) => Some(elem.basic.size()),
            Entry::Loop(_) | Entry::EndLoop(_) => None,
        });
        let first = sizes.next()?;
        let kind = if sizes.all(|size| size == first) {
            Kind::Equal(first)
        } else {
            Kind::Mixed(entries.to_vec())
        };
        Some(Self { size, kind })
    }

    /// The packed bytes of a fragment of up to `room` bytes that ends with a value; `room` if no value fits in it.
    pub(crate) fn whole(&self, position: usize, room: usize) -> usize {
        match self.start(position.saturating_add(room)).saturating_sub(position) {
            0 => room,
            whole => whole,
        }
    }

    /// The start of the value that a position of the packed stream lies in.
    pub(crate) fn start(&self, position: usize) -> usize {
        let inside = position % self.size;
        let back = match &self.kind {
            Kind::Equal(size) => inside % size,
            Kind::Mixed(entries) => inside - start(entries, inside as u64).min(inside),
        };
        position - back
    }
}

/// The start of the value that holds a position, in one execution of entries.
#[expect(clippy::cast_possible_truncation, reason = "positions in a message")]
fn start(entries: &[Entry], position: u64) -> usize {
    let (mut entries, mut before) = (entries, 0_u64);
    let mut rest = position;
    while let Some(entry) = entries.first() {
        match entry {
            Entry::Elem(elem) => {
                let value = elem.basic.size() as u64;
                if rest < elem.size() {
                    return (before + rest - rest % value) as usize;
                }
                (before, rest) = (before + elem.size(), rest - elem.size());
                entries = &entries[1..];
            }
            Entry::Loop(head) => {
                let Some(Entry::EndLoop(end)) = entries.get(head.items) else { break };
                let all = end.size.saturating_mul(head.loops);
                if rest < all {
                    // Continues in the iteration that holds the position.
                    let inside = rest % end.size;
                    (before, rest) = (before + rest - inside, inside);
                    entries = &entries[1..];
                } else {
                    (before, rest) = (before + all, rest - all);
                    entries = &entries[head.items + 1..];
                }
            }
            Entry::EndLoop(_) => break,
        }
    }
    before as usize
}

#[cfg(test)]
mod tests {
    use dtype_runtime::Basic;

    use super::*;

    /// All starts, from the type map.
    fn starts(ty: &Type, count: usize) -> Vec<usize> {
        let sizes: Vec<usize> = ty.type_map().map(|entry| entry.basic.size()).collect();
        let mut all = vec![0];
        for size in sizes.iter().cycle().take(sizes.len() * count) {
            all.push(all.last().unwrap() + size);
        }
        all
    }

    #[test]
    fn positions_go_back_to_the_start_of_a_value() {
        let [f64, i8, i16] = [Basic::F64, Basic::I8, Basic::I16].map(Type::basic);
        let record =
            Type::structure(&[1, 1, 3], &[0, 8, 10], &[f64.clone(), i8.clone(), i16]).unwrap();
        let column = Type::vector(3, 2, 4, &record).unwrap();
        let nested =
            Type::structure(&[2, 1, 2], &[0, 500, 520], &[column, i8, f64.clone()]).unwrap();
        let row = Type::vector(5, 2, 3, &f64).unwrap();
        for ty in [record, nested, row] {
            let values = Values::new(&ty).unwrap();
            let starts = starts(&ty, 3);
            for position in 0..3 * usize::try_from(ty.size()).unwrap() {
                let expected = *starts.iter().rev().find(|&&start| start <= position).unwrap();
                assert_eq!(values.start(position), expected, "{position} of {ty:?}");
            }
        }
        assert!(Values::new(&Type::contiguous(0, &Type::basic(Basic::F64)).unwrap()).is_none());
    }
}
