//! Evaluates a tree to a datatype.

mod argument;
mod layout;

use std::collections::HashMap;
use std::ops::Range;

use dtype_runtime::types::call::Parameter;
use dtype_runtime::{Error, Type};

use super::calls::{self, Argument, Constructor};
use super::fields::FieldNames;
use super::hints;
use super::names;
use super::tree::{Call, Expression, Node, Operator, Program};
use crate::names::nearest;
use crate::problem::{Problem, quoted};

/// The maximum number of mistakes to report.
const MAX_PROBLEMS: usize = 20;

/// The value of an expression.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Number(i128),
    Type(Type),
}

impl Value {
    fn describe(&self) -> &'static str {
        match self {
            Self::Number(_) => "a number",
            Self::Type(_) => "a type",
        }
    }
}

/// The datatype of a tree, and the names of the fields in it.
pub(super) fn evaluate(
    source: &str,
    program: &Program,
) -> Result<(Type, FieldNames), Vec<Problem>> {
    let mut evaluator = Evaluator {
        source,
        bindings: HashMap::new(),
        problems: Vec::new(),
        fields: FieldNames::default(),
    };
    for binding in &program.bindings {
        evaluator.bind(&binding.name, &binding.value);
    }
    let result = evaluator.ty(&program.result, "a type");
    match result {
        Some(ty) if evaluator.problems.is_empty() => Ok((ty, evaluator.fields)),
        _ => Err(evaluator.problems),
    }
}

/// The definition of a name: its position, and its value, unless that has a mistake.
struct Bound {
    place: Range<usize>,
    value: Option<Value>,
}

/// Functions that return an `Option` report a mistake before they return `None`.
struct Evaluator<'s> {
    source: &'s str,
    bindings: HashMap<&'s str, Bound>,
    problems: Vec<Problem>,
    fields: FieldNames,
}

