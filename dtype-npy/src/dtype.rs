//! NumPy dtypes: as a header has them, and as a Rust type needs them.

use core::fmt;

use crate::options::{NumpyLayout, NumpyOptions};
use crate::repr::{Quoted, Tuple};
use crate::unit::DateUnit;
use dtype_runtime::Basic;
use dtype_runtime::representation::ByteOrder;
use dtype_runtime::typemap::{Meaning, Node, TypeMap};

/// A NumPy dtype.
///
/// Its `Display` is the form in which NumPy writes it to files, `dtype.descr`: `[('id', '<u4'), ('', '|V4')]`. It lists the
/// fields in the order of memory. It cannot express fields that overlap, or names that are empty or repeated:
/// [`Header::to_bytes`](crate::Header::to_bytes) refuses these. Titles, which NumPy's fields may have besides their names, are
/// not kept.
///
/// ```
/// use dtype_runtime::Datatype;
/// use dtype_npy::{Dtype, NumpyOptions};
/// use dtype_runtime::representation::ByteOrder;
///
/// #[derive(Datatype)]
/// #[repr(C)]
/// struct Particle {
///     charge: i8,
///     position: [f32; 3],
/// }
///
/// let packed = Dtype::of::<Particle>(&NumpyOptions::packed().with_order(ByteOrder::Little));
/// assert_eq!(packed.to_string(), "[('charge', '|i1'), ('position', '<f4', (3,))]");
/// let memory = Dtype::of::<Particle>(&NumpyOptions::memory().with_order(ByteOrder::Little));
/// assert_eq!(memory.to_string(), "[('charge', '|i1'), ('', '|V3'), ('position', '<f4', (3,))]");
/// ```
#[derive(Clone, Debug)]
pub struct Dtype {
    kind: Kind,
    itemsize: u64,
    /// The basic datatype of a scalar, or of an array's elements, as a Rust type has it.
    basic: Option<Basic>,
    align: u64,
}

/// Names in C are not compared, as in NumPy: `intc` equals `i4`.
impl PartialEq for Dtype {
    fn eq(&self, other: &Self) -> bool {
        (&self.kind, self.itemsize) == (&other.kind, other.itemsize)
    }
}

impl Eq for Dtype {}

/// The form of a [`Dtype`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// One value.
    Scalar {
        /// NumPy's letter: `b` truth value, `i` and `u` integers, `f` float, `c` complex, `S` bytes, `U` text, `V` raw
        /// bytes, `m` and `M` spans and points of time, `O` Python object.
        letter: char,
        /// The byte order; `None` for kinds without one: single bytes, strings of bytes and raw bytes.
        order: Option<ByteOrder>,
        /// The unit of a span or point of time; `None` for a generic one, and for other kinds.
        unit: Option<DateUnit>,
    },
    /// An array of a fixed shape in each item.
    Array {
        /// Elements along each axis, the outermost first. There is at least one axis.
        lengths: Vec<u64>,
        /// The element, which is not an array.
        element: Box<Dtype>,
    },
    /// A structure.
    Structure {
        /// In the order of the dtype, which need not be that of the offsets.
        fields: Vec<DtypeField>,
    },
}

/// A field of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DtypeField {
    /// The name.
    pub name: String,
    /// Bytes from the start of the item.
    pub offset: u64,
    /// The field's own dtype.
    pub dtype: Dtype,
}

impl Dtype {
    /// The size in bytes of the largest item: that of the largest object in Rust and NumPy on a machine of 64 bits.
    pub(crate) const MAX_BYTES: u64 = i64::MAX as u64;

