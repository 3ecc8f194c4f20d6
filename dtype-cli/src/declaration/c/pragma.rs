//! `#pragma pack`, as GCC reads it: one that is not well-formed has no effect.

use super::super::MAX_NESTING;
use super::super::token::{Kind, Token};
use super::conditions::Line;
use super::number::Number;

/// The limit that `#pragma pack` sets to the alignment of fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Pack {
    #[default]
    Natural,
    Bytes(u64),
    /// It depends on a condition.
    Unsure,
}

/// What pragmas say about the layout of a struct that ends here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rules {
    pub(super) pack: Pack,
    /// Whether `#pragma scalar_storage_order` asks for another byte order than this machine's.
    pub(super) is_reversed: bool,
}

/// A limit that `push` saved.
#[derive(Clone, Copy, Debug)]
struct Saved<'s> {
    pack: Pack,
    name: Option<&'s str>,
    /// The number of the one before it, from 1 on.
    before: usize,
    depth: usize,
    /// Whether it depends on a condition that it is there.
    is_unsure: bool,
}

/// The limit, and the number of the last one that was saved, from 1 on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct State {
    pack: Pack,
    top: usize,
}

/// A condition that is not known.
#[derive(Clone, Copy, Debug)]
struct Fork {
    /// The state before its first branch, with which each branch starts.
    before: State,
    /// The state after the branches so far, which is that before them if none applies.
    after: State,
    has_else: bool,
    is_first: bool,
}

#[derive(Debug, Default)]
pub(super) struct Pragmas<'s> {
    state: State,
    saved: Vec<Saved<'s>>,
    forks: Vec<Fork>,
    is_reversed: bool,
    /// Whether more limits were saved than are kept.
    is_lost: bool,
}

impl<'s> Pragmas<'s> {
    pub(super) fn rules(&self) -> Rules {
        let pack = if self.is_lost { Pack::Unsure } else { self.state.pack };
        Rules { pack, is_reversed: self.is_reversed }
    }

    /// The tokens of a pragma after the word `pragma`.
    pub(super) fn line(&mut self, line: &[Token<'s>]) {
        match line {
            [word, open, arguments @ ..] if word.is("pack") && open.is("(") => self.pack(arguments),
            [word, order, ..] if word.is("scalar_storage_order") => {
                let native = if cfg!(target_endian = "big") { "big" } else { "little" };
                self.is_reversed = order.text != "default" && order.text != native;
            }
            _ => {}
        }
    }

    /// The arguments with the closing bracket.
    fn pack(&mut self, line: &[Token<'s>]) {
        let Some(close) = line.iter().position(|token| token.is(")")) else { return };
        let limit = |token: &Token<'_>| {
            let number = Number::parse(token.text).filter(|_| token.kind == Kind::Number)?.value;
            match number {
                0 => Some(Pack::Natural),
                1 | 2 | 4 | 8 | 16 => u64::try_from(number).ok().map(Pack::Bytes),
                _ => None,
            }
        };
        match &line[..close] {
            [] => self.state.pack = Pack::Natural,
            [number] if number.kind == Kind::Number => {
                if let Some(pack) = limit(number) {
                    self.state.pack = pack;
                }
            }
            [word, rest @ ..] if word.is("push") || word.is("pop") => {
                let (mut name, mut new) = (None, None);
                for pair in rest.chunks(2) {
                    match pair {
                        [comma, one]
                            if comma.is(",") && one.kind == Kind::Word && name.is_none() =>
                        {
                            name = Some(one.text);
                        }
                        [comma, one] if comma.is(",") && word.is("push") && new.is_none() => {
                            let Some(pack) = limit(one) else { return };
                            new = Some(pack);
                        }
                        _ => return,
                    }
                }
                if word.is("push") {
                    self.push(name, new);
                } else {
                    self.pop(name);
                }
            }
            _ => {}
        }
    }

    fn get(&self, number: usize) -> Option<Saved<'s>> {
        number.checked_sub(1).and_then(|index| self.saved.get(index)).copied()
    }

    fn push(&mut self, name: Option<&'s str>, new: Option<Pack>) {
        let State { pack, top } = self.state;
        let depth = self.get(top).map_or(0, |saved| saved.depth) + 1;
        if depth > MAX_NESTING {
            self.is_lost = true;
            return;
        }
        self.saved.push(Saved { pack, name, before: top, depth, is_unsure: false });
        self.state = State { pack: new.unwrap_or(pack), top: self.saved.len() };
    }

    /// Restores the last limit, or the one that was saved with this name if there is one.
    fn pop(&mut self, name: Option<&'s str>) {
        let mut found = self.state.top;
        while name.is_some()
            && let Some(saved) = self.get(found)
            && saved.name != name
        {
            found = saved.before;
        }
        let top = if found == 0 { self.state.top } else { found };
        if let Some(saved) = self.get(top) {
            // Inside a condition, it is taken for the one under which the limit was saved.
            let is_unsure = saved.is_unsure && self.forks.is_empty();
            let pack = if is_unsure { Pack::Unsure } else { saved.pack };
            self.state = State { pack, top: saved.before };
        }
    }

    /// A line of an unknown condition.
    pub(super) fn branch(&mut self, line: Line) {
        if line == Line::Start {
            let now = self.state;
            self.forks.push(Fork { before: now, after: now, has_else: false, is_first: true });
            return;
        }
        let Some(mut fork) = self.forks.pop() else { return };
        self.end_branch(&mut fork);
        if let Line::Next { is_else } = line {
            fork.has_else |= is_else;
            self.state = fork.before;
            self.forks.push(fork);
        } else if fork.has_else {
            self.state = fork.after;
        } else {
            self.state = self.merged(fork.before, fork.after);
        }
    }

    fn end_branch(&mut self, fork: &mut Fork) {
        let now = self.state;
        fork.after = if fork.is_first { now } else { self.merged(fork.after, now) };
        fork.is_first = false;
    }

    /// The state after one of two branches.
    fn merged(&mut self, one: State, other: State) -> State {
        if one == other {
            return one;
        }
        // One branch takes back what an earlier condition did.
        if let Some(saved) = self.get(one.top)
            && saved.is_unsure
            && other == (State { pack: saved.pack, top: saved.before })
        {
            return other;
        }
        if other.top > one.top
            && let Some(saved) = self.saved.get_mut(other.top - 1)
        {
            saved.is_unsure = true;
        }
        State { pack: if one.pack == other.pack { one.pack } else { Pack::Unsure }, top: other.top }
    }
}
