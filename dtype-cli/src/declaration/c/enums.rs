//! Enums in C: integers, whose constants can be lengths.

use super::super::layout::{Base, Layout};
use super::super::token::Kind;
use super::constants::Value;
use super::cpp::cpp;
use super::number::{Number, fits};
use super::{Named, Read, Reader, wrong};
use crate::problem::{Problem, quoted};
use dtype_runtime::Basic;

/// The types of enums, the preferred ones first: as small as possible if they are packed.
const PACKED: &[Basic] =
    &[Basic::UnsignedChar, Basic::SignedChar, Basic::UnsignedShort, Basic::Short];
const USUAL: &[Basic] = &[
    Basic::Int,
    Basic::Unsigned,
    Basic::UnsignedLong,
    Basic::Long,
    Basic::UnsignedLongLong,
    Basic::LongLong,
];

/// The type of an enum with values between these.
fn integer(least: i128, greatest: i128, is_packed: bool) -> Basic {
    let small: &[Basic] = if is_packed { PACKED } else { &[] };
    let mut all = small.iter().chain(USUAL);
    all.find(|basic| fits(**basic, least, greatest)).copied().unwrap_or(Basic::LongLong)
}

/// The constants of an enum.
#[derive(Default)]
struct Constants<'s> {
    all: Vec<(&'s str, i128)>,
    /// Why a value is unknown.
    problem: Option<Box<Problem>>,
    /// A condition among them: some may not be there, and later ones may be less than they seem.
    condition: Option<Box<Problem>>,
}

impl Constants<'_> {
    /// The type of the enum.
    fn base(&self, is_packed: bool) -> Base {
        if let Some(problem) = &self.problem {
            return wrong(problem.as_ref().clone());
        }
        let values = || self.all.iter().map(|(_, value)| *value);
        let (least, greatest) = (values().min().unwrap_or(0), values().max().unwrap_or(0));
        let basic = integer(least, greatest, is_packed);
        if let Some(problem) = &self.condition {
            let count = i128::try_from(self.all.len()).unwrap_or(i128::MAX);
            if is_packed || integer(least, greatest.saturating_add(count), false) != basic {
                return wrong(problem.as_ref().clone());
            }
        }
        Base::Known(Layout::basic(basic))
    }
}

impl<'s> Reader<'s, '_> {
    pub(super) fn enum_specifier(&mut self, is_typedef: bool) -> Read<Named<'s>> {
        let start = self.cursor.index();
        self.cursor.next();
        let mut attributes = self.attributes()?;
        let [first, scoped] = [0, 1].map(|number| self.cursor.peek_after(number));
        if matches!(first.text, "class" | "struct") && scoped.kind == Kind::Word {
            let problem =
                cpp(&format!("`enum {}`", first.text), first.span(), "leave this word out");
            self.cpp_name(scoped, &problem);
            return Err(Box::new(problem));
        }
        let name = (self.cursor.peek().kind == Kind::Word).then(|| self.cursor.next());
        // `enum E : unsigned char`
        let fixed = match self.cursor.take(":") {
            Some(_) => Some(self.specifiers()?.base),
            None => None,
        };
        if !self.cursor.peek().is("{") {
            let Some(name) = name else { return Err(self.cursor.unexpected("a name or `{`")) };
            return Ok(match (self.tags.get(name.text), fixed) {
                (Some(known), _) => known.clone(),
                (None, Some(base)) => Named::of(base, name.span()),
                (None, None) => Named::later("enum", name),
            });
        }
        let mut constants = match self.braces(|reader| reader.constants(start))? {
            Ok(constants) => constants,
            Err(problem) => Constants { problem: Some(Box::new(problem)), ..Constants::default() },
        };
        attributes.join(self.attributes_of_type()?);
        if constants.condition.is_none() {
            constants.condition = self.condition(start).map(Box::new);
        }
        let mut base = fixed.unwrap_or_else(|| constants.base(attributes.is_packed));
        let in_attributes = attributes.problem.map(|problem| *problem);
        if let Some(problem) = in_attributes.or_else(|| self.macro_after_body(is_typedef)) {
            base = wrong(problem);
        }
        if let Base::Known(layout) = &base
            && let Some(dtype_runtime::types::Named::Basic(basic)) = layout.ty.named()
        {
            for (name, value) in constants.all {
                if let Some(Ok(known)) = self.constants.get_mut(name)
                    && known.value == value
                {
                    *known = Number::constant(value, basic);
                }
            }
        }
        let span = name.map_or(self.cursor.last().span(), |name| name.span());
        let mut named = Named::of(base, span);
        if let Some(name) = name {
            if self.tags.contains_key(name.text) {
                let problem = twice(&format!("enum {}", name.text), name.span());
                named.base = wrong(problem);
            }
            self.tags.insert(name.text, named.clone());
        }
        Ok(named)
    }

    /// The constants up to the closing brace, of an enum that starts at the token with this number.
    fn constants(&mut self, start: usize) -> Read<Constants<'s>> {
        let open = self.cursor.last();
        let mut found = Constants::default();
        let mut value: Value = Ok(Number::int(0));
        while self.cursor.peek().kind == Kind::Word {
            let constant = self.cursor.next();
            if found.condition.is_none() {
                found.condition = self.condition(start).map(Box::new);
            }
            self.attributes()?;
            if self.cursor.take("=").is_some() {
                value = self.nested(open, Self::constant);
            }
            match &value {
                Ok(number) => found.all.push((constant.text, number.value)),
                Err(problem) if found.problem.is_none() => found.problem = Some(problem.clone()),
                Err(_) => {}
            }
            let kept = match &found.condition {
                Some(problem) => Err(problem.clone()),
                None => value.clone(),
            };
            self.keep_constant(constant.text, constant.span(), kept);
            value = value.and_then(|number| {
                let next = number.value + 1;
                if fits(Basic::UnsignedLongLong, 0, next.max(0)) {
                    return Ok(Number::constant(next, Basic::LongLong));
                }
                let message = "the constant after this one does not fit any type";
                Err(Box::new(Problem::new(message, constant.span(), "")))
            });
            if self.cursor.take(",").is_none() {
                break;
            }
        }
        if self.cursor.take("}").is_none() {
            return Err(self.cursor.unexpected("`,` or `}`"));
        }
        Ok(found)
    }

    fn keep_constant(&mut self, name: &'s str, span: std::ops::Range<usize>, value: Value) {
        let value = match (self.constants.get(name), value) {
            (None, value) => value,
            (Some(Ok(before)), Ok(value)) if *before == value => Ok(value),
            _ => Err(Box::new(twice(name, span))),
        };
        self.constants.insert(name, value);
    }
}

/// The mistake of a name that is declared again.
pub(super) fn twice(name: &str, span: std::ops::Range<usize>) -> Problem {
    Problem::new(format!("{} is declared twice", quoted(name)), span, "again")
        .help("all branches of `#if` are read: remove the one that does not apply")
}
