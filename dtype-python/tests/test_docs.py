"""The examples in the docstrings run, and the stubs name what there is."""

import ast
import doctest
import inspect
import pathlib

import dtype
import pytest

OBJECTS = [(name, getattr(dtype, name)) for name in dtype.__all__]
MEMBERS = [(f"Layout.{name}", getattr(dtype.Layout, name)) for name in dir(dtype.Layout) if not name.startswith("__")]


def test_examples():
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    for name, one in OBJECTS + MEMBERS:
        for test in finder.find(one, name, module=False, globs={}):
            runner.run(test)
    assert runner.failures == 0 and runner.tries > 40


@pytest.mark.parametrize(("name", "one"), OBJECTS + MEMBERS)
def test_all_is_documented(name, one):
    assert inspect.getdoc(one)


def test_the_stubs_are_complete():
    stubs = ast.parse(pathlib.Path(dtype.__file__).with_name("__init__.pyi").read_text())
    classes = {one.name: {part.name for part in one.body if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef))} for one in stubs.body if isinstance(one, ast.ClassDef)}
    functions = {one.name: one for one in stubs.body if isinstance(one, ast.FunctionDef)}
    assert set(dtype.__all__) <= set(classes) | set(functions)
    public = {name for name in dir(dtype.Layout) if not name.startswith("_")}
    assert public == {name for name in classes["Layout"] if not name.startswith("_")}
    for name, stub in functions.items():
        if name in dtype.__all__ and name != "records":
            arguments = [one.arg for one in stub.args.args + stub.args.kwonlyargs]
            assert arguments == list(inspect.signature(getattr(dtype, name)).parameters), name
    for kind in (dtype.Connection, dtype.AsyncConnection):
        assert {name for name in vars(kind) if not name.startswith("_")} <= classes[kind.__name__]
