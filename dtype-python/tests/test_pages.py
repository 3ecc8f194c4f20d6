"""What the pages show runs and prints what they say: the package's page, the book's chapter, and the notebook."""

import doctest
import json
import pathlib
import re
import shutil
import subprocess
import sys

import dtype
import pytest

HERE = pathlib.Path(__file__).parents[1]
PAGES = [HERE / "README.md", HERE.parent / "docs/src/from-python.md"]
NOTEBOOK = HERE / "example.ipynb"


def run(examples):
    """Runs parsed examples in their namespace, which keeps what they define."""
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    report = []
    result = runner.run(examples, out=report.append, clear_globs=False)
    assert result.failed == 0, "".join(report)
    return result.attempted


def blocks(page):
    """The code blocks of a page, with their languages and their lines."""
    text = page.read_text("utf-8")
    for block in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S):
        yield block[1], block[2], text.count("\n", 0, block.start())


def is_for_ranks(code):
    return "mpi4py" in code


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": page.name}
    ran = 0
    for language, code, line in blocks(page):
        if language == "pycon":
            session = doctest.DocTestParser().get_doctest(code, {}, page.name, str(page), line)
            session.globs = names
            ran += run(session)
            continue
        if language != "python" or is_for_ranks(code):
            continue
        if re.search("pyarrow|polars|pandas", code):
            pytest.importorskip("pyarrow")
            pytest.importorskip("pandas")
        exec(compile("\n" * (line + 1) + code, str(page), "exec"), names)
        ran += 1
    assert ran > 5


def test_the_picture_of_the_chapter_is_that_of_the_notebook():
    reading = [("station", "<u4"), ("time", "<M8[ms]"), ("temperature", "<f4"), ("valid", "?")]
    picture = HERE.parent / "docs/src/images/reading.svg"
    assert dtype.Layout(reading).aligned()._repr_html_() == picture.read_text("utf-8")


def test_ranks(tmp_path):
    pytest.importorskip("mpi4py")
    launcher = shutil.which("mpiexec", path=str(pathlib.Path(sys.executable).parent))
    if launcher is None:
        pytest.skip("no mpiexec beside this Python")
    programs = [code for language, code, _ in blocks(PAGES[1]) if language == "python" and is_for_ranks(code)]
    assert programs
    for program in programs:
        (tmp_path / "program.py").write_text(program, "utf-8")
        command = [launcher, "-n", "2", sys.executable, "-m", "mpi4py", "program.py"]
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        assert "arrived" in ended.stdout


def shown(cell):
    """What a cell of the notebook shows, as text."""
    outputs = []
    for output in cell.get("outputs", []):
        assert output["output_type"] != "error", output
        text = output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"]
        outputs.append("".join(text))
    return outputs


def test_notebook(tmp_path):
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    import nbclient
    import nbformat

    notebook = nbformat.read(NOTEBOOK, as_version=4)
    before = [shown(cell) for cell in json.loads(NOTEBOOK.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    after = [shown(cell) for cell in notebook.cells if cell.cell_type == "code"]
    # Run `jupyter nbconvert --to notebook --execute --inplace example.ipynb` after a change.
    assert after == before and any(before)
