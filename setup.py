"""The repository's root is the package ``tstbench``, and its folders are the packages below it."""

from setuptools import find_namespace_packages, setup
from setuptools.command.build_py import build_py

ROOMS = ("chat", "datasets_scripts", "metrics", "trainers", "pipelines", "spaces", "commands")


class BuildPy(build_py):
    """Leaves this script, which is in the package's folder, out of the package."""

    def find_package_modules(self, package, package_dir):  # noqa: D102
        found = super().find_package_modules(package, package_dir)
        return [module for module in found if module[:2] != ("tstbench", "setup")]


inside = [name for name in find_namespace_packages() if name.split(".")[0] in ROOMS]
setup(
    packages=["tstbench", *(f"tstbench.{name}" for name in inside)],
    package_dir={"tstbench": "."},
    cmdclass={"build_py": BuildPy},
)
