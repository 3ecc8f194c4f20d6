//! The subjects of the comparison: the same structs with different derives and calls.

use crate::structs::Struct;

/// One of this many structs is sent and received. Calls for every struct would take minutes to compile.
pub(crate) const ONE_CALLED_OF: u32 = 5;

/// One of the crates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// The structs without derives: the baseline of the structs with derives.
    Plain,
    /// With `#[derive(Datatype)]`.
    Datatype,
    /// With both of serde's derives.
    Serde,
    /// An empty crate: the baseline of the crates with calls.
    Nothing,
    /// Calls of `pack` and `unpack`, for structs of `Datatype`.
    Packing,
    /// Calls of bincode's functions, for structs of `Serde`.
    Bincode,
}

impl Subject {
    /// Dependencies come before the crates that use them.
    pub(crate) const ALL: [Self; 6] =
        [Self::Plain, Self::Datatype, Self::Serde, Self::Nothing, Self::Packing, Self::Bincode];

    /// The crate's name. No dependency may have the same name.
    pub(crate) const fn package(self) -> &'static str {
        match self {
            Self::Plain => "structs-plain",
            Self::Datatype => "structs-datatype",
            Self::Serde => "structs-serde",
            Self::Nothing => "calls-nothing",
            Self::Packing => "calls-packing",
            Self::Bincode => "calls-bincode",
        }
    }

    /// The lines of `[dependencies]`, where the runtime is at `runtime`.
    pub(crate) fn dependencies(self, runtime: &str) -> String {
        let runtime = format!("dtype-runtime = {{ path = {runtime:?} }}\n");
        // With the features that bincode requests; otherwise the structs would be compiled once more for bincode.
        let serde = "serde = { version = \"1\", features = [\"alloc\", \"derive\"] }\n";
        let bincode = "bincode = { version = \"2\", features = [\"serde\"] }\n";
        let path = |name| format!("{name} = {{ path = \"../{name}\" }}\n");
        match self {
            Self::Plain | Self::Nothing => String::new(),
            Self::Datatype => runtime,
            Self::Serde => serde.into(),
            Self::Packing => runtime + &path(Self::Datatype.package()),
            Self::Bincode => bincode.to_owned() + &path(Self::Serde.package()),
        }
    }

    /// The crate's only file.
    pub(crate) fn source(self, structs: &[Struct]) -> String {
        let definitions = |derive: &str| -> String {
            structs.iter().map(|each| format!("{derive}{}\n", each.definition)).collect()
        };
        let calls = |calls: fn(&Struct) -> String| -> String {
            structs.iter().step_by(ONE_CALLED_OF as usize).map(calls).collect()
        };
        match self {
            Self::Plain => definitions(""),
            Self::Datatype => definitions("#[derive(dtype_runtime::Datatype)]\n"),
            Self::Serde => definitions("#[derive(serde::Serialize, serde::Deserialize)]\n"),
            Self::Nothing => String::new(),
            Self::Packing => format!("use structs_datatype::*;\n{}", calls(packing)),
            Self::Bincode => format!("use structs_serde::*;\n{}", calls(bincode)),
        }
    }
}

/// A function that sends a slice of structs, and one that receives a slice.
fn packing(Struct { number, instance, .. }: &Struct) -> String {
    format!(
        "pub fn send_{number}(items: &[{instance}]) -> Vec<u8> {{
    dtype_runtime::pack(items)
}}
pub fn receive_{number}(bytes: &[u8]) -> Result<Vec<{instance}>, dtype_runtime::Error> {{
    dtype_runtime::unpack(bytes)
}}
"
    )
}

fn bincode(Struct { number, instance, .. }: &Struct) -> String {
    format!(
        "pub fn send_{number}(items: &[{instance}]) -> Result<Vec<u8>, bincode::error::EncodeError> {{
    bincode::serde::encode_to_vec(items, bincode::config::legacy())
}}
pub fn receive_{number}(bytes: &[u8]) -> Result<Vec<{instance}>, bincode::error::DecodeError> {{
    bincode::serde::decode_from_slice(bytes, bincode::config::legacy()).map(|(items, _)| items)
}}
"
    )
}
