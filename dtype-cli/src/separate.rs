//! Finds the file to which the debug information of a program was moved. Nothing is downloaded.
//!
//! The link of a program has a file's name and its checksum, its build identifier is also in that file. The places are those
//! where gdb looks, and the folder in which debuginfod's clients keep what they have.

use std::env;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use object::Object as _;
use object::read::{ReadCache, ReadRef};

/// Where distributions install debug information.
const GLOBAL: &str = "/usr/lib/debug";

/// Bytes that are read at once for a checksum.
const CHUNK: usize = 1 << 16;

/// What a program says of the file with its debug information.
#[derive(Debug, Default)]
struct Link {
    /// The name of the file, and its CRC-32.
    name: Option<(String, u32)>,
    build_id: Option<Vec<u8>>,
}

impl Link {
    fn read<'a>(data: impl ReadRef<'a>) -> Option<Self> {
        let file = object::File::parse(data).ok()?;
        let link = file.gnu_debuglink().ok().flatten();
        let name = link.map(|(name, sum)| (String::from_utf8_lossy(name).into_owned(), sum));
        let build_id = file.build_id().ok().flatten().map(<[u8]>::to_vec);
        Some(Self { name, build_id: build_id.filter(|id| id.len() > 1) })
    }
}

/// The file with the debug information of a program, if it is in one of the usual places.
pub(crate) fn find(program: &Path) -> Option<PathBuf> {
    let link = Link::read(&ReadCache::new(File::open(program).ok()?))?;
    let program = fs::canonicalize(program).ok()?;
    let folder = program.parent()?;
    if let Some(id) = &link.build_id {
        let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or_default();
        let hex: String = id.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect();
        let (first, rest) = hex.split_at(2);
        let installed =
            Path::new(GLOBAL).join(".build-id").join(first).join(format!("{rest}.debug"));
        let kept = caches().into_iter().map(|cache| cache.join(&hex).join("debuginfo"));
        let has_id = |path: &PathBuf| {
            let file = File::open(path).ok();
            let other = file.and_then(|file| Link::read(&ReadCache::new(file)));
            other.is_some_and(|other| other.build_id.as_ref() == Some(id))
        };
        if let Some(found) = std::iter::once(installed).chain(kept).find(has_id) {
            return Some(found);
        }
    }
    let (name, sum) = link.name?;
    // A name with folders would reach anywhere.
    let name = Path::new(Path::new(&name).file_name()?);
    let global = Path::new(GLOBAL).join(folder.strip_prefix("/").unwrap_or(folder));
    let all = [folder.join(name), folder.join(".debug").join(name), global.join(name)];
    all.into_iter().find(|path| *path != program && checksum(path) == Some(sum))
}

/// The folders of debuginfod's clients.
fn caches() -> Vec<PathBuf> {
    let folder = |name: &str| env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let own = folder("DEBUGINFOD_CACHE_PATH");
    let shared = folder("XDG_CACHE_HOME").map(|path| path.join("debuginfod_client"));
    let home = folder("HOME");
    let usual = home.as_ref().map(|home| home.join(".cache/debuginfod_client"));
    let old = home.map(|home| home.join(".debuginfod_client_cache"));
    [own, shared, usual, old].into_iter().flatten().collect()
}

/// The CRC-32 of a regular file.
fn checksum(path: &Path) -> Option<u32> {
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut file = File::open(path).ok()?;
    let mut sum = crc32fast::Hasher::new();
    let mut buffer = vec![0; CHUNK];
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(sum.finalize()),
            read => sum.update(&buffer[..read]),
        }
    }
}
