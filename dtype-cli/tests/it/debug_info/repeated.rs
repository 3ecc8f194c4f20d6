//! Files that repeat what they can name: sections, tables, units, attributes and names. Reading one takes memory and work in
//! proportion to its length.

use std::ops::Range;
use std::process::Stdio;

use dtype_cli::debug_info::{DebugInfo, Error};
use dtype_stored::Exceeded;
use gimli::{DwAt, DwForm, DwTag, constants as dw};

use super::{Command, Folder};

/// Kinds of sections, and the flag of a compressed one.
const PROGBITS: u32 = 1;
const RELA: u32 = 4;
const COMPRESSED: u64 = 0x800;

/// The header of a section.
#[derive(Clone)]
struct Section {
    /// Where its name starts among the names.
    name: usize,
    kind: u32,
    flags: u64,
    /// Its bytes in the data of the file, which other sections may have as well.
    bytes: Range<usize>,
    /// The number of the section that a table of relocations is for.
    info: usize,
}

/// An object file for x86-64.
#[derive(Default)]
struct Object {
    data: Vec<u8>,
    names: Vec<u8>,
    sections: Vec<Section>,
}

impl Object {
    /// An object that describes types.
    fn new(abbreviations: &[u8], info: &[u8]) -> Self {
        let mut object = Self::default();
        object.names.push(0);
        object.add(".debug_abbrev", &[abbreviations, &[0]].concat());
        object.add(".debug_info", info);
        object
    }

    /// Adds a section. Returns its header.
    fn add(&mut self, name: &str, bytes: &[u8]) -> &mut Section {
        let (place, start) = (self.names.len(), self.data.len());
        self.names.extend([name.as_bytes(), b"\0"].concat());
        self.data.extend(bytes);
        let bytes = start..self.data.len();
        self.sections.push(Section { name: place, kind: PROGBITS, flags: 0, bytes, info: 0 });
        self.sections.last_mut().unwrap()
    }

    /// The file: headers of sections, names, and the data.
    fn bytes(&self) -> Vec<u8> {
        let number = self.sections.len() + 2;
        let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x01\0\x3e\0\x01\0\0\0".to_vec();
        file.extend([0_u64, 0, 64].iter().flat_map(|field| field.to_le_bytes()));
        let rest = [0, 0, 64, 0, 0, 64, number, number - 1];
        file.extend(rest.iter().flat_map(|field| u16::try_from(*field).unwrap().to_le_bytes()));
        let (names, data) = (64 + 64 * number, 64 + 64 * number + self.names.len());
        let mut header = |section: &Section, start: usize| {
            let word = |number: usize| u32::try_from(number).unwrap().to_le_bytes();
            file.extend([word(section.name), section.kind.to_le_bytes()].concat());
            let (offset, len) = (section.bytes.start + start, section.bytes.len());
            let fields = [section.flags, 0, offset as u64, len as u64];
            file.extend(fields.iter().flat_map(|field| field.to_le_bytes()));
            file.extend([word(0), word(section.info)].concat());
            let entry = if section.kind == RELA { 24_u64 } else { 0 };
            file.extend([1, entry].iter().flat_map(|field| field.to_le_bytes()));
        };
        header(&Section { name: 0, kind: 0, flags: 0, bytes: 0..0, info: 0 }, 0);
        self.sections.iter().for_each(|section| header(section, data));
        header(&Section { name: 0, kind: 3, flags: 0, bytes: 0..self.names.len(), info: 0 }, names);
        [file, self.names.clone(), self.data.clone()].concat()
    }
}

