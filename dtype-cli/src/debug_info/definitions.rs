//! The types that declarations mean. A compiler may describe a type in one unit and only declare it in the others.

use std::collections::HashMap;

use gimli::constants as dw;

use super::search::Search;
use super::unit::Place;

/// The types of a file by their names.
#[derive(Debug)]
pub(super) struct Definitions {
    /// The index of the name that a declaration has.
    declarations: HashMap<Place, usize>,
    /// The types with each name.
    all: Vec<Vec<Place>>,
}

impl Definitions {
    /// The types that a search for all types has found.
    pub(super) fn of(search: &Search) -> Self {
        let mut names: HashMap<&str, usize> = HashMap::new();
        let mut declarations = HashMap::new();
        for found in search.found.iter().filter(|found| found.is_declaration) {
            let next = names.len();
            declarations.insert(found.place, *names.entry(&found.name).or_insert(next));
        }
        let mut all = vec![Vec::new(); names.len()];
        for found in &search.found {
            let is_definition = !found.is_declaration && found.tag != dw::DW_TAG_typedef;
            if is_definition && let Some(index) = names.get(&*found.name) {
                all[*index].push(found.place);
            }
        }
        Self { declarations, all }
    }

    /// The types that a declaration may mean.
    pub(super) fn of_declaration(&self, declaration: Place) -> &[Place] {
        let index = self.declarations.get(&declaration);
        index.and_then(|index| self.all.get(*index)).map_or(&[], Vec::as_slice)
    }
}
