//! The classes of types, and the work on a type.

/// A class of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Class {
    /// Two to eight fields of one to 24 bytes.
    SmallStructs,
    /// Two to five runs of 4 to 160 bytes, with a short gap between them.
    WideStructs,
    /// Blocks of one size at equal strides.
    Vectors,
    /// Vectors of vectors, and parts of three-dimensional arrays.
    Grids,
    /// Blocks at irregular displacements.
    Lists,
    /// Structs in two nested loops of few repetitions.
    Nested,
    /// Square matrices, column by column.
    Transposes,
    /// Data without a gap.
    Contiguous,
    /// Slices of structs with `#[derive(Datatype)]`.
    Slices,
    /// The slices of [`Slices`](Self::Slices), packed and unpacked to new vectors.
    Vecs,
}

impl Class {
    /// Every class, in the order of the table.
    pub const ALL: [Self; 10] = [
        Self::SmallStructs,
        Self::WideStructs,
        Self::Vectors,
        Self::Grids,
        Self::Lists,
        Self::Nested,
        Self::Transposes,
        Self::Contiguous,
        Self::Slices,
        Self::Vecs,
    ];

    /// The name in the table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SmallStructs => "small structs",
            Self::WideStructs => "wide structs",
            Self::Vectors => "vectors",
            Self::Grids => "grids",
            Self::Lists => "lists",
            Self::Nested => "nested",
            Self::Transposes => "transposes",
            Self::Contiguous => "contiguous",
            Self::Slices => "slices",
            Self::Vecs => "new vectors",
        }
    }

    /// How many types of this class are timed.
    pub const fn types(self) -> usize {
        match self {
            Self::SmallStructs => 40,
            Self::WideStructs | Self::Vectors => 24,
            Self::Lists => 16,
            Self::Grids | Self::Nested => 12,
            Self::Contiguous => 8,
            Self::Transposes => 6,
            Self::Slices | Self::Vecs => crate::records::ALL.len(),
        }
    }

    /// The numbers of instances that are timed.
    pub const fn counts(self) -> &'static [usize] {
        match self {
            Self::SmallStructs | Self::Slices => &[1, 2, 7, 16, 100, 1000, 65_536],
            Self::WideStructs => &[1, 2, 7, 100, 4096],
            Self::Vectors | Self::Grids | Self::Lists => &[1, 3],
            Self::Nested => &[1, 10],
            Self::Transposes | Self::Contiguous => &[1],
            Self::Vecs => &[1, 16, 1000],
        }
    }

    /// What is timed with each number of instances.
    pub const fn works(self) -> &'static [Work] {
        match self {
            Self::Vecs => &[Work::PackNew, Work::UnpackNew],
            _ => &Work::IN_PLACE,
        }
    }

    /// Whether the types are made at run time. Then their creation is timed, too.
    pub const fn is_dynamic(self) -> bool {
        !matches!(self, Self::Slices | Self::Vecs)
    }
}

/// The work that is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Work {
    /// Packs in one call.
    Pack,
    /// Unpacks in one call.
    Unpack,
    /// Packs in fragments of 1 KiB.
    PackKib,
    /// Unpacks in fragments of 1 KiB.
    UnpackKib,
    /// Packs in fragments of 8 KiB.
    Pack8Kib,
    /// Unpacks in fragments of 8 KiB.
    Unpack8Kib,
    /// Packs to a new vector.
    PackNew,
    /// Unpacks to a new vector.
    UnpackNew,
    /// Makes the type and commits it.
    Create,
}

impl Work {
    /// The kinds of work that use the buffers.
    pub const IN_PLACE: [Self; 6] = [
        Self::Pack,
        Self::Unpack,
        Self::PackKib,
        Self::UnpackKib,
        Self::Pack8Kib,
        Self::Unpack8Kib,
    ];

    /// The name in the table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pack | Self::PackNew => "pack",
            Self::Unpack | Self::UnpackNew => "unpack",
            Self::PackKib => "pack 1 KiB",
            Self::UnpackKib => "unpack 1 KiB",
            Self::Pack8Kib => "pack 8 KiB",
            Self::Unpack8Kib => "unpack 8 KiB",
            Self::Create => "create",
        }
    }

    /// The length of a fragment in bytes, if the work is done in fragments.
    pub const fn fragment(self) -> Option<usize> {
        match self {
            Self::PackKib | Self::UnpackKib => Some(1 << 10),
            Self::Pack8Kib | Self::Unpack8Kib => Some(8 << 10),
            Self::Pack | Self::Unpack | Self::PackNew | Self::UnpackNew | Self::Create => None,
        }
    }
}
