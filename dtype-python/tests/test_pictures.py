"""What a layout looks like."""

import xml.etree.ElementTree as ET

import dtype
import numpy as np
import pytest
from dtypes import dtypes
from hypothesis import given

KIND = np.dtype([("id", "u1"), ("at", [("x", "<f4"), ("y", "<f4")], 2), ("t", "<M8[ns]")], align=True)


def test_text():
    text = repr(dtype.Layout(KIND))
    print(text)
    assert "size 25" in text and "extent 32" in text
    rows = {line.split()[1]: line.split() for line in text.splitlines() if len(line.split()) >= 5}
    assert rows["id"][3] == "0" and rows["t"][3] == "24"
    assert rows["at[].x"][2] == "f32" and rows["at[].y"][2] == "f32"


@given(dtypes())
def test_every_layout_has_a_picture(kind):
    layout = dtype.Layout(kind)
    assert repr(layout)
    for svg in [layout._repr_html_(), layout.svg("light"), layout.svg("dark")]:
        assert svg.startswith("<svg ")
        ET.fromstring(svg)


def test_svg():
    layout = dtype.Layout(KIND)
    assert "prefers-color-scheme" in layout._repr_html_()
    assert "prefers-color-scheme" not in layout.svg("dark")
    assert layout.svg("dark") != layout.svg("light")
    assert "at[].x" in layout.svg()
    with pytest.raises(ValueError, match='theme is "blue", expected "auto"'):
        layout.svg("blue")
