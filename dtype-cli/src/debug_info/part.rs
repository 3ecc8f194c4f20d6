//! The parts of a file that tell types of one name apart: members of an archive, source files, and lines in them.

use std::fmt;

use super::search::Found;
use super::unit::Headers;

/// A part of a file.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// The member of an archive, or the end of the path of a source file; empty for all.
    name: String,
    line: Option<u64>,
}

impl Part {
    /// `NAME`, `NAME:LINE` or `:LINE`.
    pub(super) fn new(text: &str) -> Self {
        let line = text.rsplit_once(':').and_then(|(name, line)| Some((name, line.parse().ok()?)));
        match line {
            Some((name, line)) => Self { name: name.to_owned(), line: Some(line) },
            None => Self { name: text.to_owned(), line: None },
        }
    }

    /// Removes the types that are not in this part; `false` if none is left.
    pub(super) fn keep(&self, found: &mut Vec<Found>, headers: &Headers<'_>) -> bool {
        let mut units = vec![None; headers.len()];
        found.retain(|one| {
            let number = one.place.unit;
            let is_line = self.line.is_none_or(|line| line == one.line);
            is_line && *units[number].get_or_insert_with(|| self.has(number, headers))
        });
        !found.is_empty()
    }

    fn has(&self, unit: usize, headers: &Headers<'_>) -> bool {
        if self.name.is_empty() || headers.member(unit) == Some(self.name.as_str()) {
            return true;
        }
        let source = source(unit, headers);
        let folders = source.strip_suffix(&self.name);
        folders.is_some_and(|folders| folders.is_empty() || folders.ends_with(['/', '\\']))
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

fn source(unit: usize, headers: &Headers<'_>) -> String {
    headers.unit(unit).ok().and_then(|unit| Some(unit.source()?.into_owned())).unwrap_or_default()
}

/// For each type, the shortest part of the file that has no other one of its name.
pub(super) fn labels(all: &[&Found], headers: &Headers<'_>) -> Vec<Option<String>> {
    let is_alone = |one: &&Found| all.iter().filter(|other| other.name == one.name).count() == 1;
    if all.iter().all(is_alone) {
        return vec![None; all.len()];
    }
    let parts = all.iter().map(|one| {
        let source = source(one.place.unit, headers);
        let member = headers.member(one.place.unit).unwrap_or_default().to_owned();
        let file = source.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        let with_line = |part: &str| match part {
            "" => String::new(),
            part => format!("{part}:{}", one.line),
        };
        let [with_member, with_file] = [with_line(&member), with_line(&file)];
        let whole = format!("{source}:{}", one.line);
        [member, file, source, with_member, with_file, whole]
    });
    let parts: Vec<[String; 6]> = parts.collect();
    let is_different = |form: &usize| {
        let parts = || parts.iter().map(|forms| &forms[*form]);
        let is_first = |(at, part): (usize, &String)| parts().take(at).all(|other| other != part);
        parts().all(|part| !part.is_empty()) && parts().enumerate().all(is_first)
    };
    let form = (0..6).find(is_different).unwrap_or(5);
    parts
        .into_iter()
        .zip(all)
        .map(|(mut forms, one)| (!is_alone(one)).then(|| std::mem::take(&mut forms[form])))
        .collect()
}
