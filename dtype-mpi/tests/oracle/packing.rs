//! The bytes that both sides pack, and the memory after both unpack.

use dtype_mpi::Datatype;
use dtype_runtime::{Basic, Error, Type};

use crate::compare::{Layout, Quantity};
use crate::library::{self, Library};

/// A number of instances of a type in both libraries.
pub(crate) struct Job<'a> {
    pub(crate) datatype: &'a Datatype,
    pub(crate) ours: &'a Type,
    pub(crate) library: Library,
    pub(crate) count: usize,
}

impl Job<'_> {
    /// Packs and unpacks on both sides; returns the differences with both values.
    pub(crate) fn run(&self, theirs: Layout) -> Vec<(Quantity, String, String)> {
        let mut found = Vec::new();
        let margin = self.margin(theirs);
        let memory = noise(2 * margin, 1);
        let committed = self.ours.commit();
        let length = self.size() * self.count;
        let mut packed = vec![0; length];
        committed
            .pack(
                dtype_runtime::Buffer::new(&memory).origin(margin as i64),
                self.count,
                &mut packed,
            )
            .expect("the memory is large enough");

        let room = length.max(usize::try_from(theirs.0).unwrap_or(0) * self.count) + 1024;
        match library::pack(self.datatype, &memory, margin, self.count, room) {
            Ok(mut there) => {
                let mut here = packed.clone();
                let equal = here == there;
                self.clear_ignored(&mut here, 0, true);
                self.clear_ignored(&mut there, 0, true);
                if here != there {
                    let place = here.iter().zip(&there).position(|(here, there)| here != there);
                    let there = format!("{} bytes, others from {place:?}", there.len());
                    found.push((Quantity::Packed, format!("{length} bytes"), there));
                } else if !equal {
                    found.push((Quantity::Padding, "copied".into(), "not packed".into()));
                }
            }
            Err(code) => {
                found.push((Quantity::Packed, format!("{length} bytes"), format!("code {code}")));
            }
        }

        let before = noise(2 * margin, 99);
        let mut here = before.clone();
        match committed.unpack(
            &packed,
            dtype_runtime::BufferMut::new(&mut here).origin(margin as i64),
            self.count,
        ) {
            Ok(_) => {}
            Err(Error::Overlap { .. }) => return found,
            Err(error) => unreachable!("the memory is large enough: {error}"),
        }
        let mut there = before;
        let result = library::unpack(self.datatype, &packed, &mut there, margin, self.count);
        let equal = here == there;
        self.clear_ignored(&mut here, margin, false);
        self.clear_ignored(&mut there, margin, false);
        if here != there {
            let place = here.iter().zip(&there).position(|(here, there)| here != there);
            let place = place.map(|place| place as i64 - margin as i64);
            let there = format!("{result:?}, others from {place:?}");
            found.push((Quantity::Unpacked, "the memory".into(), there));
        } else if !equal {
            found.push((Quantity::Padding, "copied".into(), "not unpacked".into()));
        }
        found
    }

    fn size(&self) -> usize {
        usize::try_from(self.ours.size()).expect("small types are small")
    }

    /// The number of bytes on either side of the origin that hold all instances, by the bounds of either library.
    fn margin(&self, (_, (lb, extent), (true_lb, true_extent)): Layout) -> usize {
        let ours = self.ours;
        let reach = [lb, extent, true_lb, true_extent, ours.lb(), ours.extent()]
            .into_iter()
            .chain([ours.true_lb(), ours.true_extent()])
            .map(i64::unsigned_abs)
            .max();
        let reach = usize::try_from(reach.unwrap_or(0)).unwrap_or(usize::MAX);
        let margin = reach.saturating_mul(self.count + 2).saturating_add(4096);
        assert!(margin < 1 << 27, "a layout of {margin} bytes");
        margin
    }

    /// Clears the bytes that the library does not copy. MPICH copies a `long double` as the processor does, without the 6 bytes
    /// after its 80 bits. `packed` says whether `bytes` are the packed stream.
    fn clear_ignored(&self, bytes: &mut [u8], origin: usize, packed: bool) {
        if self.library != Library::Mpich || cfg!(not(target_arch = "x86_64")) {
            return;
        }
        let mut position = 0;
        for instance in 0..self.count as i64 {
            for entry in self.ours.type_map() {
                let numbers = match entry.basic {
                    Basic::LongDouble => 1,
                    Basic::LongDoubleComplex | Basic::CxxLongDoubleComplex => 2,
                    _ => 0,
                };
                for number in 0..numbers {
                    let place = instance * self.ours.extent() + entry.displacement;
                    let start = if packed {
                        Some(position)
                    } else {
                        origin.checked_add_signed(place as isize)
                    };
                    let start = start.expect("the memory is large enough") + 16 * number + 10;
                    bytes[start..start + 6].fill(0);
                }
                position += entry.basic.size();
            }
        }
    }
}

/// Bytes without a pattern.
fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..length).map(|_| next()).collect()
}