impl<'s> Evaluator<'s> {
    fn text(&self, span: &Range<usize>) -> &'s str {
        &self.source[span.clone()]
    }

    fn report(&mut self, problem: Problem) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }

    fn wrong<T>(&mut self, problem: Problem) -> Option<T> {
        self.report(problem);
        None
    }

    fn bind(&mut self, place: &Range<usize>, value: &Node) {
        let name = self.text(place);
        let known = names::find(name).is_some()
            || Constructor::find(name).is_some()
            || names::ARGUMENTS.contains(&name);
        if known {
            let message = format!("{} has a meaning already", quoted(name));
            self.report(Problem::new(message, place.clone(), "choose another name"));
        } else if let Some(before) = self.bindings.get(name) {
            let message = format!("{} is defined twice", quoted(name));
            let problem = Problem::new(message, place.clone(), "choose another name");
            self.report(problem.and(before.place.clone(), "defined here first"));
        }
        let value = self.value(value);
        if !known {
            self.bindings.entry(name).or_insert(Bound { place: place.clone(), value });
        }
    }

    fn value(&mut self, node: &Node) -> Option<Value> {
        if self.problems.len() >= MAX_PROBLEMS {
            return None;
        }
        match &node.expression {
            Expression::Number => self.written_number(&node.span),
            Expression::Name => self.name(&node.span),
            Expression::Call(call) => self.call(call, &node.span).map(Value::Type),
            Expression::Array(array) => self.array(&array.0, &array.1, &node.span).map(Value::Type),
            Expression::Struct(fields) => self.structure(fields, &node.span).map(Value::Type),
            Expression::Negative(inner) => {
                let inner = self.number(inner)?;
                self.checked(inner.checked_neg(), &node.span).map(Value::Number)
            }
            Expression::Arithmetic(first, rest) => {
                self.arithmetic(first, rest, &node.span).map(Value::Number)
            }
            Expression::List(_) => {
                let problem = Problem::new(
                    "expected a type, found a list",
                    node.span.clone(),
                    "expected a type or a number",
                );
                self.wrong(problem.help(
                    "lists are written where a constructor takes one; an array type is `[type; count]`",
                ))
            }
        }
    }

    /// A number as written, or a name that starts with a digit, as some MPI names do.
    fn written_number(&mut self, span: &Range<usize>) -> Option<Value> {
        let text = self.text(span);
        if let Some(ty) = names::find(text) {
            return Some(Value::Type(ty));
        }
        let digits = text.replace('_', "");
        let (radix, digits) = match digits.get(..2) {
            Some("0x" | "0X") => (16, &digits[2..]),
            Some("0o") => (8, &digits[2..]),
            Some("0b") => (2, &digits[2..]),
            _ => (10, digits.as_str()),
        };
        if let Ok(number) = u64::from_str_radix(digits, radix) {
            return Some(Value::Number(number.into()));
        }
        let is_number = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
        self.wrong(if is_number {
            let limit = u64::MAX;
            Problem::new(
                "a number that does not fit 64 bits",
                span.clone(),
                format!("at most {limit}"),
            )
        } else {
            Problem::new(format!("expected a number, found {}", quoted(text)), span.clone(), "")
        })
    }

    fn name(&mut self, span: &Range<usize>) -> Option<Value> {
        let name = self.text(span);
        if let Some(bound) = self.bindings.get(name) {
            return bound.value.clone();
        }
        if let Some(ty) = names::find(name) {
            return Some(Value::Type(ty));
        }
        if let Some(constructor) = Constructor::find(name) {
            let message = format!("{} needs its arguments", quoted(name));
            let problem = Problem::new(message, span.clone(), "a constructor");
            return self
                .wrong(problem.help(format!("it is called {}", written(name, constructor))));
        }
        let mut defined: Vec<&str> = self.bindings.keys().copied().collect();
        // Sorted, so that the order is always the same.
        defined.sort_unstable();
        let candidates = defined.into_iter().chain(names::all().map(|known: &str| known));
        let problem =
            Problem::new(format!("unknown type {}", quoted(name)), span.clone(), "unknown name");
        let (problem, has_hint) = hints::for_name(problem, name);
        let problem = if has_hint { problem } else { suggest(problem, name, candidates) };
        self.wrong(problem)
    }

    /// A value that must be a type.
    fn ty(&mut self, node: &Node, expected: &str) -> Option<Type> {
        match self.value(node)? {
            Value::Type(ty) => Some(ty),
            other @ Value::Number(_) => {
                let message = format!("expected {expected}, found {}", other.describe());
                self.wrong(Problem::new(message, node.span.clone(), format!("expected {expected}")))
            }
        }
    }

    /// A value that must be a number.
    fn number(&mut self, node: &Node) -> Option<i128> {
        match self.value(node)? {
            Value::Number(number) => Some(number),
            other @ Value::Type(_) => {
                let message = format!("expected a number, found {}", other.describe());
                self.wrong(Problem::new(message, node.span.clone(), "expected a number"))
            }
        }
    }

    fn checked(&mut self, result: Option<i128>, span: &Range<usize>) -> Option<i128> {
        if result.is_none() {
            self.report(Problem::new("the result does not fit 128 bits", span.clone(), ""));
        }
        result
    }

    fn arithmetic(
        &mut self,
        first: &Node,
        rest: &[(Operator, Node)],
        span: &Range<usize>,
    ) -> Option<i128> {
        let mut result = self.number(first);
        for (operator, term) in rest {
            let term = self.number(term);
            result = match (result, term) {
                (Some(a), Some(b)) => {
                    let sum = match operator {
                        Operator::Plus => a.checked_add(b),
                        Operator::Minus => a.checked_sub(b),
                        Operator::Times => a.checked_mul(b),
                    };
                    self.checked(sum, span)
                }
                _ => None,
            };
        }
        result
    }

    fn call(&mut self, call: &Call, span: &Range<usize>) -> Option<Type> {
        let name = self.text(&call.name);
        let Some(constructor) = Constructor::find(name) else {
            let is_type = names::find(name).is_some() || self.bindings.contains_key(name);
            let problem = if is_type {
                let message = format!("{} takes no arguments", quoted(name));
                Problem::new(message, call.name.clone(), "not a constructor")
            } else {
                let problem = Problem::new(
                    format!("unknown constructor {}", quoted(name)),
                    call.name.clone(),
                    "unknown name",
                );
                suggest(problem, name, calls::names())
            };
            // The arguments may have mistakes as well.
            self.report(problem);
            for argument in &call.arguments {
                self.inspect(argument);
            }
            return None;
        };
        let parameters = constructor.parameters();
        let (expected, given) = (parameters.len(), call.arguments.len());
        if expected != given {
            let plural = if expected == 1 { "argument" } else { "arguments" };
            let were = if given == 1 { "was" } else { "were" };
            let message = format!("`{name}` takes {expected} {plural}, {given} {were} given");
            let problem = Problem::new(message, span.clone(), "");
            return self
                .wrong(problem.help(format!("it is called {}", written(name, constructor))));
        }
        let arguments: Vec<Option<Argument>> = parameters
            .iter()
            .zip(&call.arguments)
            .map(|(parameter, node)| self.argument(name, *parameter, node))
            .collect();
        let arguments: Vec<Argument> = arguments.into_iter().collect::<Option<_>>()?;
        match constructor.call(arguments) {
            Ok(ty) => Some(ty),
            Err(error) => {
                let problem = refused(&error, span, &parameters, &call.arguments);
                self.wrong(problem)
            }
        }
    }

    /// Finds mistakes in the argument of an unknown call.
    fn inspect(&mut self, node: &Node) {
        match &node.expression {
            Expression::List(items) => items.iter().for_each(|item| self.inspect(item)),
            Expression::Name if names::ARGUMENTS.contains(&self.text(&node.span)) => {}
            _ => {
                self.value(node);
            }
        }
    }

    fn array(&mut self, element: &Node, count: &Node, span: &Range<usize>) -> Option<Type> {
        let (ty, count) = (self.ty(element, "a type"), self.count(count));
        match Type::contiguous(count?, &ty?) {
            Ok(ty) => Some(ty),
            Err(error) => self.wrong(Problem::new(error.to_string(), span.clone(), "")),
        }
    }
}

