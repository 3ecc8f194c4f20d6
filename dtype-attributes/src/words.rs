//! The words of `#[dtype(…)]`, and the message for a misplaced or unknown word.

use std::fmt;

use proc_macro2::Ident;

use crate::Place;

/// A word with a value: its spelling, and an example of the value.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) form: &'static str,
    value: &'static str,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.form, self.value)
    }
}

/// The words of a struct or an enum.
pub(super) const LB: Shape =
    Shape { form: "lb = <displacement in bytes>", value: "a constant expression of type `i64`" };
pub(super) const UB: Shape = Shape { form: "ub = <displacement in bytes>", ..LB };
pub(super) const RESIZE: Shape = Shape {
    form: "resize(lb = <bytes>, extent = <bytes>)",
    value: "both values are constant expressions of type `i64`",
};
pub(super) const RESIZE_LB: Shape = Shape { form: "lb = <bytes>", ..LB };
pub(super) const RESIZE_EXTENT: Shape = Shape { form: "extent = <bytes>", ..LB };
pub(super) const REMOTE: Shape = Shape {
    form: "remote = path::to::Type",
    value: "the path of the foreign struct or enum, without quotes",
};
pub(super) const CRATE: Shape = Shape {
    form: "crate = path::to::dtype_runtime",
    value: "the path of the crate `dtype_runtime`, without quotes",
};
pub(super) const MESSAGE_CRATE: Shape = Shape {
    form: "crate = path::to::dtype_message",
    value: "the path of the crate `dtype_message`, without quotes",
};
pub(super) const BOUND: Shape = Shape {
    form: "bound = \"T: Trait\"",
    value: "a string of where predicates, separated by commas",
};
pub(super) const CHECK: Shape = Shape {
    form: "check = path::to::function",
    value: "the path of a function from `&Self` to `bool` or `Result`, without quotes",
};
pub(super) const NAME: Shape =
    Shape { form: "name = \"Name\"", value: "the name as a string, in quotes" };
/// The words of a field.
pub(super) const WITH: Shape = Shape {
    form: "with = path::to::Description",
    value: "the path of a type that implements `Describes` for the field's type, without quotes",
};
/// The word of a field and of a variant.
pub(super) const RENAME: Shape = Shape {
    form: "rename = \"name\"",
    value: "the name as a string, in quotes, not empty and without the character NUL",
};
/// The words of a message.
pub(super) const TAG: Shape =
    Shape { form: "tag = <number>", value: "a number from 0 to 4294967295, without quotes" };
pub(super) const MAX_PAYLOAD_BYTES: Shape = Shape {
    form: "max_payload_bytes = <bytes>",
    value: "a constant expression of type `u64`, without quotes",
};
pub(super) const MAX_RECORDS: Shape = Shape { form: "max_records = <number>", ..MAX_PAYLOAD_BYTES };
pub(super) const MAX_TEXT_BYTES: Shape =
    Shape { form: "max_text_bytes = <bytes>", ..MAX_PAYLOAD_BYTES };

const ON_STRUCT: &[&str] =
    &[BOUND.form, CHECK.form, CRATE.form, LB.form, NAME.form, REMOTE.form, RESIZE.form, UB.form];
const ON_ENUM: &[&str] = &[BOUND.form, CRATE.form, NAME.form, REMOTE.form];
const ON_FIELD: &[&str] = &["default", "lb", RENAME.form, "skip", "ub", WITH.form];
const ON_VARIANT: &[&str] = &[RENAME.form];
const ON_MESSAGES: &[&str] = &[MESSAGE_CRATE.form];
const ON_MESSAGE: &[&str] =
    &[MAX_PAYLOAD_BYTES.form, MAX_RECORDS.form, MAX_TEXT_BYTES.form, TAG.form];

/// An example of an attribute at `place`, for the error about tokens that are not a word.
pub(super) fn example(place: Place) -> &'static str {
    match place {
        Place::Struct => "a word such as `name` or `resize`",
        Place::Enum => "a word such as `name`",
        Place::Field => "a word such as `skip` or `with`",
        Place::Variant => "the word `rename`",
        Place::Messages => "the word `crate`",
        Place::Message => "a word such as `tag`",
    }
}

/// The message for `word` at `place`, where it has no meaning.
pub(super) fn misplaced(word: &Ident, place: Place) -> syn::Error {
    let here = match place {
        Place::Struct => "a struct",
        Place::Enum => "an enum",
        Place::Field => "a field",
        Place::Messages => "an enum of messages",
        Place::Variant | Place::Message => "a variant",
    };
    let name = word.to_string();
    let message = match (name.as_str(), place) {
        ("lb" | "ub" | "resize", Place::Enum) => format!(
            "an enum has the bounds of its integer: to set others, wrap the enum in a struct and \
             put `{name}` there"
        ),
        ("default" | "skip" | "with", Place::Struct | Place::Enum) => {
            format!("`{name}` belongs on a field, not on {here}")
        }
        ("check", Place::Enum) => {
            "an enum needs no `check`: only the values of its variants are accepted".to_owned()
        }
        ("rename", Place::Struct | Place::Enum) => {
            format!(
                "`rename` belongs on a field or a variant: the name of the type is `{}`",
                NAME.form
            )
        }
        ("name", Place::Field | Place::Variant) => {
            format!("`name` belongs on the type: the name of {here} is `{}`", RENAME.form)
        }
        ("bound" | "check" | "crate" | "remote" | "resize", Place::Field) => {
            format!("`{name}` belongs on the struct, not on {here}")
        }
        ("skip", Place::Variant) => {
            "every variant is a legal value of the enum, and none can be left out".to_owned()
        }
        ("tag" | "max_payload_bytes" | "max_records" | "max_text_bytes", Place::Messages) => {
            format!("`{name}` belongs on a variant, not on the enum")
        }
        ("crate", Place::Message) => "`crate` belongs on the enum, not on a variant".to_owned(),
        ("extent", Place::Struct) => format!("`extent` belongs inside `{}`", RESIZE.form),
        (_, Place::Variant | Place::Messages) => {
            format!("unknown word `{name}`; on {here}, the only word is {}", list(place))
        }
        _ => format!("unknown word `{name}`; on {here}, the words are {}", list(place)),
    };
    syn::Error::new_spanned(word, message)
}

fn list(place: Place) -> String {
    let words = match place {
        Place::Struct => ON_STRUCT,
        Place::Enum => ON_ENUM,
        Place::Field => ON_FIELD,
        Place::Variant => ON_VARIANT,
        Place::Messages => ON_MESSAGES,
        Place::Message => ON_MESSAGE,
    };
    let quoted: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    quoted.join(", ")
}
