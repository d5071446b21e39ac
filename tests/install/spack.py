"""spack.py RECIPE PREFIX MPICC: builds and installs by a recipe, as Spack does, with as much of Spack as recipes use.

It stands for both generations: build systems were part of spack.package before Spack 1.0, and are packages of their own
since. The recipe must load with either.
"""

import glob
import os
import subprocess
import sys
import types

recipe, prefix, mpicc = sys.argv[1:]


class Environment:
    """What a recipe changes in the environment of a build, or of its users."""

    def __init__(self):
        self.variables = {}

    def set(self, name, value):
        self.variables[name] = value


class Prefix(str):
    """The folder of a package; its attributes are folders in it."""

    def __getattr__(self, name):
        return Prefix(os.path.join(self, name))


def make(*arguments):
    subprocess.run(["make", *arguments], check=True)


class MakefilePackage:
    """The phases of a package with a makefile, and what they do unless the recipe says something else."""

    build_targets = []
    phases = ["edit", "build", "install"]

    def edit(self, spec, prefix):
        pass

    def build(self, spec, prefix):
        make(*self.build_targets)

    def install(self, spec, prefix):
        make("install")

    def setup_build_environment(self, env):
        pass

    def setup_run_environment(self, env):
        pass


directives = {}


def directive(name):
    def remember(*arguments, **options):
        directives.setdefault(name, []).append((arguments, options))

    return remember


def modules(generation):
    """Puts the modules of Spack in place and forgets what another generation had."""
    for name in [name for name in sys.modules if name.split(".")[0] in ("spack", "spack_repo")]:
        del sys.modules[name]
    package = types.ModuleType("spack.package")
    for name in ("version", "depends_on", "license", "variant", "conflicts", "maintainers"):
        setattr(package, name, directive(name))
    package.make, package.env, package.join_path = make, os.environ, os.path.join
    sys.modules["spack"], sys.modules["spack.package"] = types.ModuleType("spack"), package
    if generation == "0.23":
        package.MakefilePackage = MakefilePackage
        return
    name = "spack_repo"
    for part in ("builtin", "build_systems", "makefile"):
        sys.modules[name] = types.ModuleType(name)
        name += "." + part
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].MakefilePackage = MakefilePackage


def load(generation):
    modules(generation)
    directives.clear()
    names = {"__name__": "recipe"}
    with open(recipe, encoding="utf-8") as file:
        exec(compile(file.read(), recipe, "exec"), names)
    return names["Rondo"]


for generation in ("0.23", "1.0"):
    package = load(generation)()
    package.prefix = Prefix(prefix)
    mpi = types.SimpleNamespace(mpicc=mpicc)
    llvm = types.SimpleNamespace(prefix=Prefix(sorted(glob.glob("/usr/lib/llvm-*"))[-1]))
    package.spec = {"mpi": mpi, "llvm": llvm}
    needed = {arguments[0].split("@")[0].split("+")[0] for arguments, _ in directives["depends_on"]}
    assert {"mpi", "rust", "llvm", "c"} <= needed, needed
    assert directives["version"] and directives["license"] == [(("BSD-3-Clause",), {})], directives

build, user = Environment(), Environment()
package.setup_build_environment(build)
# It is not set for the build here: cargo would build everything anew for it.
assert glob.glob(build.variables["LIBCLANG_PATH"] + "/libclang*.so*"), build.variables
for phase in package.phases:
    getattr(package, phase)(package.spec, package.prefix)
package.setup_run_environment(user)
for name, value in user.variables.items():
    print(f"{name}={value}", flush=True)
