"""What installed packages add: each by its entry point; one that fails stops nobody else."""

import pytest

from tstbench.plugins import outside

GROUP = "tstbench.systems"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Packages as pip leaves them: a module, and a ``dist-info`` with its entry points."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def install(package, body, **points):
        (tmp_path / f"{package}.py").write_text(body)
        about = tmp_path / f"{package}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = [f"{name} = {package}:{value}" for name, value in points.items()]
        (about / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *lines]) + "\n")

    outside.cache_clear()
    yield install
    outside.cache_clear()


def test_of_two_packages_with_one_name_the_first_by_name_wins_and_the_other_is_told(
    installed, capsys
):
    for package in ("tst_zeta", "tst_alpha", "tst_mid"):  # in whatever order they are found
        installed(package, f"THING = {package!r}\n", same="THING", **{package: "THING"})
    found = outside(GROUP)
    assert found["same"] == "tst_alpha"
    assert {found[name] for name in ("tst_zeta", "tst_alpha", "tst_mid")} == {
        "tst_zeta",
        "tst_alpha",
        "tst_mid",
    }
    said = capsys.readouterr().err
    for package in ("tst_zeta", "tst_mid"):
        assert f"{package} is left out: {GROUP} already has 'same'" in said
    assert "tst_alpha is left out" not in said


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("import not_there_at_all\n", "ModuleNotFoundError: No module named 'not_there_at_all'"),
        ("raise ValueError('no such setting')\n", "ValueError: no such setting"),
        ("raise SystemExit(3)\n", "SystemExit: 3"),
        ("def broken(:\n", "SyntaxError"),
        ("OTHER = 1\n", "AttributeError"),
    ],
)
def test_what_cannot_be_imported_is_told_and_left_out(installed, capsys, body, told):
    installed("tst_broken", body, broken="THING")
    installed("tst_whole", "THING = 7\n", whole="THING")
    found = outside(GROUP)
    assert "broken" not in found
    assert found["whole"] == 7
    assert f"'broken' of tst_broken is left out: {told}" in capsys.readouterr().err
