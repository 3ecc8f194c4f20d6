//! The DWARF sections of the objects in a file.

use std::borrow::Cow;

use dtype_stored::{Budget, Exceeded};
use gimli::{DwarfFileType, EndianSlice, RunTimeEndian};
use object::read::archive::ArchiveFile;
use object::read::{ReadRef, RelocationTarget};
use object::{
    Architecture, BinaryFormat, CompressionFormat, Endianness, FileKind, Object as _, ObjectKind,
    ObjectSection as _, ObjectSymbol as _, RelocationKind,
};

use super::Error;
use super::counted::Counted;

/// The bytes of a section.
pub(super) type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// What the names of these sections start with: uncompressed, compressed by old tools, and in Mach-O.
const PREFIXES: [&str; 4] = [".debug_", ".zdebug_", "__debug_", "__zdebug_"];

/// The greatest length of a section's name in Mach-O. Longer names are cut off.
const MACH_O_NAME: usize = 16;

/// Steps to apply a relocation.
const RELOCATION: usize = 4;

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
    /// The tables of source files.
    pub(super) lines: Cow<'a, [u8]>,
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
    FileKind::parse(data).is_ok() || is_precompiled(data) || is_bitcode(data)
}

/// Whether the file is a precompiled header, as GCC and Clang make it from a header alone.
fn is_precompiled<'a, R: ReadRef<'a>>(data: R) -> bool {
    data.read_bytes_at(0, 4).is_ok_and(|start| [&b"gpch"[..], b"CPCH"].contains(&start))
}

/// Whether the file has the code of LLVM, which it writes in place of an object file for link-time optimization.
fn is_bitcode<'a, R: ReadRef<'a>>(data: R) -> bool {
    data.read_bytes_at(0, 4).is_ok_and(|start| start == b"BC\xC0\xDE")
}

/// The sections of the objects in a file: of one, or of each member of an archive.
pub(super) fn read<'a>(
    data: impl ReadRef<'a>,
    budget: &Budget,
) -> Result<Vec<Sections<'a>>, Error> {
    let read = read_objects(Counted::new(data, budget));
    // Elsewhere, the reason is lost, and the file looks damaged.
    budget.check()?;
    read
}