/// A number of any length, seven bits in each byte.
fn number(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 0x7f {
        bytes.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    bytes.push(value.to_le_bytes()[0]);
    bytes
}

/// An abbreviation for an entry with these attributes.
fn abbreviation(code: u64, tag: DwTag, children: bool, attributes: &[(DwAt, DwForm)]) -> Vec<u8> {
    let mut bytes = [number(code), number(tag.0.into()), vec![children.into()]].concat();
    for (name, form) in attributes.iter().chain([&(DwAt(0), DwForm(0))]) {
        bytes.extend([number(name.0.into()), number(form.0.into())].concat());
    }
    bytes
}

/// A unit whose table of abbreviations is at an offset.
fn unit(table: usize, entries: &[u8]) -> Vec<u8> {
    let head = [&[4, 0][..], &u32::try_from(table).unwrap().to_le_bytes(), &[8]].concat();
    let len = u32::try_from(head.len() + entries.len()).unwrap();
    [&len.to_le_bytes()[..], &head, entries].concat()
}

const NAME: (DwAt, DwForm) = (dw::DW_AT_name, dw::DW_FORM_string);
const LONG_NAME: (DwAt, DwForm) = (dw::DW_AT_name, dw::DW_FORM_strp);
const SIZE: (DwAt, DwForm) = (dw::DW_AT_byte_size, dw::DW_FORM_data1);
const TYPE: (DwAt, DwForm) = (dw::DW_AT_type, dw::DW_FORM_ref4);

/// Abbreviations of a unit and of a struct with a name and a size, with or without members.
fn plain() -> Vec<u8> {
    [
        abbreviation(1, dw::DW_TAG_compile_unit, true, &[]),
        abbreviation(2, dw::DW_TAG_structure_type, true, &[NAME, SIZE]),
        abbreviation(3, dw::DW_TAG_structure_type, false, &[NAME, SIZE]),
    ]
    .concat()
}

/// The entries of a unit with a struct `S`.
const STRUCT: &[u8] = b"\x01\x03S\0\x04\0";

/// A compressed section of zeros: its header, and a block with the fixed codes of deflate.
fn zeros(len: usize) -> Vec<u8> {
    let code = |bits: &[u8]| bits.iter().map(|bit| *bit == 1).collect::<Vec<bool>>();
    // The last block, with fixed codes; a zero; its copies, each 258 bytes from one byte before; the end.
    let copies = code(&[1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0]).repeat(len / 258);
    let bits = [code(&[1, 1, 0]), code(&[0, 0, 1, 1, 0, 0, 0, 0]), copies, code(&[0; 7])].concat();
    let byte = |bits: &[bool]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | u8::from(*bit));
    let block: Vec<u8> = bits.chunks(8).map(byte).collect();
    let len = len / 258 * 258 + 1;
    let sum = u32::try_from(len % 65521).unwrap() << 16 | 1;
    let header = [1_u64, len as u64, 1].map(u64::to_le_bytes).concat();
    [&header[..], &[0x78, 0x9c], &block, &sum.to_be_bytes()].concat()
}

/// Reads a file as a whole and for one type. The command has 640 MiB for it.
#[track_caller]
fn read(file: &[u8]) -> Result<u64, Error> {
    let result = DebugInfo::read(file).and_then(|info| {
        let all = info.types();
        assert!(all.is_ok() || matches!(all, Err(Error::Exceeded(_))), "{all:?}");
        info.find("S").map(|found| found.ty.extent().cast_unsigned())
    });
    let folder = Folder::new();
    let path = folder.file("file.o", file);
    for name in ["", ":S"] {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -v 655360; exec \"$0\" \"$1\"", env!("CARGO_BIN_EXE_dtype")]);
        command.arg(format!("{}{name}", path.display()));
        let output = command.stdout(Stdio::null()).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        let is_said = message.contains("reading it takes more than") || message.contains("no data");
        assert!(output.status.code() == Some(0) || is_said, "{}: {message}", output.status);
    }
    result
}

#[track_caller]
fn takes_memory(file: &[u8]) {
    let result = read(file);
    assert!(matches!(result, Err(Error::Exceeded(Exceeded::Bytes { .. }))), "{result:?}");
}

#[track_caller]
fn takes_work(file: &[u8]) {
    let result = read(file);
    assert!(matches!(result, Err(Error::Exceeded(Exceeded::Steps { .. }))), "{result:?}");
}

