//! Type maps written out pair by pair. Every function goes through all pairs. The model shares with the crate only the names
//! and the sizes of the basic datatypes.

use dtype_runtime::types::{Distribution, Order, Pair, UcpField};
use dtype_runtime::{Basic, Error, Type};

/// A datatype as the tree of calls that makes it.
#[derive(Clone, Debug)]
pub enum Tree {
    Basic(Basic),
    LbMarker,
    UbMarker,
    Pair(Pair),
    /// A pair type without a name in MPI.
    ValueIndex(Basic, Basic),
    F90Real(Option<u32>, Option<u32>),
    F90Complex(Option<u32>, Option<u32>),
    F90Integer(u32),
    Contiguous(u64, Box<Tree>),
    Vector(u64, u64, i64, Box<Tree>),
    Hvector(u64, u64, i64, Box<Tree>),
    Structure(Vec<(u64, i64, Tree)>),
    Resized(Box<Tree>, i64, i64),
    Dup(Box<Tree>),
    Indexed(Vec<(u64, i64)>, Box<Tree>),
    Hindexed(Vec<(u64, i64)>, Box<Tree>),
    IndexedBlock(u64, Vec<i64>, Box<Tree>),
    HindexedBlock(u64, Vec<i64>, Box<Tree>),
    /// The size, subsize and start of each dimension.
    Subarray(Vec<(u64, u64, u64)>, Order, Box<Tree>),
    /// The size, distribution and processes of each dimension, and the coordinates of the process.
    Darray(Vec<(u64, Distribution, u64)>, Vec<u64>, Order, Box<Tree>),
    /// The displacement, extent and type of each field, and the number of repetitions.
    Ucp(Vec<(i64, i64, Tree)>, u64),
}

/// One value, and an index at the next displacement that its alignment allows.
fn pair((value, index): (Basic, Basic)) -> Map {
    let mut at = value.size();
    while at % index.align() != 0 {
        at += 1;
    }
    Map { data: vec![(value, 0), (index, at as i64)], ..Map::default() }
}

/// The real and the complex type of a precision and a range.
fn real(precision: Option<u32>, range: Option<u32>) -> (Basic, Basic) {
    match (precision.unwrap_or(0), range.unwrap_or(0)) {
        (0..=3, 0..=4) => (Basic::F16, Basic::Complex4),
        (0..=6, 0..=37) => (Basic::F32, Basic::C32),
        (0..=15, 0..=307) => (Basic::F64, Basic::C64),
        (0..=18, _) => (Basic::LongDouble, Basic::LongDoubleComplex),
        _ => (Basic::Real16, Basic::Complex32),
    }
}

fn integer(range: u32) -> Basic {
    match range {
        0..=2 => Basic::I8,
        3..=4 => Basic::I16,
        5..=9 => Basic::I32,
        10..=18 => Basic::I64,
        _ => Basic::I128,
    }
}

/// Whether process `coordinate` of a dimension owns element `index`.
fn owns(
    size: u64,
    distribution: Distribution,
    processes: u64,
    coordinate: u64,
    index: u64,
) -> bool {
    match distribution {
        Distribution::None => true,
        Distribution::Block(length) => {
            index / length.unwrap_or(size.div_ceil(processes)) == coordinate
        }
        Distribution::Cyclic(length) => index / length.unwrap_or(1) % processes == coordinate,
    }
}

/// The map of the elements of an array whose indices satisfy `wanted`, in the order of memory, with the bounds of the whole
/// array.
fn elements(sizes: &[u64], order: Order, old: &Map, wanted: impl Fn(usize, u64) -> bool) -> Map {
    let total: u64 = sizes.iter().product();
    let fastest_first: Vec<usize> = match order {
        Order::C => (0..sizes.len()).rev().collect(),
        Order::Fortran => (0..sizes.len()).collect(),
    };
    let mut map = Map::default();
    for position in 0..total {
        let mut rest = position;
        let mut all = true;
        for &dimension in &fastest_first {
            all &= wanted(dimension, rest % sizes[dimension]);
            rest /= sizes[dimension];
        }
        if all {
            map.add(old, position as i64 * old.extent());
        }
    }
    Map { lbs: vec![0], ubs: vec![total as i64 * old.extent()], ..map }
}

/// A type map, with its markers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map {
    pub data: Vec<(Basic, i64)>,
    lbs: Vec<i64>,
    ubs: Vec<i64>,
}

impl Map {
    fn add(&mut self, other: &Self, displacement: i64) {
        self.data.extend(other.data.iter().map(|&(basic, at)| (basic, at + displacement)));
        self.lbs.extend(other.lbs.iter().map(|at| at + displacement));
        self.ubs.extend(other.ubs.iter().map(|at| at + displacement));
    }