/// The error of a constructor, at the argument that it concerns, if any.
fn refused(
    error: &Error,
    span: &Range<usize>,
    parameters: &[Parameter],
    arguments: &[Node],
) -> Problem {
    let (name, index) = match *error {
        Error::ArgumentRange { argument, index, .. } => (argument, index),
        Error::ArgumentLengths { argument, .. } | Error::ArgumentType { argument, .. } => {
            (argument, None)
        }
        _ => return Problem::new(error.to_string(), span.clone(), "in this call"),
    };
    let found = parameters.iter().zip(arguments).find(|(parameter, _)| parameter.mpi_name == name);
    let Some((parameter, node)) = found else {
        return Problem::new(error.to_string(), span.clone(), "in this call");
    };
    let place = match (&node.expression, index) {
        (Expression::List(items), Some(index)) => items.get(index).unwrap_or(node),
        _ => node,
    };
    let label =
        format!("this is {}{}", parameter.name, index.map_or(String::new(), |i| format!("[{i}]")));
    Problem::new(error.to_string(), place.span.clone(), label)
}

/// A call with the names of its parameters.
fn written(name: &str, constructor: Constructor) -> String {
    let parameters: Vec<&str> =
        constructor.parameters().iter().map(|parameter| parameter.name).collect();
    format!("`{name}({})`", parameters.join(", "))
}

/// Suggests the name that was probably meant.
fn suggest<'a>(problem: Problem, name: &str, candidates: impl Iterator<Item = &'a str>) -> Problem {
    match nearest(name, candidates) {
        Some(near) => problem.help(format!("did you mean `{near}`?")).instead(near),
        None => problem.help("`dtype notation` lists the names"),
    }
}
