//! Random types, made at run time.

use core::fmt::Write;
use core::hint::black_box;

use dtype_runtime::{Basic, Committed, Error, Order, Type};

use crate::class::{Class, Work};
use crate::interface::Sizes;
use crate::noise::{Random, fill};
use crate::timed::{Timed, done};

/// A type, and the call that makes it again: its arguments are prepared, so that only the call is timed.
pub(crate) struct Layout {
    /// The arguments, as the report shows them.
    pub(crate) name: String,
    make: Box<dyn Fn() -> Result<Type, Error>>,
}

impl Layout {
    /// Makes the type with this index from random numbers of its own.
    pub(crate) fn new(class: Class, seed: u64, index: usize) -> Self {
        let mut random = Choice(Random::new((seed << 32) ^ ((class as u64) << 16) ^ index as u64));
        // The first numbers of similar seeds are similar.
        (0..4).for_each(|_| _ = random.0.below(2));
        match class {
            Class::SmallStructs => small_struct(&mut random),
            Class::WideStructs => wide_struct(&mut random),
            Class::Vectors => vector(&mut random),
            Class::Grids if index.is_multiple_of(2) => grid(&mut random),
            Class::Grids => part_of_array(&mut random),
            Class::Lists => list(&mut random),
            Class::Nested => nested(&mut random),
            Class::Transposes => transpose(&mut random),
            Class::Contiguous => contiguous(&mut random),
            Class::Slices | Class::Vecs => unreachable!("records are not made at run time"),
        }
    }

    fn of(name: String, make: impl Fn() -> Result<Type, Error> + 'static) -> Self {
        Self { name, make: Box::new(make) }
    }

    /// The type, committed.
    pub(crate) fn commit(self) -> Box<dyn Timed> {
        let committed = done((self.make)()).commit();
        Box::new(Made { make: self.make, committed })
    }
}

/// Random arguments.
struct Choice(Random);

impl Choice {
    fn within(&mut self, least: u32, most: u32) -> u32 {
        least + self.0.below(most - least + 1)
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.within(1, all.len() as u32) as usize - 1]
    }
}

/// Basic types, and their sizes.
const ELEMENTS: [(Basic, i64); 4] =
    [(Basic::U8, 1), (Basic::U16, 2), (Basic::F32, 4), (Basic::F64, 8)];

/// The arguments of a struct.
#[derive(Clone, Default)]
struct Fields {
    lengths: Vec<u64>,
    places: Vec<i64>,
    types: Vec<Type>,
    extent: i64,
    name: String,
}

impl Fields {
    /// Each field at the next multiple of its size, as in C.
    fn aligned(random: &mut Choice, number: u32) -> Self {
        let (mut fields, mut alignment) = (Self::default(), 1);
        for _ in 0..number {
            let ((basic, size), length) = (random.of(&ELEMENTS), random.of(&[1, 1, 1, 2, 3]));
            let place = multiple(fields.extent, size);
            fields.push(basic, length, place);
            fields.extent = place + size * length;
            alignment = alignment.max(size);
        }
        fields.extent = multiple(fields.extent, alignment);
        fields
    }

    fn push(&mut self, basic: Basic, length: i64, place: i64) {
        self.lengths.push(length.unsigned_abs());
        self.places.push(place);
        self.types.push(Type::basic(basic));
        let _ = write!(self.name, "{length} {basic:?} at {place}, ");
    }

    fn make(&self) -> Result<Type, Error> {
        let (lengths, places) = (black_box(&*self.lengths), black_box(&*self.places));
        Type::resized(&Type::structure(lengths, places, &self.types)?, 0, self.extent)
    }

    fn layout(self) -> Layout {
        Layout::of(format!("{}extent {}", self.name, self.extent), move || self.make())
    }
}

/// The first multiple of `unit` from `at` on.
const fn multiple(at: i64, unit: i64) -> i64 {
    (at + unit - 1) / unit * unit
}

fn small_struct(random: &mut Choice) -> Layout {
    let number = random.within(2, 8);
    let mut fields = Fields::aligned(random, number);
    // Some structs end with members that are not sent.
    fields.extent += random.of(&[0, 0, 0, 8, 16]);
    fields.layout()
}