#[test]
fn headers_of_one_section() {
    let mut object = Object::new(&plain(), &unit(0, STRUCT));
    let strings = object.add(".debug_str", &vec![b'x'; 1 << 20]).clone();
    assert_eq!(read(&object.bytes()).unwrap(), 4);
    object.sections.extend(vec![strings; 8000]);
    takes_memory(&object.bytes());
}

/// Each is another part of the file.
#[test]
fn headers_of_sections_that_overlap() {
    let mut object = Object::new(&plain(), &unit(0, STRUCT));
    let strings = object.add(".debug_str", &vec![b'x'; 1 << 20]).clone();
    object.sections.extend((1..8000).map(|start| {
        let bytes = strings.bytes.start + start..strings.bytes.end;
        Section { bytes, ..strings.clone() }
    }));
    takes_memory(&object.bytes());
}

#[test]
fn headers_of_one_compressed_section() {
    let mut object = Object::new(&plain(), &unit(0, STRUCT));
    let strings = object.add(".debug_str", &zeros(16 << 20));
    strings.flags = COMPRESSED;
    let strings = strings.clone();
    assert_eq!(read(&object.bytes()).unwrap(), 4);
    object.sections.extend(vec![strings; 100]);
    takes_memory(&object.bytes());
}

#[test]
fn members_of_an_archive_with_compressed_sections() {
    let mut object = Object::new(&plain(), &unit(0, STRUCT));
    object.add(".debug_str", &zeros(16 << 20)).flags = COMPRESSED;
    let object = object.bytes();
    let member = |number: usize| {
        let name = format!("{number}.o/");
        let header = format!("{name:<16}0           0     0     644     {:<10}`\n", object.len());
        let end = if object.len() % 2 == 1 { &b"\n"[..] } else { b"" };
        [header.as_bytes(), &object, end].concat()
    };
    let archive = |members| [b"!<arch>\n".to_vec(), (0..members).flat_map(member).collect()];
    assert_eq!(read(&archive(1).concat()).unwrap(), 4);
    takes_memory(&archive(100).concat());
}

#[test]
fn names_of_sections_in_one_long_text() {
    let mut object = Object::new(&plain(), &unit(0, STRUCT));
    let start = object.names.len();
    object.names.extend(vec![b'x'; 1 << 20]);
    let name = |name| Section { name, kind: PROGBITS, flags: 0, bytes: 0..0, info: 0 };
    object.sections.extend((0..60_000).map(|number| name(start + 17 * number)));
    assert_eq!(read(&object.bytes()).unwrap(), 4);
    // With an end, each is read.
    for end in (start..object.names.len()).step_by(4000) {
        object.names[end] = 0;
    }
    assert_eq!(read(&object.bytes()).unwrap(), 4);
}

/// A table of relocations for each of many sections.
#[test]
fn sections_that_share_relocations() {
    let file = |sections: usize, relocations: usize| {
        let mut object = Object::new(&plain(), &unit(0, STRUCT));
        let table = object.add(".rela.debug_str", &vec![0; 24 * relocations]).clone();
        let strings = object.add(".debug_str", &[b'x'; 8]).clone();
        object.sections.pop();
        for _ in 0..sections {
            object.sections.push(strings.clone());
            let info = object.sections.len();
            object.sections.push(Section { kind: RELA, info, ..table.clone() });
        }
        object.bytes()
    };
    assert_eq!(read(&file(100, 500)).unwrap(), 4);
    // In memory as often as there are tables, though they are one in the file: each is read for itself.
    let result = read(&file(16_000, 50_000));
    assert!(matches!(result, Err(Error::Exceeded(_))), "{result:?}");
}

