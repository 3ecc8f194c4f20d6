//! The DWARF sections of the objects in a file.

use std::borrow::Cow;

use gimli::{DwarfFileType, RunTimeEndian};
use object::read::archive::ArchiveFile;
use object::read::{ReadRef, RelocationTarget};
use object::{
    Architecture, BinaryFormat, Endianness, FileKind, Object as _, ObjectKind, ObjectSection as _,
    ObjectSymbol as _, RelocationKind,
};

use super::Error;

/// The greatest ratio between the length of a section and that of its compressed bytes; deflate reaches 1032.
const MAX_COMPRESSION: u64 = 1032;

/// The sections that describe types.
#[derive(Debug)]
pub(super) struct Sections<'a> {
    pub(super) info: Cow<'a, [u8]>,
    /// The type units of DWARF 4.
    pub(super) types: Cow<'a, [u8]>,
    pub(super) abbreviations: Cow<'a, [u8]>,
    pub(super) strings: Cow<'a, [u8]>,
    pub(super) line_strings: Cow<'a, [u8]>,
    pub(super) string_offsets: Cow<'a, [u8]>,
    /// The indices of a package.
    pub(super) unit_index: Cow<'a, [u8]>,
    pub(super) type_index: Cow<'a, [u8]>,
    pub(super) endian: RunTimeEndian,
    /// Whether it is a `.dwo` file.
    pub(super) kind: DwarfFileType,
    /// The name of this member of an archive.
    pub(super) member: Option<String>,
}

/// Whether a file with these first bytes is an object file, an archive or a program.
pub(super) fn is_object<'a, R: ReadRef<'a>>(data: R) -> bool {
    FileKind::parse(data).is_ok() || is_precompiled(data)
}

/// Whether the file is a precompiled header, as GCC and Clang make it from a header alone.
fn is_precompiled<'a, R: ReadRef<'a>>(data: R) -> bool {
    data.read_bytes_at(0, 4).is_ok_and(|start| [&b"gpch"[..], b"CPCH"].contains(&start))
}

/// The sections of the objects in a file: of one, or of each member of an archive.
pub(super) fn read<'a, R: ReadRef<'a>>(data: R) -> Result<Vec<Sections<'a>>, Error> {
    if is_precompiled(data) {
        return Err(Error::Unsupported {
            what: "a precompiled header",
            help: "with `-x c`, or `-x c++`, a compiler makes an object file of a header: \
                   `cc -g -c -x c -fno-eliminate-unused-debug-types FILE.h -o FILE.o`",
        });
    }
    match FileKind::parse(data)? {
        FileKind::Archive => {
            let archive = ArchiveFile::parse(data)?;
            if archive.is_thin() {
                let help = "name the object file that has the type";
                return Err(Error::Unsupported { what: "a thin archive", help });
            }
            let mut all = Vec::new();
            let mut first = None;
            for member in archive.members() {
                let member = member?;
                let name = String::from_utf8_lossy(member.name()).into_owned();
                let data = member.data(data)?;
                // Archives also have members that are not objects, such as the metadata of Rust.
                if !is_object(data) {
                    continue;
                }
                match of_object(data) {
                    Ok(sections) => all.push(Sections { member: Some(name), ..sections }),
                    Err(error) => first = first.or(Some(error)),
                }
            }
            match first {
                Some(error) if all.is_empty() => Err(error),
                _ if all.is_empty() => Err(Error::Stripped),
                _ => Ok(all),
            }
        }
        FileKind::MachOFat32 | FileKind::MachOFat64 => Err(Error::Unsupported {
            what: "a file for several architectures",
            help: "`lipo -thin` writes one for this machine",
        }),
        _ => Ok(vec![of_object(data)?]),
    }
}

fn of_object<'a, R: ReadRef<'a>>(data: R) -> Result<Sections<'a>, Error> {
    let file = object::File::parse(data)?;
    check_architecture(file.architecture())?;
    let is_split = file.section_by_name(".debug_info.dwo").is_some();
    let suffix = if is_split { ".dwo" } else { "" };
    let section = |name: &str| section(&file, &format!("{name}{suffix}"));
    let sections = Sections {
        info: section(".debug_info")?,
        types: section(".debug_types")?,
        abbreviations: section(".debug_abbrev")?,
        strings: section(".debug_str")?,
        line_strings: section(".debug_line_str")?,
        string_offsets: section(".debug_str_offsets")?,
        unit_index: self::section(&file, ".debug_cu_index")?,
        type_index: self::section(&file, ".debug_tu_index")?,
        member: None,
        endian: match file.endianness() {
            Endianness::Little => RunTimeEndian::Little,
            Endianness::Big => RunTimeEndian::Big,
        },
        kind: if is_split { DwarfFileType::Dwo } else { DwarfFileType::Main },
    };
    if !sections.info.is_empty() || !sections.types.is_empty() {
        return Ok(sections);
    }
    Err(match file.gnu_debuglink() {
        Ok(Some((name, _))) => Error::Moved { file: String::from_utf8_lossy(name).into_owned() },
        _ if file.format() == BinaryFormat::MachO && file.kind() != ObjectKind::Relocatable => {
            Error::InObjectFiles
        }
        _ => Error::Stripped,
    })
}

