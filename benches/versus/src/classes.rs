//! Classes of layouts in which MPI libraries come closest to this engine, in one call and in fragments of 8 KiB.
//!
//! Fragments are compared with the engine in Open MPI: MPI has no call that packs a part of an instance.

use anyhow::{Context, Result};
use dtype_benches::peer::{FRAGMENT, Work};
use dtype_runtime::{Basic, Error, Order, Type};

use crate::bench::{Bench, Contestant, done, who};
use crate::report::row::{Group, Row};
use crate::streaming::Stream;

/// A class of layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Nested loops of a few repetitions.
    ShortLoops,
    /// Faces of cubes of `f64`, whole, without their edges, or two thick, and the inside of a cube.
    Faces,
    /// The columns of matrices.
    Transposes,
    /// Data without gaps, in fragments. In one call, every library uses `memcpy`.
    Contiguous,
}

const WORKS: [(&str, Work); 4] = [
    ("pack", Work::Pack),
    ("unpack", Work::Unpack),
    ("pack 8 KiB", Work::PackFragments),
    ("unpack 8 KiB", Work::UnpackFragments),
];

impl Class {
    pub(crate) const ALL: [Self; 4] =
        [Self::ShortLoops, Self::Faces, Self::Transposes, Self::Contiguous];

    /// The name in the report.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::ShortLoops => "short loops in short loops",
            Self::Faces => "faces of 3-D arrays",
            Self::Transposes => "transposes",
            Self::Contiguous => "contiguous data",
        }
    }

    /// The limit for the mean of this engine's time over that of the fastest library.
    pub(crate) const fn limit(self) -> f64 {
        match self {
            Self::Transposes => 0.9,
            Self::ShortLoops | Self::Faces | Self::Contiguous => 1.0,
        }
    }

    /// The rows of each layout: the name of the work, and the request to the peers.
    pub(crate) fn works(self) -> &'static [(&'static str, Work)] {
        let [_, _, in_fragments @ ..] = &WORKS;
        if self == Self::Contiguous { in_fragments } else { &WORKS }
    }

    fn layouts(self) -> Vec<Layout> {
        match self {
            Self::ShortLoops => short_loops(),
            Self::Faces => [64, 256].into_iter().flat_map(faces).collect(),
            Self::Transposes => transposes(),
            Self::Contiguous => [2040, 4096, 5100, 65_536].map(contiguous).into(),
        }
    }
}

/// Instances of a type, and the memory that they need.
struct Layout {
    parameters: String,
    count: usize,
    ty: Result<Type, Error>,
}

impl Layout {
    fn one(parameters: impl Into<String>, ty: Result<Type, Error>) -> Self {
        Self { parameters: parameters.into(), count: 1, ty }
    }
}

fn f64() -> Type {
    Type::basic(Basic::F64)
}

/// Every other `f64`, in nested loops with a distance of two `f64` between repetitions. `counts` are the repetitions of the
/// loops, the innermost one first.
fn nest(counts: &[u64]) -> Result<Type, Error> {
    counts.iter().try_fold(f64(), |inner, &count| {
        let stride = if inner.extent() == 8 { 16 } else { inner.extent() + 16 };
        Type::hvector(count, 1, stride, &inner)
    })
}

fn short_loops() -> Vec<Layout> {
    let four = || nest(&[4; 4]);
    let mut all = vec![
        Layout::one("hvector(4)⁴", four()),
        Layout { parameters: "hvector(4)⁴ × 300".into(), count: 300, ty: four() },
    ];
    for n in [2, 3, 4, 8] {
        all.push(Layout::one(format!("1000 × {n} × {n} × 4"), nest(&[4, n, n, 1000])));
    }
    for n in [4, 5] {
        all.push(Layout::one(format!("1000 × {n}"), nest(&[n, 1000])));
    }
    all
}

/// The faces of a cube. Across `x`, the fastest axis, a face consists of single elements; across `z`, of one block.
fn faces(side: u64) -> Vec<Layout> {
    let face = |name: &str, parts: [u64; 3], start: u64| {
        let starts = parts.map(|part| if part < side { start } else { 0 });
        let ty = Type::subarray(&[side; 3], &parts, &starts, Order::C, &f64());
        Layout::one(format!("{name} of {side}³"), ty)
    };
    let inside = side - 2;
    let mut all = vec![
        face("x", [side, side, 1], 0),
        face("y", [side, 1, side], 0),
        face("z", [1, side, side], 0),
        face("x without edges", [inside, inside, 1], 1),
        face("y without edges", [inside, 1, inside], 1),
        face("z without edges", [1, inside, inside], 1),
        face("x, two thick", [side, side, 2], 0),
    ];
    if side < 100 {
        all.push(face("inside", [inside; 3], 1));
    }
    all
}

fn transposes() -> Vec<Layout> {
    let column = |side: u64, element: &Type| {
        let column = Type::vector(side, 1, side.cast_signed(), element)?;
        Type::resized(&column, 0, element.extent())
    };
    let matrix = |side: u64, element: &Type| Type::contiguous(side, &column(side, element)?);
    let complex = Type::contiguous(2, &f64());
    vec![
        Layout::one("300² f64", matrix(300, &f64())),
        Layout::one("1024² f64", matrix(1024, &f64())),
        Layout::one("512² 2f64", complex.and_then(|complex| matrix(512, &complex))),
        Layout {
            parameters: "column of 1024² f64 × 1024".into(),
            count: 1024,
            ty: column(1024, &f64()),
        },
    ]
}

fn contiguous(length: u64) -> Layout {
    Layout::one(format!("{length} f64"), Type::contiguous(length, &f64()))
}

pub(crate) fn measure(bench: &mut Bench) -> Result<()> {
    for class in Class::ALL {
        let layouts = if bench.quick { 1 } else { usize::MAX };
        for layout in class.layouts().into_iter().take(layouts) {
            let name = format!("{} {}", class.name(), layout.parameters);
            if bench.wants(Group::Classes.key(), &name) {
                one(bench, class, layout).with_context(|| name)?;
            }
        }
    }
    Ok(())
}

fn one(bench: &mut Bench, class: Class, layout: Layout) -> Result<()> {
    let mut stream = Stream::new(&layout.ty?, layout.count)?;
    stream.compare()?;
    stream.compare_libraries(bench)?;
    for &(work, peers) in class.works() {
        let here = match peers {
            Work::Pack => Contestant::here(who::DTYPE, |stream: &mut Stream| {
                done(stream.pack_whole());
            }),
            Work::Unpack => Contestant::here(who::DTYPE, |stream: &mut Stream| {
                done(stream.unpack_whole());
            }),
            Work::PackFragments => Contestant::here(who::DTYPE, |stream: &mut Stream| {
                done(stream.pack_by(FRAGMENT));
            }),
            _ => Contestant::here(who::DTYPE, |stream: &mut Stream| {
                done(stream.unpack_by(FRAGMENT));
            }),
        };
        let mut contestants = vec![here];
        contestants.extend(bench.libraries(peers));
        let columns = bench.turns(&mut stream, contestants)?;
        bench.rows.push(Row {
            group: Group::Classes,
            family: class.name().into(),
            parameters: layout.parameters.clone(),
            work: work.into(),
            bytes: stream.bytes(),
            columns,
        });
    }
    Ok(())
}