/// Members of one byte, each with all attributes of its abbreviation.
#[test]
fn attributes_without_bytes() {
    let file = |attributes: u16, tag| {
        let flag = |number: u16| (DwAt(0x2000 + number % 0x1fff), dw::DW_FORM_flag_present);
        let flags: Vec<_> = (0..attributes).map(flag).collect();
        let table = [plain(), abbreviation(4, tag, false, &flags)].concat();
        let entries = [b"\x01\x02S\0\x04", &[4; 12_000][..], &[0, 0]].concat();
        Object::new(&table, &unit(0, &entries)).bytes()
    };
    for tag in [dw::DW_TAG_member, dw::DW_TAG_variable] {
        assert_eq!(read(&file(100, tag)).unwrap(), 4);
        takes_work(&file(20_000, tag));
    }
    // Known ones, of which each entry keeps one.
    let names = vec![(dw::DW_AT_declaration, dw::DW_FORM_flag_present); 200];
    let table = [plain(), abbreviation(4, dw::DW_TAG_variable, false, &names)].concat();
    let entries = [b"\x01\x02S\0\x04", &[4; 12_000][..], &[0, 0]].concat();
    assert_eq!(read(&Object::new(&table, &unit(0, &entries)).bytes()).unwrap(), 4);
}

/// As `ld -r`, `dwz` and link-time optimization write them.
#[test]
fn units_that_share_a_table() {
    let mut table = plain();
    for code in 4..100_000 {
        table.extend(abbreviation(code, dw::DW_TAG_member, false, &[NAME]));
    }
    let info = unit(0, STRUCT).repeat(20_000);
    assert_eq!(read(&Object::new(&table, &info).bytes()).unwrap(), 4);
    // Each starts one entry later.
    let start = plain().len();
    let entry = (table.len() - start) / 99_996;
    let units = (0..20_000).map(|number| unit(start + entry * number, STRUCT));
    let info = [unit(0, STRUCT), units.collect::<Vec<_>>().concat()].concat();
    let result = read(&Object::new(&table, &info).bytes());
    assert!(matches!(result, Err(Error::Exceeded(_))), "{result:?}");
}

/// A struct of members with one long name, each of a type with a long name.
fn long_names(members: usize, tag: DwTag) -> Vec<u8> {
    let table = [
        plain(),
        abbreviation(4, tag, false, &[LONG_NAME, TYPE]),
        abbreviation(5, dw::DW_TAG_base_type, false, &[LONG_NAME, SIZE]),
    ]
    .concat();
    // The base type comes first, after the header of eleven bytes and the unit.
    let some = [4, 0, 0, 0, 0, 12, 0, 0, 0].repeat(members);
    let base = b"\x01\x05\0\0\0\0\x03";
    // Members are inside the struct, and types are beside it.
    let entries = match tag {
        dw::DW_TAG_member => [base, &b"\x02S\0\x04"[..], &some, &[0, 0]].concat(),
        _ => [base, &some[..], b"\x03S\0\x04\0"].concat(),
    };
    let mut object = Object::new(&table, &unit(0, &entries));
    object.add(".debug_str", &[&[b'x'; 16_000][..], &[0]].concat());
    object.bytes()
}

#[test]
fn members_with_one_long_name() {
    assert_eq!(read(&long_names(100, dw::DW_TAG_member)).unwrap(), 4);
    let result = read(&long_names(200_000, dw::DW_TAG_member));
    assert!(matches!(result, Err(Error::Exceeded(_))), "{result:?}");
}

#[test]
fn types_with_one_long_name() {
    takes_memory_as_a_list(&long_names(200_000, dw::DW_TAG_typedef));
}

#[track_caller]
fn takes_memory_as_a_list(file: &[u8]) {
    let _ = read(file);
    let result = DebugInfo::read(file).unwrap().types();
    assert!(matches!(result, Err(Error::Exceeded(_))), "{result:?}");
}

/// Each has the names of all scopes around it.
#[test]
fn scopes_with_one_long_name() {
    let table = [plain(), abbreviation(4, dw::DW_TAG_namespace, true, &[LONG_NAME])].concat();
    let scope = &[4, 0, 0, 0, 0][..];
    let entries =
        [&[1], &scope.repeat(1000)[..], &b"\x03T\0\x04".repeat(1000), &[0; 1001]].concat();
    let entries = [entries, STRUCT[1..].to_vec()].concat();
    let mut object = Object::new(&table, &unit(0, &entries));
    object.add(".debug_str", &[&[b'x'; 16_000][..], &[0]].concat());
    takes_memory_as_a_list(&object.bytes());
}