fn wide_struct(random: &mut Choice) -> Layout {
    let mut fields = Fields::default();
    let first = random.of(&[0, 8]);
    let mut place = first;
    for _ in 0..random.within(2, 5) {
        let length = i64::from(random.within(1, 40));
        fields.push(Basic::F32, length, place);
        fields.extent = place + 4 * length;
        place = fields.extent + 4 * i64::from(random.within(1, 4));
    }
    // In half of the types, an instance ends where the next one begins.
    fields.extent = random.of(&[fields.extent - first, multiple(fields.extent, 8)]);
    fields.layout()
}

fn vector(random: &mut Choice) -> Layout {
    let (basic, _) = random.of(&ELEMENTS);
    let number = random.within(50, 1000).into();
    let block: i64 = random.of(&[1, 1, 2, 3, 6, 12, 100]);
    let stride = block + random.of(&[1, 1, 2, 7, 64]);
    let old = Type::basic(basic);
    Layout::of(format!("vector({number}, {block}, {stride}) of {basic:?}"), move || {
        Type::vector(black_box(number), black_box(block.unsigned_abs()), black_box(stride), &old)
    })
}

fn grid(random: &mut Choice) -> Layout {
    let (basic, size) = random.of(&ELEMENTS);
    let [rows, number] = [random.within(10, 100), random.within(3, 60)].map(u64::from);
    let block: i64 = random.of(&[1, 1, 2, 3, 6]);
    let stride = block + random.of(&[1, 2, 5]);
    let row = size * stride * number as i64 + random.of(&[0, 8, 1024]);
    let old = Type::basic(basic);
    let name =
        format!("{rows} rows, {row} apart, of vector({number}, {block}, {stride}) of {basic:?}");
    Layout::of(name, move || {
        let columns = Type::vector(black_box(number), block.unsigned_abs(), stride, &old)?;
        Type::hvector(black_box(rows), 1, row, &columns)
    })
}

fn part_of_array(random: &mut Choice) -> Layout {
    let (basic, _) = random.of(&ELEMENTS);
    let sizes: [u64; 3] = [(); 3].map(|()| random.within(8, 64).into());
    // Faces have a length of one in one dimension.
    let thin = random.within(0, 3) as usize;
    let parts: [u64; 3] = core::array::from_fn(|axis| {
        if axis == thin {
            random.within(1, 2).into()
        } else {
            sizes[axis] - u64::from(random.within(2, 6))
        }
    });
    let old = Type::basic(basic);
    Layout::of(format!("{parts:?} of {sizes:?} {basic:?}"), move || {
        Type::subarray(black_box(&sizes), black_box(&parts), &[1, 1, 1], Order::C, &old)
    })
}

fn list(random: &mut Choice) -> Layout {
    let (basic, _) = random.of(&ELEMENTS);
    let (number, longest) = (random.of(&[30, 100, 300, 1000, 3000]), random.of(&[1, 1, 3, 12, 40]));
    let (mut lengths, mut places, mut place) = (Vec::new(), Vec::new(), 0);
    for _ in 0..number {
        let length = random.within(1, longest);
        lengths.push(u64::from(length));
        places.push(place);
        place += i64::from(length + random.within(0, 4));
    }
    let old = Type::basic(basic);
    Layout::of(format!("{number} blocks of up to {longest} {basic:?}"), move || {
        Type::indexed(black_box(&lengths), black_box(&places), &old)
    })
}

fn nested(random: &mut Choice) -> Layout {
    let number = random.within(2, 4);
    let fields = Fields::aligned(random, number);
    let [rows, number] = [random.within(8, 32), random.within(3, 16)].map(u64::from);
    let stride = fields.extent + random.of(&[0, 0, 8]);
    let row = stride * number as i64 + random.of(&[0, 8, 256]);
    let name = format!(
        "{rows} rows, {row} apart, of {number}, {stride} apart, of {}extent {}",
        fields.name, fields.extent
    );
    Layout::of(name, move || {
        let columns = Type::hvector(black_box(number), 1, stride, &fields.make()?)?;
        Type::hvector(black_box(rows), 1, row, &columns)
    })
}

