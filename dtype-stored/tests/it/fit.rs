//! A format of this test's own, whose items become records, and a format that contradicts itself.

use dtype_runtime::representation::ByteOrder;
use dtype_runtime::typemap::{Node, TypeMap};
use dtype_runtime::{Datatype, Error, FixedStr};
use dtype_stored::{
    Access, Fit, Item, Misfit, Number, NumberKind, ReadOptions, Scratch, StoredField, Text,
    TextEnd, Value, ValueError,
};

/// A datatype, and the size that the format claims for it.
#[derive(Clone)]
struct Stored(Form, u64);

#[derive(Clone)]
enum Form {
    Number(NumberKind),
    Text(Text),
    Array(Vec<u64>, Box<Stored>),
    Structure(Fields),
}

fn member<'a>((name, offset, item): &'a (&'static str, u64, Stored)) -> StoredField<'a, Stored> {
    StoredField { name, offset: *offset, item }
}

/// The name, the offset and the datatype of each field.
type Fields = Vec<(&'static str, u64, Stored)>;

impl Item for Stored {
    type Error = Misfit;

    const STRUCTURE: &'static str = "a structure";

    fn size(&self) -> u64 {
        self.1
    }

    fn axes(&self) -> (Vec<u64>, &Self) {
        match &self.0 {
            Form::Array(lengths, element) => (lengths.clone(), element),
            _ => (Vec::new(), self),
        }
    }

    fn fields(&self) -> Option<Vec<StoredField<'_, Self>>> {
        let Form::Structure(fields) = &self.0 else { return None };
        Some(fields.iter().map(member).collect())
    }

    fn value(&self, leaf: &TypeMap, _: &str, _: Access) -> Result<Option<Value>, Misfit> {
        let (Some(number), Node::Basic { basic, .. }) = (self.number(leaf), *leaf.node()) else {
            return Ok(None);
        };
        let is_same = Number::of(basic, ByteOrder::Big) == Some(number);
        Ok(is_same.then_some(Value { order: Some(ByteOrder::Big), renumbered: None }))
    }

    fn text(&self) -> Option<Text> {
        match self.0 {
            Form::Text(text) => Some(text),
            _ => None,
        }
    }

    fn number(&self, _: &TypeMap) -> Option<Number> {
        let Form::Number(kind) = self.0 else { return None };
        let size = usize::try_from(self.1).unwrap();
        Some(Number { kind, size, order: ByteOrder::Big, time: None })
    }

    fn describe(&self) -> String {
        format!("{} bytes", self.1)
    }

    fn expected(leaf: &TypeMap) -> String {
        leaf.to_string()
    }
}

#[derive(Datatype, Clone, Debug, PartialEq)]
struct Record {
    id: u64,
    names: [FixedStr<4>; 2],
    small: i16,
}

fn number(kind: NumberKind, size: u64) -> Stored {
    Stored(Form::Number(kind), size)
}

fn bytes(size: usize, end: TextEnd) -> Stored {
    Stored(Form::Text(Text::Bytes { size, end }), size as u64)
}

fn array(lengths: &[u64], element: Stored) -> Stored {
    let size = lengths.iter().product::<u64>() * element.1;
    Stored(Form::Array(lengths.to_vec(), Box::new(element)), size)
}

/// An item with `small` at 0, a further field at 2, `names` at 3, and `id` in four bytes at 13.
fn item(end: TextEnd) -> Stored {
    let fields = vec![
        ("small", 0, number(NumberKind::Signed, 2)),
        ("more", 2, number(NumberKind::Unsigned, 1)),
        ("names", 3, array(&[2], bytes(5, end))),
        ("id", 13, number(NumberKind::Unsigned, 4)),
    ];
    Stored(Form::Structure(fields), 18)
}

const ALL: ReadOptions = ReadOptions::strict().with_other_fields().with_number_conversion();

#[test]
fn items_become_records() {
    for (end, stored) in [
        (TextEnd::Zeros, *b"\xff\xfe?a\0\0\0\0b c\0\0\0\0\x01\x00?"),
        (TextEnd::FirstZero, *b"\xff\xfe?a\0xyzb c\0x\0\0\x01\x00?"),
        (TextEnd::Blanks, *b"\xff\xfe?a    b c  \0\0\x01\x00?"),
    ] {
        let fit = Fit::<Record>::new(&item(end), Access::Read, ALL).unwrap();
        assert_eq!(
            (fit.left_out(), fit.is_packed(), fit.item_size()),
            (&["more".to_owned()][..], false, 18)
        );
        assert_eq!(fit.first_converted(), Some("id"));
        let mut records = Vec::new();
        let items = [stored, stored].concat();
        fit.unpack_onto(&items, 0..2, &mut Scratch::default(), &mut records).unwrap();
        let names = ["a".parse().unwrap(), "b c".parse().unwrap()];
        let expected = Record { id: 256, names, small: -2 };
        assert_eq!(records, [expected.clone(), expected]);
        let wrong = fit.unpack_onto(&items, 0..1, &mut Scratch::default(), &mut records);
        let length = Error::PackedLength { expected: 18, actual: 36 };
        assert_eq!(wrong, Err(ValueError::Record(length)));
        // The same items, without the fields that the records lack.
        let mut again = Vec::new();
        fit.pack_into(&records, &mut Scratch::default(), &mut again).unwrap();
        let mut back = Vec::new();
        fit.unpack_onto(&again, 0..2, &mut Scratch::default(), &mut back).unwrap();
        assert_eq!(back, records);
        assert_eq!((again[2], again[17]), (0, 0));
    }
}

#[test]
fn an_error_has_the_record_and_the_field() {
    let fit = Fit::<Record>::new(&item(TextEnd::Zeros), Access::Read, ALL).unwrap();
    let mut items = vec![0; 3 * 18];
    items[18 + 3 + 5..][..5].copy_from_slice(b"five!");
    let mut records = vec![Record { id: 0, names: [FixedStr::EMPTY; 2], small: 0 }];
    let error = fit.unpack_onto(&items, 1..4, &mut Scratch::default(), &mut records).unwrap_err();
    // The second item has the number 2.
    assert_eq!(
        error.to_string(),
        "record 2, field names[1]: not a valid text: its length is 5, and the capacity 4"
    );
    assert_eq!(records.len(), 1);
    let too_large = [Record { id: 1 << 32, ..records[0].clone() }];
    let error = fit.pack_into(&too_large, &mut Scratch::default(), &mut items).unwrap_err();
    assert_eq!(
        error.to_string(),
        "record 0, field id: not a valid u64: 4294967296 is not one of its numbers"
    );
}

/// The fields are copied at once if they are the whole item, and gathered before if there are others.
#[test]
fn fields_in_any_order_beside_one_that_is_missing() {
    #[derive(Datatype, Clone, Debug, PartialEq)]
    struct Pair {
        x: u8,
        y: u16,
    }
    #[derive(Datatype, Clone, Debug, PartialEq)]
    struct Whole {
        a: u16,
        pairs: [Pair; 2],
        #[dtype(default)]
        missing: u32,
        b: u32,
    }
    let pair = |x, y| Pair { x, y };
    let expected: Vec<_> = (0..1000)
        .map(|b| Whole { a: 0x0102, pairs: [pair(3, 0x0405), pair(6, 0x0708)], missing: 0, b })
        .collect();
    let unsigned = |size| number(NumberKind::Unsigned, size);
    for (is_turned, order, gap) in [
        (false, [0, 1, 2], 0),
        (false, [2, 1, 0], 0),
        (true, [1, 2, 0], 0),
        (true, [0, 2, 1], 3),
        (false, [1, 0, 2], 1),
    ] {
        let (x, y) = if is_turned { (2, 0) } else { (0, 1) };
        let pair = Stored(Form::Structure(vec![("x", x, unsigned(1)), ("y", y, unsigned(2))]), 3);
        let pairs = if is_turned { [4, 5, 3, 7, 8, 6] } else { [3, 4, 5, 6, 7, 8] };
        let all = [("a", unsigned(2)), ("pairs", array(&[2], pair)), ("b", unsigned(4))];
        let (mut fields, mut size) = (Vec::new(), 0);
        for (name, stored) in order.map(|field: usize| all[field].clone()) {
            fields.push((name, size, stored.clone()));
            size += stored.1;
        }
        let mut items = Vec::new();
        for b in 0..1000_u32 {
            let values: [&[u8]; 3] = [&[1, 2], &pairs, &b.to_be_bytes()];
            items.extend(order.map(|field| values[field]).concat());
            items.extend(vec![0xff; gap]);
        }
        let item = Stored(Form::Structure(fields), size + gap as u64);
        let options = ReadOptions::strict().with_defaults();
        let fit = Fit::<Whole>::new(&item, Access::Read, options).unwrap();
        let mut records = Vec::new();
        fit.unpack_onto(&items, 0..1000, &mut Scratch::default(), &mut records).unwrap();
        assert_eq!(records, expected);
    }
}

/// A value that extends beyond an item, or beyond the array around it, is not read.
#[test]
fn a_format_that_contradicts_itself_is_refused() {
    let malformed = |change: &dyn Fn(&mut Fields, &mut u64)| {
        let Stored(Form::Structure(mut fields), mut size) = item(TextEnd::Zeros) else { panic!() };
        change(&mut fields, &mut size);
        let item = Stored(Form::Structure(fields), size);
        let fit = Fit::<Record>::new(&item, Access::Read, ALL);
        assert!(matches!(fit, Err(Misfit::Malformed { .. })), "{fit:?}");
    };
    malformed(&|_, size| *size = 16);
    malformed(&|_, size| *size = u64::MAX);
    malformed(&|fields, _| fields[3].1 = 15);
    malformed(&|fields, _| fields[3].1 = u64::MAX);
    malformed(&|fields, _| fields[3].2 = number(NumberKind::Signed, 0));
    malformed(&|fields, size| {
        fields[3].2 = number(NumberKind::Signed, 9);
        *size = 100;
    });
    malformed(&|fields, _| fields[2].2.1 = 9);
    malformed(&|fields, size| {
        let text = Text::Bytes { size: 6, end: TextEnd::Zeros };
        fields[2].2 = array(&[2], Stored(Form::Text(text), 5));
        *size = 100;
    });
    malformed(&|fields, size| {
        let text = Text::Characters { length: usize::MAX, order: ByteOrder::Big };
        fields[2].2 = array(&[2], Stored(Form::Text(text), 4));
        *size = 100;
    });
    malformed(&|fields, _| fields[2].2 = array(&[2], Stored(Form::Text(Text::Index), 4)));
}
