//! Chooses one of the structs in a text.

use std::collections::HashMap;

use super::Declared;
use super::layout::{Layout, NoData};
use crate::notation::nearest;
use crate::problem::{Problem, quoted};

/// The maximum number of names that a message lists.
const MAX_NAMES: usize = 12;

/// The struct called `wanted`, or the only one that is not part of another. If there is none, the mistakes in skipped
/// declarations tell why.
pub(super) fn choose(
    all: Vec<Declared>,
    mistakes: Vec<Problem>,
    wanted: Option<&str>,
    source: &str,
) -> Result<Layout, Vec<Problem>> {
    let names = || all.iter().map(|one| one.name.as_str());
    let listed = || names().filter(|name| !name.is_empty());
    let whole = 0..source.len();
    let chosen = if let Some(name) = wanted {
        let found = all.iter().rposition(|one| one.name == name);
        let Some(found) = found else {
            if !mistakes.is_empty() {
                return Err(mistakes);
            }
            let message = format!("no struct is called {}", quoted(name));
            let help = match nearest(name, listed()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if listed().next().is_none() => {
                    "the text declares none with a name".to_owned()
                }
                None => format!("the text declares {}", list(&listed().collect::<Vec<_>>())),
            };
            return Err(vec![Problem::new(message, whole.start..whole.start, "").help(help)]);
        };
        found
    } else {
        // If several have one name, the last one has the mistake that it is declared twice.
        let last: HashMap<&str, usize> = names().zip(0..).collect();
        let is_last = |index: usize| {
            all[index].name.is_empty() || last.get(all[index].name.as_str()) == Some(&index)
        };
        // If structs contain one another, each of them has a mistake.
        let is_cycle = all.iter().all(|one| one.is_part);
        let is_root = |one: &Declared| is_cycle || !one.is_part;
        let mut roots = (0..all.len()).filter(|index| is_root(&all[*index]) && is_last(*index));
        match (roots.next(), roots.next()) {
            (Some(root), None) => root,
            (None, _) if !mistakes.is_empty() => return Err(mistakes),
            (None, _) => {
                let problem = Problem::new("expected a struct, found none", 0..0, "");
                return Err(vec![
                    problem.help("a declaration is `struct P { … };` in C, and in Rust `#[repr(C)] struct P { … }`"),
                ]);
            }
            (Some(first), Some(second)) => {
                let problem = Problem::new(
                    "the text declares several structs",
                    all[second].span.clone(),
                    "another one",
                );
                let mut problem = problem.and(all[first].span.clone(), "the first one");
                let roots = all.iter().filter(|one| is_root(one) && !one.name.is_empty());
                let roots: Vec<&str> = roots.map(|one| one.name.as_str()).collect();
                problem.choices = roots.iter().map(|&name| name.to_owned()).collect();
                return Err(vec![problem.help(format!(
                    "choose one of {}: `@FILE:NAME`, for example `@FILE:{}`",
                    list(&roots),
                    roots.first().unwrap_or(&"P")
                ))]);
            }
        }
    };
    let one = all.into_iter().nth(chosen);
    match one.map(|one| (one.name, one.span, one.base)) {
        Some((_, _, Ok(layout))) => Ok(layout),
        Some((_, _, Err(NoData::Wrong(problems)))) if !problems.is_empty() => Err(problems),
        Some((name, span, Err(NoData::Foreign { what, help, place }))) => {
            let message = format!("{} is {what}", quoted(&name));
            let problems = vec![Problem::new(message, span, "not supported").help(help)];
            match place {
                Some(place) => Ok(Layout { others: problems.into(), ..*place }),
                None => Err(problems),
            }
        }
        _ => Err(vec![Problem::new("expected a struct, found none", 0..0, "")]),
    }
}

/// Names in a sentence.
fn list(names: &[&str]) -> String {
    let some: Vec<String> = names.iter().take(MAX_NAMES).map(|name| quoted(name)).collect();
    let more = if names.len() > MAX_NAMES { ", …" } else { "" };
    format!("{}{more}", some.join(", "))
}