    /// One value of `itemsize` bytes. `letter` is that of [`Kind::Scalar`]. The order is ignored for kinds without one.
    ///
    /// `None` if NumPy has no such value: another letter, a number of 3 bytes, text of 5; or if `itemsize` exceeds
    /// `i64::MAX`.
    pub fn scalar(letter: char, itemsize: u64, order: ByteOrder) -> Option<Self> {
        // Long doubles have 12 or 16 bytes, and a character of a text has 4.
        let is_known = match letter {
            'b' => itemsize == 1,
            'i' | 'u' => matches!(itemsize, 1 | 2 | 4 | 8),
            'f' => matches!(itemsize, 2 | 4 | 8 | 12 | 16),
            'c' => matches!(itemsize, 8 | 16 | 24 | 32),
            'm' | 'M' | 'O' => itemsize == 8,
            'U' => itemsize.is_multiple_of(4),
            'S' | 'V' => true,
            _ => false,
        };
        let has_order = match letter {
            'i' | 'u' | 'f' | 'c' | 'm' | 'M' => itemsize > 1,
            'U' => true,
            _ => false,
        };
        let kind = Kind::Scalar { letter, order: has_order.then_some(order), unit: None };
        let basic = basic(letter, itemsize);
        let align = basic.map_or(1, |basic| basic.align() as u64);
        (is_known && itemsize <= Self::MAX_BYTES).then_some(Self { kind, itemsize, basic, align })
    }

    /// Sets the unit of a span or point of time. The unit has no effect on other kinds.
    ///
    /// ```
    /// use dtype_npy::{DateUnit, Dtype};
    /// use dtype_runtime::representation::ByteOrder;
    ///
    /// let date = Dtype::scalar('M', 8, ByteOrder::Little).unwrap();
    /// assert_eq!(date.with_unit(DateUnit::new("ns").unwrap()).to_string(), "'<M8[ns]'");
    /// ```
    #[must_use]
    pub fn with_unit(mut self, new: DateUnit) -> Self {
        if let Kind::Scalar { letter: 'm' | 'M', unit, .. } = &mut self.kind {
            *unit = Some(new);
        }
        self
    }

    /// An array in each item. An array of arrays becomes one array with the axes of both. (NumPy keeps two nested dtypes, but
    /// its arrays have the same axes.) Without axes, it is the element.
    ///
    /// `None` if it has more than `i64::MAX` bytes.
    pub fn array(lengths: &[u64], element: Self) -> Option<Self> {
        if lengths.is_empty() {
            return Some(element);
        }
        let itemsize = lengths.iter().try_fold(element.itemsize, |size, n| size.checked_mul(*n));
        let itemsize = itemsize.filter(|size| *size <= Self::MAX_BYTES)?;
        let align = element.align;
        let (lengths, element) = match element.kind {
            Kind::Array { lengths: inner, element } => ([lengths, &inner].concat(), element),
            kind => (lengths.to_vec(), Box::new(Self { kind, ..element })),
        };
        Some(Self { kind: Kind::Array { lengths, element }, itemsize, basic: None, align })
    }

    /// A structure. Fields may overlap and have any names, but a dtype with overlapping fields, or with empty or repeated
    /// names, cannot be written to a file.
    ///
    /// `None` if a field ends after `itemsize`, or `itemsize` exceeds `i64::MAX`.
    pub fn structure(fields: Vec<DtypeField>, itemsize: u64) -> Option<Self> {
        let is_inside = |field: &DtypeField| {
            field.offset.checked_add(field.dtype.itemsize).is_some_and(|end| end <= itemsize)
        };
        let is_whole = fields.iter().all(is_inside) && itemsize <= Self::MAX_BYTES;
        is_whole.then_some(Self {
            kind: Kind::Structure { fields },
            itemsize,
            basic: None,
            align: 1,
        })
    }

    /// The same dtype with fields that are aligned as C aligns them.
    pub(crate) fn with_align(self, align: u64) -> Self {
        Self { align, ..self }
    }

    /// The dtype of a Rust type. Fields without data and skipped fields are not in it.
    ///
    /// Truth values are `b1`, a `char` is `U1`, an enum is its integer. Values for which NumPy has no number are raw
    /// bytes, `V`: 128-bit integers, `bf16`.
    pub fn of<T: dtype_runtime::Datatype>(options: &NumpyOptions) -> Self {
        Self::of_map(T::TYPE_MAP, *options)
    }

