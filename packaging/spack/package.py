from spack.package import *

try:  # Spack 1.0 has it beside its recipes
    from spack_repo.builtin.build_systems.makefile import MakefilePackage
except ImportError:  # before, it is in spack.package
    pass


class Rondo(MakefilePackage):
    """Rondo is preloaded under unchanged MPI programs, C or Fortran, and carries out their broadcasts, allgathers,
    gathers, scatters, reductions, alltoalls and barriers, where its rules or its measurements find that faster."""

    license("BSD-3-Clause")

    # A checkout of the project, or what is in the archive of `make dist`: spack develop -p PATH rondo@main
    version("main")

    depends_on("c", type="build")
    depends_on("rust@1.89:", type="build")
    depends_on("llvm+clang", type="build")  # libclang, for the bindings of mpi.h
    depends_on("mpi@3:")

    build_targets = ["-o", "setup-build", "build"]

    def setup_build_environment(self, env):
        env.set("LIBCLANG_PATH", self.spec["llvm"].prefix.lib)

    def edit(self, spec, prefix):
        env["MPICC"] = spec["mpi"].mpicc
        env["PREFIX"] = prefix

    def install(self, spec, prefix):
        make("install")

    def setup_run_environment(self, env):
        env.set("LIBRONDO", join_path(self.prefix.lib, "librondo.so"))
