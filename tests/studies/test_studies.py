"""What every study keeps: its files, an answer in canonical form, a README and pictures drawn from that answer."""

from __future__ import annotations

import json
import re

import pytest

from perfmodel.errors import ModelError
from studies._base import Study, all_studies, as_text, filled, rounded

SECTIONS = ("## Question", "## Inputs", "## Method", "## Answer", "## What it does not claim")


@pytest.fixture(params=sorted(all_studies()))
def study(request: pytest.FixtureRequest) -> Study:
    return all_studies()[request.param]


def test_studies_are_found() -> None:
    assert {"lgnnic_leave_one_out", "offload_pays", "real_graphs"} <= set(all_studies())


def test_folder_is_whole(study: Study) -> None:
    for name in ("README.md", "answer.json", "study.py", "__main__.py", "__init__.py"):
        assert (study.folder / name).is_file(), name


def test_readme_has_the_sections_in_order(study: Study) -> None:
    headings = re.findall(r"^## .*$", (study.folder / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert tuple(headings) == SECTIONS


def test_readme_says_how_to_run_it_again(study: Study) -> None:
    assert f"python -m studies.{study.name}" in (study.folder / "README.md").read_text(encoding="utf-8")


def test_answer_is_canonical(study: Study) -> None:
    text = (study.folder / "answer.json").read_text(encoding="utf-8")
    answer = json.loads(text)
    assert text == as_text(answer)
    assert answer == rounded(answer)


def test_readme_shows_the_answer(study: Study) -> None:
    assert study.readme(study.answer()) == (study.folder / "README.md").read_text(encoding="utf-8")


def test_pictures_show_the_answer(study: Study) -> None:
    for name, text in study.pictures(study.answer()).items():
        assert (study.folder / name).read_text(encoding="utf-8") == text


def test_no_path_of_a_machine(study: Study) -> None:
    for path in study.folder.iterdir():
        if path.is_file():
            assert not re.search(r"/(work|tmp|home|root)/", path.read_text(encoding="utf-8")), path.name


def test_filled_needs_a_mark_for_every_table() -> None:
    readme = "<!-- table a -->\nold\n<!-- end -->\n"
    assert filled(readme, {"a": "new"}) == "<!-- table a -->\nnew\n<!-- end -->\n"
    with pytest.raises(ModelError, match="marks"):
        filled(readme, {"b": "new"})
