//! Typedefs in C.

use super::super::layout::Base;
use super::declarator::Declarator;
use super::enums::twice;
use super::specifiers::Specified;
use super::{Named, Read, Reader, wrong};
use crate::problem::Problem;

impl<'s> Reader<'s, '_> {
    /// Keeps the names that a typedef gives, which starts at the token with this number.
    pub(super) fn typedefs(&mut self, specified: &Specified<'s>, start: usize) -> Read<()> {
        loop {
            let declarator = self.declarator()?;
            let next = self.cursor.peek();
            if let Some(name) = declarator.name
                && !next.is(",")
                && !next.is(";")
            {
                let problem = match &specified.base {
                    Base::Wrong(problems) if !problems.is_empty() => Box::new(problems[0].clone()),
                    _ => self.cursor.unexpected("`;` or `,`"),
                };
                let named = Named::of(wrong(problem.as_ref().clone()), name.span());
                let declared = specified.declared;
                self.types.insert(name.text, Named { declared, ..named });
                return Err(problem);
            }
            self.typedef(specified, declarator, start)?;
            if self.cursor.take(",").is_none() {
                break;
            }
        }
        self.cursor.expect(";").map(drop)
    }

    fn typedef(
        &mut self,
        specified: &Specified<'s>,
        declarator: Declarator<'s>,
        start: usize,
    ) -> Read<()> {
        let Some(name) = declarator.name else { return Err(self.cursor.unexpected("a name")) };
        // The attributes before the names are applied last.
        let align = specified.attributes.last.or(declarator.attributes.last);
        let is_alias = !declarator.is_indirect();
        let is_plain = is_alias && declarator.lengths.is_empty();
        let mut base = declarator.foreign().unwrap_or_else(|| specified.base.clone());
        if let Base::Known(layout) = &mut base {
            match layout.elements(&declarator.lengths) {
                Ok(array) => *layout = array,
                Err(message) => base = wrong(Problem::new(message, declarator.span, "")),
            }
        }
        if let (Base::Known(layout), Some(align)) = (&mut base, align) {
            layout.align = align;
        }
        let problem = self.condition(start).map(Box::new);
        let problem = problem.or(specified.attributes.problem.clone());
        if let Some(problem) = problem.or(declarator.attributes.problem) {
            base = wrong(*problem);
        }
        let declared = specified.declared.filter(|_| is_alias);
        if let Some(index) = declared
            && declarator.lengths.is_empty()
            && let Some(one) = self.declared.get_mut(index)
            && one.name.is_empty()
        {
            name.text.clone_into(&mut one.name);
            one.span = name.span();
        }
        let later = specified.later.filter(|_| is_plain);
        let later = later.map(|(tag, before)| (tag, align.or(before)));
        let mut named = Named { base, declared, later, span: name.span() };
        if let Some(before) = self.types.get(name.text)
            && !is_same(before, &named)
        {
            named = Named::of(wrong(twice(name.text, name.span())), name.span());
        }
        self.types.insert(name.text, named);
        Ok(())
    }

    /// What a typedef stands for, perhaps a struct that was declared after it.
    pub(super) fn alias(&self, name: &str) -> Option<Named<'s>> {
        let named = self.types.get(name)?;
        let Some((tag, align)) = named.later else { return Some(named.clone()) };
        let mut found = self.tags.get(tag).unwrap_or(named).clone();
        if let (Base::Known(layout), Some(align)) = (&mut found.base, align) {
            layout.align = align;
        }
        Some(found)
    }
}

/// Whether two typedefs surely give a name the same meaning.
fn is_same(one: &Named<'_>, other: &Named<'_>) -> bool {
    match (&one.base, &other.base) {
        _ if one.later.is_some() || other.later.is_some() => one.later == other.later,
        (Base::Known(one), Base::Known(other)) => {
            one.ty.as_ptr() == other.ty.as_ptr() && one.align == other.align
        }
        (Base::Foreign { what: one, .. }, Base::Foreign { what: other, .. }) => one == other,
        _ => false,
    }
}
