"""The shape of the tree: who imports whom, what is pure, how large things are, and what no file may hold."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("protocol", "supervisor", "subagent")
MAY_IMPORT = {"protocol": set(), "supervisor": {"protocol"}, "subagent": {"protocol"}}

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
SHAPELESS_NAMES = {"utils", "util", "helpers", "helper", "manager", "common", "misc"}
MACHINE_PATH = re.compile(r"(?<!\w)(/work/|/root/|/home/[a-z]|/tmp/(?!covey)[a-z])")

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
PURITY = next(c for c in SETTINGS["tool"]["importlinter"]["contracts"] if c["id"] == "pure")


def modules(*packages: str) -> list[Path]:
    return sorted(path for package in packages for path in (ROOT / package).rglob("*.py"))


def imported_by(path: Path) -> Iterator[str]:
    """The full names that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.relative_to(ROOT)} imports relatively"
            yield node.module or ""


def pure_files() -> list[Path]:
    named = (ROOT / name.replace(".", "/") for name in PURITY["source_modules"])
    return [
        file for path in named for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")])
    ]


def committed_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, capture_output=True, text=True, timeout=20, check=False,
    )  # fmt: skip
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_imports_only_what_it_may(package: str):
    forbidden = set(PACKAGES) - MAY_IMPORT[package] - {package}
    strays = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in modules(package)
        for name in imported_by(path)
        if name.partition(".")[0] in forbidden
    ]
    assert strays == []


def test_a_pure_module_imports_no_clock_thread_file_or_chance():
    strays = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in pure_files()
        for name in imported_by(path)
        if name.partition(".")[0] in PURITY["forbidden_modules"]
    ]
    assert strays == []


def test_every_module_that_the_purity_contract_names_exists():
    assert [str(path.relative_to(ROOT)) for path in pure_files() if not path.is_file()] == []


def test_every_test_file_mirrors_a_module_or_a_folder():
    orphans = []
    for package in PACKAGES:
        for test in (ROOT / "tests" / package).rglob("test_*.py"):
            subject = ROOT / test.relative_to(ROOT / "tests").parent / test.stem.removeprefix("test_")
            if not subject.with_suffix(".py").is_file() and not subject.is_dir():
                orphans.append(str(test.relative_to(ROOT)))
    assert orphans == []


def test_no_file_is_longer_than_a_reader_can_hold():
    long = {
        str(p.relative_to(ROOT)): n
        for p in modules(*PACKAGES)
        if (n := len(p.read_text().splitlines())) > MAX_FILE_LINES
    }
    assert long == {}


def test_no_function_is_longer_than_a_screen():
    long = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in modules(*PACKAGES)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno >= MAX_FUNCTION_LINES
    ]
    assert long == []


def test_no_module_has_a_name_that_says_nothing():
    assert [str(path.relative_to(ROOT)) for path in modules(*PACKAGES) if path.stem in SHAPELESS_NAMES] == []


def test_no_committed_file_holds_a_path_of_somebodys_machine():
    strays = []
    for path in committed_files():
        if path == Path(__file__).resolve():
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if MACHINE_PATH.search(line):
                strays.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}")
    assert strays == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_in_the_code_map_exists(package: str):
    page = (ROOT / "docs" / "architecture.md").read_text()
    section = page.partition(f"### {package}\n")[2].partition("\n#")[0]
    named = {name.rstrip("/") for name in re.findall(r"`([a-z_]+/?)`", section)}
    existing = {path.stem for path in modules(package)} | {path.parent.name for path in modules(package)} | {"vectors"}
    assert named
    assert named - existing == set()
