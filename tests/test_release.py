"""The published package: one version, and the same dependencies wherever they are written down."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from polars_ir import version

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
    for section in re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE)[1:]:
        headings = re.findall(r"^### (.+)$", section, re.MULTILINE)
        assert len(headings) == len(set(headings))


def test_all_has_what_every_extra_for_users_has():
    extras = PROJECT["optional-dependencies"]
    (everything,) = extras["all"]
    listed = set(re.search(r"\[(.+)\]", everything)[1].split(","))
    assert listed == extras.keys() - {"all", "spark", "test", "lint", "bench", "docs"}


REPOSITORY = PROJECT["urls"]["Repository"].removeprefix("https://github.com/")


def test_all_addresses_of_the_project_are_of_one_repository():
    owner, name = REPOSITORY.split("/")
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    assert set(re.findall(r"(?:github|githubusercontent)\.com/([\w-]+/\w+)", text)) == {REPOSITORY}
    assert PROJECT["urls"]["Documentation"] == f"https://{owner}.github.io/{name}/"


def test_links_and_pictures_of_the_readme_lead_somewhere_from_a_package_index():
    hook = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["metadata"]["hooks"]
    readme = (ROOT / "README.md").read_text("utf-8")
    for each in hook["fancy-pypi-readme"]["substitutions"]:
        readme = re.sub(each["pattern"], each["replacement"], readme)
    links = re.findall(r"(!?)\[[^\]]*\]\(([^)]+)\)", readme)
    assert all(link.startswith("https://") for _, link in links)
    assert {"raw.githubusercontent.com" in link for picture, link in links if picture} == {True}


@pytest.mark.parametrize(
    ("origin", "wanted"),
    [
        (None, "'polars_ir[plot]'"),
        ({"url": "{here}", "dir_info": {"editable": True}}, "-e '{folder}[plot]'"),
        ({"url": "{here}", "dir_info": {}}, "'{folder}[plot]'"),
        ({"url": "{here}/gone", "dir_info": {}}, "'polars_ir[plot]'"),
        (
            {"url": "https://x.org/a.git", "vcs_info": {"vcs": "git", "commit_id": "1a2b"}},
            "'polars_ir[plot] @ git+https://x.org/a.git@1a2b'",
        ),
        ({"url": "https://x.org/a.whl", "archive_info": {}}, "'polars_ir[plot] @ https://x.org/a.whl'"),
        ({"url": "file:///gone.whl", "archive_info": {}}, "'polars_ir[plot]'"),
    ],
)
def test_an_extra_is_installed_from_where_the_package_came(origin, wanted, tmp_path, monkeypatch):
    folder = tmp_path / "a checkout"
    folder.mkdir()

    class Installed:
        def read_text(self, _name: str) -> str | None:
            return origin and json.dumps(origin).replace("{here}", folder.as_uri())

    monkeypatch.setattr(version, "distribution", lambda _name: Installed())
    assert version.requirement("plot") == wanted.format(folder=folder)