    pub(crate) fn of_map(map: &TypeMap, options: NumpyOptions) -> Self {
        let is_packed = options.layout == NumpyLayout::Packed;
        match *map.node() {
            Node::Basic { .. } => Self::of_leaf(map, options.order),
            Node::Array { count, element } => {
                let element = Self::of_map(element, options);
                // The size fits: no type in memory is larger than the largest object.
                Self::array(&[count as u64], element.clone()).unwrap_or(element)
            }
            Node::Structure { .. } if options.text_of(map).is_some() => {
                let (letter, itemsize) = options.text_of(map).unwrap_or(('S', 0));
                let text = Self::scalar(letter, itemsize, options.order);
                // The size fits: even four times the bytes of a text in memory are no more than the largest object.
                text.unwrap_or_else(|| Self::of_basic(Basic::Byte, options.order))
            }
            Node::Structure { fields: all, .. } => {
                let (mut fields, mut position) = (Vec::new(), 0);
                for field in all {
                    if let Some(map) = field.map().filter(|map| map.size() > 0) {
                        let dtype = Self::of_map(map, options);
                        let offset = if is_packed { position } else { field.offset() as u64 };
                        position += dtype.itemsize;
                        fields.push(DtypeField { name: field.name().to_string(), offset, dtype });
                    }
                }
                let itemsize = if is_packed { position } else { map.stride() as u64 };
                Self { kind: Kind::Structure { fields }, itemsize, basic: None, align: 1 }
            }
        }
    }

    /// The dtype of a leaf.
    pub(crate) fn of_leaf(leaf: &TypeMap, order: ByteOrder) -> Self {
        let (letter, unit) = match leaf.meaning() {
            Some(Meaning::Time(unit)) => ('M', unit),
            Some(Meaning::Span(unit)) => ('m', unit),
            _ => {
                let basic = match *leaf.node() {
                    Node::Basic { basic, .. } => basic,
                    _ => Basic::Byte,
                };
                return Self::of_basic(basic, order);
            }
        };
        let time = Self::of_letter(letter, Basic::I64, order);
        DateUnit::new(unit.symbol()).map_or(time.clone(), |unit| time.with_unit(unit))
    }

    /// The dtype of a basic datatype.
    pub(crate) fn of_basic(basic: Basic, order: ByteOrder) -> Self {
        Self::of_letter(basic.numpy_kind(), basic, order)
    }

    /// The dtype that NumPy has for a type of C, with this machine's `long double`.
    pub(crate) fn of_c(basic: Basic, order: ByteOrder) -> Self {
        let letter = match (basic.numpy_kind(), basic.kind()) {
            ('V', dtype_runtime::basic::Kind::Float) => 'f',
            ('V', dtype_runtime::basic::Kind::Complex) => 'c',
            (letter, _) => letter,
        };
        Self::of_letter(letter, basic, order)
    }

    fn of_letter(letter: char, basic: Basic, order: ByteOrder) -> Self {
        let (itemsize, align) = (basic.size() as u64, basic.align() as u64);
        let kind = match Self::scalar(letter, itemsize, order) {
            Some(scalar) => scalar.kind,
            None => Kind::Scalar { letter, order: None, unit: None },
        };
        Self { kind, itemsize, basic: Some(basic), align }
    }

    /// The form.
    pub const fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Bytes of one item.
    pub const fn itemsize(&self) -> u64 {
        self.itemsize
    }

    /// The basic datatype of a scalar, or of the characters and bytes of `S`, `U` and `V`. `None` for an array, a structure, a
    /// Python object, and for a number that only another machine has.
    ///
    /// ```
    /// use dtype_npy::Dtype;
    /// use dtype_runtime::Basic;
    /// assert_eq!(Dtype::parse("intc")?.basic(), Some(Basic::Int));
    /// assert_eq!(Dtype::parse("'S10'")?.basic(), Some(Basic::CChar));
    /// # Ok::<(), dtype_npy::GrammarError>(())
    /// ```
    pub const fn basic(&self) -> Option<Basic> {
        self.basic
    }

    /// The alignment in bytes. For a scalar it is that of the scalar; for a structure it is 1, unless its fields are aligned as
    /// in C.
    pub const fn align(&self) -> u64 {
        self.align
    }

    /// The axes, and the element that they repeat: the dtype itself if there are none.
    pub fn axes(&self) -> (&[u64], &Self) {
        match &self.kind {
            Kind::Array { lengths, element } => (lengths, element),
            _ => (&[], self),
        }
    }

