//! Chooses the kernels that move a layout.

use core::ops::Range;

use dtype_runtime::Committed;

use crate::chunks::Chunks;
use crate::layout::{Repeat, widest_word};
use crate::nest::Nest;
use crate::records::Records;
use crate::source::{Direction, Source, THREADS, word};
use crate::special::{Launch, Special};
use crate::transpose::Transpose;

/// The kernels of a layout. One of them moves words to and from any place; a special one may move most of a range faster.
pub(crate) struct Forms {
    /// The greatest number of bytes, at most 16, that divides every run and every displacement.
    unit: u64,
    /// The packed bytes of an iteration of the outermost repetition, and the bytes from one iteration to the next.
    iteration: (u64, i64),
    /// The displacement from which on the packed bytes are a plain copy of the memory; `None` if they are not.
    pub(crate) copy: Option<i64>,
    nest: Option<Nest>,
    pub(crate) special: Option<Box<dyn Special>>,
}

/// A kernel of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Moves words of `bytes` bytes. If `are_wide`, the number of a word has 64 bits.
    Words { bytes: u64, are_wide: bool },
    /// A variant of the special kernel.
    Special { variant: u64 },
}

impl Forms {
    pub(crate) fn of(layout: &Repeat) -> Self {
        let records = Records::of(layout).map(|form| Box::new(form) as Box<dyn Special>);
        let transpose = || Some(Box::new(Transpose::of(layout)?) as Box<dyn Special>);
        let chunks = || Some(Box::new(Chunks::of(layout)?) as Box<dyn Special>);
        // For records, only the parts at the ends of a range move by words. For these few bytes, the kernel for any layout will
        // do, which is compiled once for all types.
        let nest = if records.is_some() { None } else { Nest::of(layout) };
        Self {
            unit: layout.unit(),
            iteration: (layout.size, layout.stride),
            copy: layout.is_run().then_some(layout.disp),
            nest,
            special: records.or_else(transpose).or_else(chunks),
        }
    }

    /// The table for the kernel that moves words, in bytes.
    pub(crate) fn table(&self, layout: &Repeat) -> Vec<u8> {
        match &self.nest {
            Some(nest) => nest.offsets().iter().flat_map(|offset| offset.to_ne_bytes()).collect(),
            None => layout.table().iter().flat_map(|number| number.to_ne_bytes()).collect(),
        }
    }

    /// The widest word that can move packed bytes between memory whose origin is at `origin` and a buffer in which the stream
    /// starts at `start`.
    pub(crate) fn word(&self, origin: u64, start: u64) -> u64 {
        widest_word([self.unit, origin, start])
    }

    /// The launch that moves a range of packed bytes by words of `bytes` bytes. This number must divide the ends of the range.
    pub(crate) fn words(
        &self,
        bytes: u64,
        range: Range<u64>,
        origin: u64,
        start: u64,
    ) -> (Kind, Launch) {
        // Whole iterations before the range are added to the origin, so that the numbers of most words fit 32 bits.
        let (size, stride) = self.iteration;
        let before = range.start / size;
        let origin = before.wrapping_mul(stride.cast_unsigned()).wrapping_add(origin);
        let first = (range.start - before * size) / bytes;
        let words = (range.end - range.start) / bytes;
        let are_wide = u32::try_from(first + words).is_err();
        let at = start.wrapping_add(range.start);
        let each = self.nest.as_ref().map_or(1, |nest| nest.each(bytes));
        let groups = words.div_ceil(each * u64::from(THREADS));
        let launch = Launch { variant: 0, groups, origin, at, numbers: vec![first, words] };
        (Kind::Words { bytes, are_wide }, launch)
    }

    pub(crate) fn source(&self, direction: Direction, kind: Kind) -> Source {
        match (kind, &self.special, &self.nest) {
            (Kind::Special { variant }, Some(special), _) => special.source(direction, variant),
            (Kind::Words { bytes, are_wide }, _, Some(nest)) => {
                nest.source(direction, bytes, are_wide)
            }
            (Kind::Words { bytes, .. } | Kind::Special { variant: bytes }, ..) => {
                walk(direction, bytes)
            }
        }
    }
}

/// The kernels that pack or unpack whole instances of a type between buffers with the alignment that the type needs, for tools
/// that compile or display them. There are none for a type without data or without gaps.
///
/// ```
/// use dtype_gpu::forms::sources;
/// use dtype_gpu::source::{Dialect, Direction};
/// use dtype_runtime::{Basic, Type};
///
/// let column = Type::vector(100, 1, 33, &Type::basic(Basic::F64))?.commit();
/// let [kernel] = &sources(&column, Direction::Pack)[..] else { panic!("one kernel") };
/// let text = kernel.text(Dialect::OpenClC);
/// assert!(text.contains("place += (u64)i * (u64)0x108;"), "{text}");
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
pub fn sources(committed: &Committed, direction: Direction) -> Vec<Source> {
    let Some(layout) = Repeat::of(committed).filter(|layout| !layout.is_run()) else {
        return Vec::new();
    };
    let forms = Forms::of(&layout);
    let words = forms.source(direction, Kind::Words { bytes: forms.unit, are_wide: false });
    let special = forms.special.as_ref().map(|special| {
        let first = special.launch(direction, 0, 0, 0..special.granule());
        special.source(direction, first.variant)
    });
    special.into_iter().chain([words]).collect()
}

/// The kernel for any layout, by words of `bytes` bytes.
fn walk(direction: Direction, bytes: u64) -> Source {
    let body = word(direction, bytes) + include_str!("kernels/walk.c");
    Source { name: "walk", threads: THREADS, body }
}
