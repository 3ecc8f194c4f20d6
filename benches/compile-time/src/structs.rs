//! The structs: a mixture that is typical of programs that send records.

use dtype_benches::noise::Random;

/// How deeply the structs nest. Data in which each level has a name are rarely deeper.
const MAX_DEPTH: u32 = 3;

/// A struct or an enum, as source code.
#[derive(Clone, Debug)]
pub(crate) struct Struct {
    pub(crate) number: u32,
    /// The item, without a derive.
    pub(crate) definition: String,
    /// The type, with an argument for its parameter if it has one.
    pub(crate) instance: String,
    depth: u32,
}

/// Makes `count` items, the same in every run.
pub(crate) fn all(count: u32) -> Vec<Struct> {
    let mut random = Random::new(17);
    let mut structs = Vec::new();
    for number in 0..count {
        let next = Writer { random: &mut random, before: &structs, depth: 0 }.item(number);
        structs.push(next);
    }
    structs
}

/// Writes one item.
struct Writer<'a> {
    random: &'a mut Random,
    before: &'a [Struct],
    /// How deeply the fields written so far nest.
    depth: u32,
}

impl Writer<'_> {
    fn item(mut self, number: u32) -> Struct {
        let fields = 3 + self.random.below(10);
        let (definition, parameter) = match self.random.below(100) {
            0..10 => {
                let variants: String =
                    (0..fields).map(|variant| format!("    State{variant},\n")).collect();
                (format!("#[repr(u8)]\npub enum Record{number} {{\n{variants}}}"), None)
            }
            10..22 => {
                let fields: String =
                    (0..fields).map(|_| format!("    pub {},\n", self.field())).collect();
                (format!("pub struct Record{number}(\n{fields});"), None)
            }
            22..30 => {
                let fields = self.named(fields - 2);
                let definition = format!(
                    "pub struct Record{number}<T> {{\n    pub value: T,\n    pub bounds: [T; 2],\n{fields}}}"
                );
                (definition, Some(self.scalar()))
            }
            _ => {
                let fields = self.named(fields);
                (format!("pub struct Record{number} {{\n{fields}}}"), None)
            }
        };
        let arguments = parameter.map(|parameter| format!("<{parameter}>")).unwrap_or_default();
        let instance = format!("Record{number}{arguments}");
        Struct { number, definition, instance, depth: self.depth + 1 }
    }

    fn named(&mut self, count: u32) -> String {
        (0..count).map(|field| format!("    pub field_{field}: {},\n", self.field())).collect()
    }

    /// A field's type.
    fn field(&mut self) -> String {
        match self.random.below(100) {
            0..14 => {
                let length = [2, 3, 3, 4, 6, 8, 9, 16][self.random.below(8) as usize];
                format!("[{}; {length}]", self.scalar())
            }
            14..18 => format!("({}, {})", self.scalar(), self.scalar()),
            18..32 => self.nested().unwrap_or_else(|| self.scalar().into()),
            32..34 => match self.nested() {
                Some(nested) => format!("[{nested}; 4]"),
                None => self.scalar().into(),
            },
            _ => self.scalar().into(),
        }
    }

    fn nested(&mut self) -> Option<String> {
        let count = u32::try_from(self.before.len()).ok().filter(|&count| count > 0)?;
        let nested = &self.before[self.random.below(count) as usize];
        if nested.depth >= MAX_DEPTH {
            return None;
        }
        self.depth = self.depth.max(nested.depth);
        Some(nested.instance.clone())
    }

    fn scalar(&mut self) -> &'static str {
        let scalars = [
            "u8", "u8", "u16", "u32", "u32", "u32", "u64", "u64", "i8", "i16", "i32", "i32", "i64",
            "f32", "f32", "f32", "f64", "f64", "f64", "f64", "bool", "bool", "char", "usize",
        ];
        scalars[self.random.below(24) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_there() {
        let structs = all(500);
        let count = |has: fn(&Struct) -> bool| structs.iter().filter(|each| has(each)).count();
        assert!(count(|each| each.definition.contains("enum")) > 25);
        assert!(count(|each| each.definition.ends_with(");")) > 25);
        assert!(count(|each| each.instance.ends_with('>')) > 25);
        assert!(count(|each| each.definition.contains(": [")) > 100);
        assert!(count(|each| each.definition.contains(": (")) > 50);
        assert!(count(|each| each.depth == MAX_DEPTH) > 50);
    }

    #[test]
    fn structs_are_the_same_in_every_run() {
        let definitions = || all(50).into_iter().map(|each| each.definition).collect::<Vec<_>>();
        assert_eq!(definitions(), definitions());
    }
}