    /// The format of a scalar, `<f8`; a few words for other kinds.
    pub(crate) fn format(&self) -> String {
        match &self.kind {
            Kind::Scalar { letter, order, unit } => {
                let number = if *letter == 'U' { self.itemsize / 4 } else { self.itemsize };
                let sign = match order {
                    None => '|',
                    Some(ByteOrder::Little) => '<',
                    Some(ByteOrder::Big) => '>',
                };
                match (letter, unit) {
                    ('O', _) => "|O".to_string(),
                    (_, Some(unit)) => format!("{sign}{letter}{number}[{unit}]"),
                    _ => format!("{sign}{letter}{number}"),
                }
            }
            Kind::Array { element, .. } => format!("an array of {}", element.format()),
            Kind::Structure { .. } => "a structure".to_string(),
        }
    }

    /// The argument of `np.dtype`, in which each field has its offset.
    pub(crate) fn expression(&self) -> String {
        match &self.kind {
            Kind::Scalar { letter: 'b', .. } => "'?'".to_string(),
            Kind::Scalar { .. } => format!("'{}'", self.format().trim_start_matches('|')),
            Kind::Array { lengths, element } => {
                format!("({}, {})", element.expression(), Tuple(lengths))
            }
            Kind::Structure { fields } => {
                let list = |text: fn(&DtypeField) -> String| {
                    fields.iter().map(text).collect::<Vec<_>>().join(", ")
                };
                format!(
                    "{{'names': [{}], 'formats': [{}], 'offsets': [{}], 'itemsize': {}}}",
                    list(|field| Quoted(&field.name).to_string()),
                    list(|field| field.dtype.expression()),
                    list(|field| field.offset.to_string()),
                    self.itemsize
                )
            }
        }
    }
}

/// The basic datatype that a scalar holds, or is made of.
fn basic(letter: char, itemsize: u64) -> Option<Basic> {
    Some(match (letter, itemsize) {
        ('b', 1) => Basic::Bool,
        ('i', 1) => Basic::I8,
        ('i', 2) => Basic::I16,
        ('i', 4) => Basic::I32,
        ('i' | 'M' | 'm', 8) => Basic::I64,
        ('u', 1) => Basic::U8,
        ('u', 2) => Basic::U16,
        ('u', 4) => Basic::U32,
        ('u', 8) => Basic::U64,
        ('f', 2) => Basic::F16,
        ('f', 4) => Basic::F32,
        ('f', 8) => Basic::F64,
        ('f', size) if size == Basic::LongDouble.size() as u64 => Basic::LongDouble,
        ('c', 8) => Basic::C32,
        ('c', 16) => Basic::C64,
        ('c', size) if size == Basic::LongDoubleComplex.size() as u64 => Basic::LongDoubleComplex,
        ('S', _) => Basic::CChar,
        ('U', _) => Basic::Char,
        ('V', _) => Basic::Byte,
        _ => return None,
    })
}

/// The fields in the order of memory. A field without bytes comes before a field at the same offset.
pub(crate) fn in_order(fields: &[DtypeField]) -> Vec<&DtypeField> {
    let mut all: Vec<&DtypeField> = fields.iter().collect();
    all.sort_by_key(|field| (field.offset, field.dtype.itemsize));
    all
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Scalar { .. } => write!(f, "'{}'", self.format()),
            Kind::Array { lengths, element } => write!(f, "({element}, {})", Tuple(lengths)),
            Kind::Structure { fields } => {
                // NumPy's form has no offsets, so gaps are fields of raw bytes without a name.
                let (mut position, mut comma) = (0, "");
                f.write_str("[")?;
                for field in in_order(fields) {
                    if field.offset > position {
                        write!(f, "{comma}('', '|V{}')", field.offset - position)?;
                        comma = ", ";
                    }
                    let (lengths, element) = field.dtype.axes();
                    write!(f, "{comma}({}, {element}", Quoted(&field.name))?;
                    if !lengths.is_empty() {
                        write!(f, ", {}", Tuple(lengths))?;
                    }
                    f.write_str(")")?;
                    comma = ", ";
                    // In a structure, no field ends after the item.
                    position = position.max(field.offset + field.dtype.itemsize);
                }
                if self.itemsize > position {
                    write!(f, "{comma}('', '|V{}')", self.itemsize - position)?;
                }
                f.write_str("]")
            }
        }
    }
}
