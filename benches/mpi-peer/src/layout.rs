//! `MPI_Pack` and `MPI_Unpack` of a layout, and its fragments.

use std::hint::black_box;
use std::os::raw::c_int;
use std::time::Duration;

use anyhow::{Result, ensure};
use dtype_benches::noise::{fill, fingerprint};
use dtype_benches::peer::{BACKGROUND, DATA};
use dtype_benches::placed::{MEMORY, PACKED, Placed};
use dtype_benches::turns::time_warm;
use dtype_mpi::Datatype;
use dtype_runtime::Type;
use mpi::ffi::{self, MPI_Datatype};
use mpi::raw::AsRaw;

use crate::convertor::Convertor;

/// The indices in [`Layout::convertors`].
const PACKING: usize = 0;
const UNPACKING: usize = 1;

/// Instances of a datatype in memory, and their packed bytes.
pub(crate) struct Layout {
    ty: Type,
    datatype: Datatype,
    count: c_int,
    origin: usize,
    memory: Placed<u8>,
    packed: Placed<u8>,
    size: c_int,
    /// The convertors that pack and unpack in fragments, made when these are first timed.
    convertors: Option<[Convertor; 2]>,
}

impl Layout {
    /// Prepares the instances, and packs them with the library.
    pub(crate) fn new(ty: &Type, count: usize, origin: usize, length: usize) -> Result<Self> {
        let datatype = Datatype::new(ty)?;
        let size = usize::try_from(ty.size())? * count;
        ensure!(datatype.size()? == i64::try_from(ty.size())?, "another size");
        // The memory fits the library's span only if the library has the same bounds.
        ensure!(datatype.extent()? == (ty.lb(), ty.extent()), "other bounds");
        ensure!(datatype.true_extent()? == (ty.true_lb(), ty.true_extent()), "other true bounds");
        let instances = i64::try_from(count.saturating_sub(1))? * ty.extent();
        let start = i64::try_from(origin)?;
        let (first, last) = (start + ty.true_lb(), start + ty.true_ub());
        let room = 0..=i64::try_from(length)?;
        ensure!(
            [first, last, first + instances, last + instances].iter().all(|end| room.contains(end)),
            "the instances do not lie in {length} bytes"
        );
        let mut memory = Placed::new(0, length, MEMORY);
        fill(&mut memory, DATA);
        // Some libraries ask for more room than they use.
        let packed = Placed::new(0, size + 1024, PACKED);
        let (count, size) = (c_int::try_from(count)?, c_int::try_from(size)?);
        let (ty, convertors) = (ty.clone(), None);
        let mut layout = Self { ty, datatype, count, origin, memory, packed, size, convertors };
        let (code, position) = layout.pack();
        ensure!(code == 0, "MPI_Pack returns {code}");
        ensure!(position == layout.size, "MPI_Pack makes {position} bytes of {size}");
        Ok(layout)
    }

    /// The bytes of all instances.
    pub(crate) fn packed(&self) -> &[u8] {
        &self.packed[..self.packed.len() - 1024]
    }

    /// Unpacks the bytes over the background, and returns the fingerprint of the memory.
    pub(crate) fn unpack_over(&mut self) -> Result<u64> {
        fill(&mut self.memory, BACKGROUND);
        let code = self.unpack();
        let found = fingerprint(&self.memory);
        fill(&mut self.memory, DATA);
        ensure!(code == 0, "MPI_Unpack returns {code}");
        Ok(found)
    }

    pub(crate) fn time_packing(&mut self, repetitions: u64) -> Duration {
        time_warm(repetitions, || {
            black_box(self.pack());
        })
    }

    pub(crate) fn time_unpacking(&mut self, repetitions: u64) -> Duration {
        time_warm(repetitions, || {
            black_box(self.unpack());
        })
    }

    pub(crate) fn time_packing_fragments(&mut self, repetitions: u64) -> Result<Duration> {
        self.prepare_fragments()?;
        Ok(time_warm(repetitions, || _ = black_box(self.run(PACKING))))
    }

    pub(crate) fn time_unpacking_fragments(&mut self, repetitions: u64) -> Result<Duration> {
        self.prepare_fragments()?;
        Ok(time_warm(repetitions, || _ = black_box(self.run(UNPACKING))))
    }

    /// Makes the convertors, and compares their results with those of `MPI_Pack` and `MPI_Unpack`.
    fn prepare_fragments(&mut self) -> Result<()> {
        if self.convertors.is_some() {
            return Ok(());
        }
        self.convertors = Some([Convertor::packing(&self.ty)?, Convertor::unpacking(&self.ty)?]);
        let size = self.packed().len();
        let expected = (self.packed().to_vec(), self.unpack_over()?);
        // Twice, because a convertor is prepared again for each message.
        for _ in 0..2 {
            self.packed.fill(0);
            ensure!(self.run(PACKING) == size, "the convertor packs another number of bytes");
            fill(&mut self.memory, BACKGROUND);
            ensure!(self.run(UNPACKING) == size, "the convertor unpacks another number of bytes");
            let memory = fingerprint(&self.memory);
            fill(&mut self.memory, DATA);
            ensure!((self.packed(), memory) == (&*expected.0, expected.1), "fragments differ");
        }
        Ok(())
    }

    /// Packs with the first convertor or unpacks with the second, and returns the number of bytes.
    fn run(&mut self, convertor: usize) -> usize {
        let (count, size) = (self.count.unsigned_abs() as usize, self.packed().len());
        let datatype = self.handle();
        let Some(convertors) = &mut self.convertors else { return 0 };
        let first = self.memory.as_mut_ptr().wrapping_add(self.origin);
        // SAFETY: as in `pack`; the convertors were made for this type.
        unsafe {
            convertors[convertor].run(datatype, count, black_box(first), &mut self.packed[..size])
        }
    }

    fn handle(&self) -> MPI_Datatype {
        self.datatype.as_raw()
    }

    /// Packs, and returns the library's return code and the number of bytes that it wrote.
    #[expect(clippy::cast_possible_truncation, reason = "the size and 1024 more is an int")]
    fn pack(&mut self) -> (c_int, c_int) {
        let mut position = 0;
        let from = self.memory.as_ptr().wrapping_add(self.origin);
        // SAFETY: all instances lie in the memory, by bounds that the library confirmed; the packed bytes have
        // room for them; the datatype is committed.
        let code = unsafe {
            ffi::MPI_Pack(
                black_box(from).cast(),
                self.count,
                self.handle(),
                self.packed.as_mut_ptr().cast(),
                self.packed.len() as c_int,
                &raw mut position,
                ffi::RSMPI_COMM_SELF,
            )
        };
        (code, position)
    }

    /// Unpacks, and returns the library's return code.
    fn unpack(&mut self) -> c_int {
        let mut position = 0;
        let to = self.memory.as_mut_ptr().wrapping_add(self.origin);
        // SAFETY: as above.
        unsafe {
            ffi::MPI_Unpack(
                black_box(self.packed.as_ptr()).cast(),
                self.size,
                &raw mut position,
                to.cast(),
                self.count,
                self.handle(),
                ffi::RSMPI_COMM_SELF,
            )
        }
    }
}