fn transpose(random: &mut Choice) -> Layout {
    let (basic, size) = random.of(&ELEMENTS[2..]);
    let side: u64 = random.of(&[48, 128, 300, 512, 1000, 1024]);
    let old = Type::basic(basic);
    Layout::of(format!("{side}² {basic:?}"), move || {
        let column = Type::vector(black_box(side), 1, side as i64, &old)?;
        Type::contiguous(side, &Type::resized(&column, 0, size)?)
    })
}

fn contiguous(random: &mut Choice) -> Layout {
    let (basic, _) = random.of(&ELEMENTS);
    let length = u64::from(random.of(&[10, 100, 1000, 10_000, 100_000]) + random.within(0, 9));
    let old = Type::basic(basic);
    Layout::of(format!("{length} {basic:?}"), move || Type::contiguous(black_box(length), &old))
}

/// The call that makes a type, and the committed type.
struct Made {
    make: Box<dyn Fn() -> Result<Type, Error>>,
    committed: Committed,
}

impl Timed for Made {
    fn sizes(&self, count: usize) -> Sizes {
        let ty = self.committed.as_type();
        // No extent is negative, so the last instance ends last.
        let span = ty.true_ub() + ty.extent() * (count as i64 - 1);
        Sizes {
            memory: span.unsigned_abs() as usize,
            packed: done(self.committed.packed_size(count)),
        }
    }

    unsafe fn fill(&self, memory: &mut [u8], seed: u64) {
        fill(memory, seed);
    }

    unsafe fn run(
        &self,
        work: Work,
        memory: &mut [u8],
        packed: &mut [u8],
        count: usize,
        repetitions: u32,
    ) {
        let committed = &self.committed;
        let fragment = work.fragment().unwrap_or(usize::MAX);
        let all = 0..repetitions;
        match work {
            Work::Pack => all.for_each(|_| {
                let out = black_box::<&mut [u8]>(packed);
                done(committed.pack(black_box::<&[u8]>(memory), black_box(count), out));
            }),
            Work::Unpack => all.for_each(|_| {
                let to = black_box::<&mut [u8]>(memory);
                done(committed.unpack(black_box::<&[u8]>(packed), to, black_box(count)));
            }),
            Work::PackKib | Work::Pack8Kib => all.for_each(|_| {
                let mut packer = done(committed.packer(black_box::<&[u8]>(memory), count));
                for out in black_box::<&mut [u8]>(packed).chunks_mut(fragment) {
                    packer.pack(out);
                }
            }),
            Work::UnpackKib | Work::Unpack8Kib => all.for_each(|_| {
                let to = black_box::<&mut [u8]>(memory);
                let mut unpacker = done(committed.unpacker(to, count));
                for bytes in black_box::<&[u8]>(packed).chunks(fragment) {
                    done(unpacker.unpack(bytes));
                }
            }),
            Work::PackNew | Work::UnpackNew => {
                unreachable!("bytes are not packed to vectors of records")
            }
            Work::Create => all.for_each(|_| drop(black_box(done((self.make)()).commit()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_all_seeds_can_be_timed() {
        for seed in 1..10 {
            for class in Class::ALL.into_iter().filter(|class| class.is_dynamic()) {
                let layout = |index| Layout::new(class, seed, index);
                let count = class.counts()[class.counts().len() - 1].min(3);
                assert_ne!(layout(0).name, Layout::new(class, seed + 100, 0).name, "{class:?}");
                for index in 0..class.types() {
                    let Layout { name, make } = layout(index);
                    assert_eq!(name, layout(index).name);
                    let ty = make().unwrap();
                    assert!(ty.true_lb() >= 0 && ty.extent() > 0, "{name}");
                    // Types whose instances overlap cannot be unpacked.
                    let made = Made { make, committed: ty.commit() };
                    let Sizes { memory, packed } = made.sizes(count);
                    let unpacked =
                        made.committed.unpack(&vec![1; packed], &mut vec![0; memory], count);
                    assert_eq!(unpacked, Ok(packed), "{name}");
                }
            }
        }
    }
}