/// Types have the sizes of the machine that the file is for. For an unknown machine, there is no DWARF that could mislead.
fn check_architecture(found: Architecture) -> Result<(), Error> {
    let is_here = match found {
        Architecture::X86_64 => cfg!(all(target_arch = "x86_64", target_pointer_width = "64")),
        Architecture::Aarch64 => cfg!(target_arch = "aarch64"),
        Architecture::I386 => cfg!(target_arch = "x86"),
        Architecture::Arm => cfg!(target_arch = "arm"),
        Architecture::Riscv64 => cfg!(target_arch = "riscv64"),
        Architecture::PowerPc64 => cfg!(target_arch = "powerpc64"),
        Architecture::S390x => cfg!(target_arch = "s390x"),
        Architecture::LoongArch64 => cfg!(target_arch = "loongarch64"),
        other => format!("{other:?}").eq_ignore_ascii_case(std::env::consts::ARCH),
    };
    if is_here { Ok(()) } else { Err(Error::architecture(found)) }
}

/// A section, decompressed and relocated; empty if the file does not have it. Object files have a section for each type unit,
/// all with one name: these are concatenated.
fn section<'a, R: ReadRef<'a>>(
    file: &object::File<'a, R>,
    name: &str,
) -> Result<Cow<'a, [u8]>, Error> {
    let Some(first) = file.section_by_name(name) else { return Ok(Cow::Borrowed(&[])) };
    let mut data = decompressed(&first, name)?;
    if file.kind() != ObjectKind::Relocatable {
        return Ok(data);
    }
    relocate(file, &first, &mut data);
    let own_name = first.name_bytes()?;
    for other in file.sections() {
        if other.index() != first.index() && other.name_bytes() == Ok(own_name) {
            let mut more = decompressed(&other, name)?;
            relocate(file, &other, &mut more);
            data.to_mut().extend_from_slice(&more);
        }
    }
    Ok(data)
}

fn decompressed<'a, R: ReadRef<'a>>(
    section: &object::Section<'a, '_, R>,
    name: &str,
) -> Result<Cow<'a, [u8]>, Error> {
    let compressed = section.compressed_data()?;
    let (length, size) = (compressed.data.len() as u64, compressed.uncompressed_size);
    // The size comes from the file, and would be allocated.
    if size / MAX_COMPRESSION > length {
        let reason = format!("{length} bytes of `{name}` cannot stand for {size}");
        return Err(Error::Damaged { reason });
    }
    Ok(compressed.decompress()?)
}

/// Adds the addresses of symbols to the places that refer to them, as a linker does. In an object file, a section refers to
/// another one in this way.
fn relocate<'a, R: ReadRef<'a>>(
    file: &object::File<'a, R>,
    section: &object::Section<'a, '_, R>,
    data: &mut Cow<'_, [u8]>,
) {
    for (offset, relocation) in section.relocations() {
        if !matches!(relocation.kind(), RelocationKind::Absolute | RelocationKind::SectionOffset) {
            continue;
        }
        let symbol = match relocation.target() {
            RelocationTarget::Symbol(index) => file.symbol_by_index(index).ok(),
            _ => None,
        };
        let width = usize::from(relocation.size() / 8);
        let place = usize::try_from(offset).ok().and_then(|start| {
            let end = start.checked_add(width)?;
            data.get(start..end).map(|_| start..end)
        });
        let Some(place) = place.filter(|_| matches!(width, 4 | 8)) else { continue };
        let address = symbol.map_or(0, |symbol| symbol.address());
        let value = address.wrapping_add_signed(relocation.addend());
        let place = &mut data.to_mut()[place];
        // The byte order decides whether the lowest bytes come first or last.
        let mut bytes = [0; 8];
        let is_little = file.endianness() == Endianness::Little;
        let low = if is_little { 0..width } else { 8 - width..8 };
        if relocation.has_implicit_addend() {
            bytes[low.clone()].copy_from_slice(place);
        }
        let bytes = if is_little {
            u64::from_le_bytes(bytes).wrapping_add(value).to_le_bytes()
        } else {
            u64::from_be_bytes(bytes).wrapping_add(value).to_be_bytes()
        };
        place.copy_from_slice(&bytes[low]);
    }
}
