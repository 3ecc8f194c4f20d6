//! Code under strict lints. The modules are public, because some lints look at public items only.

pub mod fields_are_read;
pub mod lints_forbidden;
pub mod remote;
pub mod shadowed_values;
pub mod strict;