fn read_objects<'a, R: ReadRef<'a>>(data: Counted<'_, R>) -> Result<Vec<Sections<'a>>, Error> {
    if is_precompiled(data) {
        return Err(Error::Unsupported {
            what: "a precompiled header",
            help: "with `-x c`, or `-x c++`, a compiler makes an object file of a header: \
                   `cc -g -c -x c -fno-eliminate-unused-debug-types FILE.h -o FILE.o`",
        });
    }
    if is_bitcode(data) {
        return Err(bitcode());
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
                let (start, len) = member.file_range();
                let Some(data) = data.part(start, len) else {
                    let reason = "a member of the archive ends after the file".to_owned();
                    return Err(Error::Damaged { reason });
                };
                // Archives also have members that are not objects, such as the metadata of Rust.
                if !is_object(data) {
                    continue;
                }
                let object = if is_bitcode(data) { Err(bitcode()) } else { of_object(data) };
                match object {
                    Ok(sections) => {
                        data.budget().hold(member.name().len())?;
                        let name = String::from_utf8_lossy(member.name()).into_owned();
                        all.push(Sections { member: Some(name), ..sections });
                    }
                    Err(error) => first = first.or(Some(error)),
                }
                data.budget().hold(size_of::<Sections<'_>>())?;
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

fn of_object<'a, R: ReadRef<'a>>(data: Counted<'_, R>) -> Result<Sections<'a>, Error> {
    let file = object::File::parse(data)?;
    check_architecture(file.architecture())?;
    let reader = Reader::new(&file, data.budget())?;
    let is_split = reader.full_name("info.dwo").is_some();
    let suffix = if is_split { ".dwo" } else { "" };
    let section = |name: &str| reader.section(&format!("{name}{suffix}"));
    let sections = Sections {
        info: section("info")?,
        types: section("types")?,
        abbreviations: section("abbrev")?,
        strings: section("str")?,
        line_strings: section("line_str")?,
        string_offsets: section("str_offsets")?,
        lines: section("line")?,
        unit_index: reader.section("cu_index")?,
        type_index: reader.section("tu_index")?,
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
        // Instructions for the linker, and no debug information until it has compiled them.
        _ if file
            .sections()
            .any(|one| one.name_bytes().is_ok_and(|name| name.starts_with(b".gnu.lto_"))) =>
        {
            let help = "compile it with `-ffat-lto-objects`, or name the program or library that it is linked into";
            Error::Unsupported { what: "an object file for link-time optimization alone", help }
        }
        _ => Error::Stripped,
    })
}

/// The error for a file that has the code of LLVM.
fn bitcode() -> Error {
    let help = "compile it without `-flto`, or name the program or library that it is linked into";
    Error::Unsupported { what: "LLVM bitcode", help }
}

/// Types have the sizes of the machine that the file is for. For an unknown machine, there is no DWARF that could mislead.
fn check_architecture(found: Architecture) -> Result<(), Error> {
    let is_here = match found {
        Architecture::X86_64 => cfg!(any(
            all(target_arch = "x86_64", target_pointer_width = "64"),
            dtype_layouts = "x86_64"
        )),
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

/// Reads the sections of an object.
struct Reader<'a, 'f, 'b, R: ReadRef<'a>> {
    file: &'f File<'a, 'b, R>,
    /// Those with debug information, with their names.
    named: Vec<(&'a [u8], Section<'a, 'f, 'b, R>)>,
    budget: &'b Budget,
}

type File<'a, 'b, R> = object::File<'a, Counted<'b, R>>;

type Section<'a, 'f, 'b, R> = object::Section<'a, 'f, Counted<'b, R>>;

impl<'a, 'f, 'b, R: ReadRef<'a>> Reader<'a, 'f, 'b, R> {
    fn new(file: &'f File<'a, 'b, R>, budget: &'b Budget) -> Result<Self, Error> {
        let mut named = Vec::new();
        for section in file.sections() {
            // Another section may have a name that cannot be read.
            let Ok(name) = section.name_bytes() else { continue };
            if PREFIXES.iter().any(|prefix| name.starts_with(prefix.as_bytes())) {
                budget.hold(size_of::<(&[u8], Section<'_, '_, '_, R>)>())?;
                named.push((name, section));
            }
        }
        Ok(Self { file, named, budget })
    }

    /// The name of a section with the prefix that it has in this file: of `info`, for example, it may be `.debug_info`.
    fn full_name(&self, name: &str) -> Option<&'a [u8]> {
        let is_same = |found: &[u8], prefix: &str| {
            let found = found.strip_prefix(prefix.as_bytes());
            let room = MACH_O_NAME - prefix.len();
            let name = if prefix.starts_with('_') { &name[..name.len().min(room)] } else { name };
            found == Some(name.as_bytes())
        };
        let with = |prefix| self.named.iter().find(|(found, _)| is_same(found, prefix));
        PREFIXES.into_iter().find_map(with).map(|(found, _)| *found)
    }

    /// A section, decompressed and relocated; empty if the file does not have it. Object files have a section for each type
    /// unit, all with one name: these are concatenated.
    fn section(&self, name: &str) -> Result<Cow<'a, [u8]>, Error> {
        let Some(own_name) = self.full_name(name) else { return Ok(Cow::Borrowed(&[])) };
        let mut parts = self.named.iter().filter(|(found, _)| *found == own_name);
        let mut data = Cow::Borrowed(&[][..]);
        if self.file.kind() != ObjectKind::Relocatable {
            return parts.next().map_or(Ok(data), |(_, first)| self.decompressed(first));
        }
        for (number, (_, part)) in parts.enumerate() {
            let mut more = self.decompressed(part)?;
            self.relocate(part, &mut more)?;
            if number == 0 {
                data = more;
            } else {
                self.owned(&mut data, more.len())?.extend_from_slice(&more);
            }
        }
        Ok(data)
    }

    fn decompressed(&self, section: &Section<'a, 'f, 'b, R>) -> Result<Cow<'a, [u8]>, Error> {
        let compressed = section.compressed_data()?;
        // The size comes from the file, and is allocated.
        let size = usize::try_from(compressed.uncompressed_size).unwrap_or(usize::MAX);
        if compressed.format != CompressionFormat::None {
            self.budget.hold(size)?;
        }
        Ok(compressed.decompress()?)
    }

    /// A section's bytes, which can be changed, and room for more.
    fn owned<'d>(
        &self,
        data: &'d mut Cow<'_, [u8]>,
        more: usize,
    ) -> Result<&'d mut Vec<u8>, Exceeded> {
        if let Cow::Borrowed(bytes) = data {
            let mut copy = self.budget.vec(bytes.len().saturating_add(more))?;
            copy.extend_from_slice(bytes);
            *data = Cow::Owned(copy);
        } else {
            self.budget.hold(more)?;
        }
        // It is owned by now, so nothing is copied here.
        let data = data.to_mut();
        data.try_reserve(more).map_err(|_| Exceeded::Memory { bytes: data.len() + more })?;
        Ok(data)
    }

    /// Adds the addresses of symbols to the places that refer to them, as a linker does. In an object file, a section refers
    /// to another one in this way.
    fn relocate(
        &self,
        section: &Section<'a, 'f, 'b, R>,
        data: &mut Cow<'_, [u8]>,
    ) -> Result<(), Error> {
        let is_little = self.file.endianness() == Endianness::Little;
        for (offset, relocation) in section.relocations() {
            self.budget.work(RELOCATION)?;
            if !matches!(
                relocation.kind(),
                RelocationKind::Absolute | RelocationKind::SectionOffset
            ) {
                continue;
            }
            let symbol = match relocation.target() {
                RelocationTarget::Symbol(index) => self.file.symbol_by_index(index).ok(),
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
            let place = &mut self.owned(data, 0)?[place];
            // The byte order decides whether the lowest bytes come first or last.
            let mut bytes = [0; 8];
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
        Ok(())
    }
}