    fn blocks(starts: impl IntoIterator<Item = i64>, length: u64, old: &Self) -> Self {
        let mut map = Self::default();
        let extent = old.extent();
        for start in starts {
            for i in 0..length as i64 {
                map.add(old, start + i * extent);
            }
        }
        map
    }

    pub fn size(&self) -> usize {
        self.data.iter().map(|(basic, _)| basic.size()).sum()
    }

    pub fn align(&self) -> i64 {
        self.data.iter().map(|(basic, _)| basic.align() as i64).max().unwrap_or(1)
    }

    pub fn true_lb(&self) -> i64 {
        self.data.iter().map(|&(_, at)| at).min().unwrap_or(0)
    }

    pub fn true_ub(&self) -> i64 {
        self.data.iter().map(|&(basic, at)| at + basic.size() as i64).max().unwrap_or(0)
    }

    pub fn lb(&self) -> i64 {
        match self.lbs.iter().min() {
            Some(&lb) => lb,
            None if self.data.is_empty() => self.ubs.iter().max().copied().unwrap_or(0),
            None => self.true_lb(),
        }
    }

    pub fn ub(&self) -> i64 {
        match self.ubs.iter().max() {
            Some(&ub) => ub,
            None if self.data.is_empty() => self.lb(),
            None => {
                let mut ub = self.true_ub();
                while (ub - self.lb()) % self.align() != 0 {
                    ub += 1;
                }
                ub
            }
        }
    }

    pub fn extent(&self) -> i64 {
        self.ub() - self.lb()
    }

    /// The displacement of every byte of the packed stream of `count` instances.
    pub fn bytes(&self, count: usize) -> Vec<i64> {
        let mut bytes = Vec::new();
        let extent = self.extent();
        for i in 0..count as i64 {
            for &(basic, at) in &self.data {
                bytes.extend((0..basic.size() as i64).map(|byte| i * extent + at + byte));
            }
        }
        bytes
    }
}

/// Whether any byte is named twice.
pub fn has_duplicates(bytes: &[i64]) -> bool {
    let mut sorted = bytes.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}

impl Tree {
    pub fn map(&self) -> Map {
        match self {
            Self::Basic(basic) => Map { data: vec![(*basic, 0)], ..Map::default() },
            Self::Pair(named) => pair(named.parts()),
            Self::ValueIndex(value, index) => pair((*value, *index)),
            Self::F90Real(p, r) => Self::Basic(real(*p, *r).0).map(),
            Self::F90Complex(p, r) => Self::Basic(real(*p, *r).1).map(),
            Self::F90Integer(r) => Self::Basic(integer(*r)).map(),
            Self::LbMarker => Map { lbs: vec![0], ..Map::default() },
            Self::UbMarker => Map { ubs: vec![0], ..Map::default() },
            Self::Contiguous(count, old) => Map::blocks([0], *count, &old.map()),
            Self::Vector(count, length, stride, old) => {
                let old = old.map();
                let starts = (0..*count as i64).map(|i| i * stride * old.extent());
                Map::blocks(starts, *length, &old)
            }
            Self::Hvector(count, length, stride, old) => {
                Map::blocks((0..*count as i64).map(|i| i * stride), *length, &old.map())
            }
            Self::Structure(members) => {
                let mut map = Map::default();
                for (length, displacement, old) in members {
                    map.add(&Map::blocks([0], *length, &old.map()), *displacement);
                }
                map
            }
            Self::Dup(old) => old.map(),
            Self::Indexed(blocks, old) => {
                let old = old.map();
                let mut map = Map::default();
                for (length, displacement) in blocks {
                    map.add(&Map::blocks([0], *length, &old), displacement * old.extent());
                }
                map
            }
            Self::Hindexed(blocks, old) => {
                let mut map = Map::default();
                for (length, displacement) in blocks {
                    map.add(&Map::blocks([0], *length, &old.map()), *displacement);
                }
                map
            }
            Self::IndexedBlock(length, displacements, old) => {
                let old = old.map();
                let starts = displacements.iter().map(|place| place * old.extent());
                Map::blocks(starts, *length, &old)
            }
            Self::HindexedBlock(length, displacements, old) => {
                Map::blocks(displacements.iter().copied(), *length, &old.map())
            }
            Self::Subarray(dimensions, order, old) => {
                let sizes: Vec<u64> = dimensions.iter().map(|dimension| dimension.0).collect();
                elements(&sizes, *order, &old.map(), |i, index| {
                    let (_, subsize, start) = dimensions[i];
                    (start..start + subsize).contains(&index)
                })
            }
            Self::Darray(dimensions, coordinates, order, old) => {
                let sizes: Vec<u64> = dimensions.iter().map(|dimension| dimension.0).collect();
                elements(&sizes, *order, &old.map(), |i, index| {
                    let (size, distribution, processes) = dimensions[i];
                    owns(size, distribution, processes, coordinates[i], index)
                })
            }
            Self::Resized(old, lb, extent) => {
                Map { lbs: vec![*lb], ubs: vec![lb + extent], ..old.map() }
            }
            Self::Ucp(fields, repeat) => {
                let mut map = Map::default();
                for repetition in 0..*repeat as i64 {
                    for (displacement, extent, old) in fields {
                        map.add(&old.map(), displacement + repetition * extent);
                    }
                }
                map
            }
        }
    }

