"""Maps the rooms, which are top-level folders here, to the packages ``tstbench.<room>``."""

from setuptools import find_namespace_packages, setup

ROOMS = ("datasets_scripts", "metrics", "trainers", "pipelines", "spaces")

packages = ["tstbench"]
for room in ROOMS:
    inner = (f"tstbench.{room}.{name}" for name in find_namespace_packages(room))
    packages += [f"tstbench.{room}", *inner]

setup(
    packages=packages,
    package_dir={"tstbench": "tstbench", **{f"tstbench.{room}": room for room in ROOMS}},
)
