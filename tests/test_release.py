"""The published package: one version, and the same dependencies wherever they are written down."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
RECIPE = (ROOT / ".github" / "conda" / "recipe.yaml").read_text("utf-8")


@pytest.mark.parametrize(
    ("file", "written"),
    [
        ("CITATION.cff", r"^version: (.+)$"),
        (".github/conda/recipe.yaml", r'^  version: "(.+)"$'),
        ("CHANGELOG.md", r"^## (\d.*)$"),
    ],
)
def test_every_file_names_the_version_of_the_project(file, written):
    text = (ROOT / file).read_text("utf-8")
    assert re.findall(written, text, re.MULTILINE)[0] == PROJECT["version"]


def test_the_recipe_has_the_lowest_versions_of_the_project():
    run = [
        line.strip("- ").replace(" ", "") for line in RECIPE.partition("  run:\n")[2].partition("\n\n")[0].splitlines()
    ]
    assert run == ["python>=${{python_min}}", *PROJECT["dependencies"]]
    assert f'python_min: "{PROJECT["requires-python"].removeprefix(">=")}"' in RECIPE


def test_the_recipe_installs_the_command_of_the_project():
    ((command, function),) = PROJECT["scripts"].items()
    assert f"- {command} = {function}\n" in RECIPE


def test_no_heading_of_the_changelog_is_there_twice_in_a_version():
    for version in re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE)[1:]:
        headings = re.findall(r"^### (.+)$", version, re.MULTILINE)
        assert len(headings) == len(set(headings))


def test_all_has_what_every_extra_for_users_has():
    extras = PROJECT["optional-dependencies"]
    (everything,) = extras["all"]
    listed = set(re.search(r"\[(.+)\]", everything)[1].split(","))
    assert listed == extras.keys() - {"all", "spark", "test", "lint", "bench", "docs"}