    pub fn build(&self) -> Result<Type, Error> {
        match self {
            Self::Basic(basic) => Ok(Type::basic(*basic)),
            Self::Pair(named) => Ok(Type::pair(*named)),
            Self::ValueIndex(value, index) => {
                Type::value_index(&Type::basic(*value), &Type::basic(*index))
            }
            Self::F90Real(p, r) => Type::f90_real(*p, *r),
            Self::F90Complex(p, r) => Type::f90_complex(*p, *r),
            Self::F90Integer(r) => Type::f90_integer(*r),
            Self::LbMarker => Ok(Type::lb_marker()),
            Self::UbMarker => Ok(Type::ub_marker()),
            Self::Contiguous(count, old) => Type::contiguous(*count, &old.build()?),
            Self::Vector(count, length, stride, old) => {
                Type::vector(*count, *length, *stride, &old.build()?)
            }
            Self::Hvector(count, length, stride, old) => {
                Type::hvector(*count, *length, *stride, &old.build()?)
            }
            Self::Structure(members) => {
                let types: Result<Vec<Type>, Error> =
                    members.iter().map(|(_, _, old)| old.build()).collect();
                let lengths: Vec<u64> = members.iter().map(|member| member.0).collect();
                let displacements: Vec<i64> = members.iter().map(|member| member.1).collect();
                Type::structure(&lengths, &displacements, &types?)
            }
            Self::Dup(old) => Type::dup(&old.build()?),
            Self::Indexed(blocks, old) => {
                let (lengths, displacements): (Vec<u64>, Vec<i64>) = blocks.iter().copied().unzip();
                Type::indexed(&lengths, &displacements, &old.build()?)
            }
            Self::Hindexed(blocks, old) => {
                let (lengths, displacements): (Vec<u64>, Vec<i64>) = blocks.iter().copied().unzip();
                Type::hindexed(&lengths, &displacements, &old.build()?)
            }
            Self::IndexedBlock(length, displacements, old) => {
                Type::indexed_block(*length, displacements, &old.build()?)
            }
            Self::HindexedBlock(length, displacements, old) => {
                Type::hindexed_block(*length, displacements, &old.build()?)
            }
            Self::Subarray(dimensions, order, old) => {
                let sizes: Vec<u64> = dimensions.iter().map(|dimension| dimension.0).collect();
                let subsizes: Vec<u64> = dimensions.iter().map(|dimension| dimension.1).collect();
                let starts: Vec<u64> = dimensions.iter().map(|dimension| dimension.2).collect();
                Type::subarray(&sizes, &subsizes, &starts, *order, &old.build()?)
            }
            Self::Darray(dimensions, coordinates, order, old) => {
                let sizes: Vec<u64> = dimensions.iter().map(|dimension| dimension.0).collect();
                let distributions: Vec<Distribution> =
                    dimensions.iter().map(|dimension| dimension.1).collect();
                let grid: Vec<u64> = dimensions.iter().map(|dimension| dimension.2).collect();
                let processes = grid.iter().product();
                let rank = grid.iter().zip(coordinates).fold(0, |rank, (n, at)| rank * n + at);
                let old = old.build()?;
                Type::darray(processes, rank, &sizes, &distributions, &grid, *order, &old)
            }
            Self::Resized(old, lb, extent) => Type::resized(&old.build()?, *lb, *extent),
            Self::Ucp(fields, repeat) => {
                let field = |(displacement, extent, old): &(i64, i64, Self)| {
                    let ty = old.build()?;
                    Ok(UcpField { displacement: *displacement, extent: *extent, ty })
                };
                let fields: Result<Vec<UcpField>, Error> = fields.iter().map(field).collect();
                Type::ucp_struct(&fields?, *repeat)
            }
        }
    }
}
