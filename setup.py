"""The repository's root is the package ``tstbench``, and its folders are the packages below it."""

from pathlib import Path

from setuptools import find_namespace_packages, setup
from setuptools.command.build_py import build_py
from setuptools.command.editable_wheel import editable_wheel

ROOMS = (
    "plots",
    "chat",
    "datasets_scripts",
    "metrics",
    "trainers",
    "pipelines",
    "spaces",
    "commands",
)


class BuildPy(build_py):
    """Leaves this script, which is in the package's folder, out of the package."""

    def find_package_modules(self, package, package_dir):  # noqa: D102
        found = super().find_package_modules(package, package_dir)
        return [module for module in found if module[:2] != ("tstbench", "setup")]


class EditableWheel(editable_wheel):
    """An editable install by a plain path, which type checkers and editors follow.

    The path is a folder with one link, ``tstbench``, to the root. Where no link can be made,
    setuptools installs a finder, which only Python follows.
    """

    def finalize_options(self):  # noqa: D102
        super().finalize_options()
        link = Path(".editable/tstbench")
        try:
            link.parent.mkdir(exist_ok=True)
            if not link.is_symlink():
                link.symlink_to("..", target_is_directory=True)
        except OSError:
            return
        self.package_dir = {"": str(link.parent)}


inside = [name for name in find_namespace_packages() if name.split(".")[0] in ROOMS]
setup(
    packages=["tstbench", *(f"tstbench.{name}" for name in inside)],
    package_dir={"tstbench": "."},
    cmdclass={"build_py": BuildPy, "editable_wheel": EditableWheel},
)
