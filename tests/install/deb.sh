#!/usr/bin/env bash
# deb.sh: what can be done with the package, on a system that has nothing else of Rondo. The files are in /mnt. One line
# is printed for each way by which a program came under Rondo.

set -euo pipefail
! command -v rondo || { echo "there is a rondo already" >&2; exit 1; }
dpkg --install /mnt/*.deb >install.log
libdir=/usr/lib/$(cc -print-multiarch)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export RONDO_BCAST=circulant RONDO_STATS=json

# counted WAY COMMAND...: Rondo's counter is in what the command writes.
counted() {
    local way=$1 output
    shift
    output=$(timeout -k 5 60 "$@" 2>&1) || { echo "$way: $* ends with status $?: $output" >&2; return 1; }
    grep -qF '"collective":"bcast","algorithm":"circulant"' <<<"$output" ||
        { echo "$way: Rondo was not at work: $output" >&2; return 1; }
    echo "counted: $way"
}

# Open MPI's mpirun hands only its own variables on by itself.
variables=(-x RONDO_BCAST -x RONDO_STATS)
for mpi in openmpi mpich; do
    [[ $mpi == openmpi ]] || variables=()
    launch=("mpirun.$mpi" -np 3)
    flags=$(pkg-config --cflags --libs "rondo-$mpi")
    # Flags are words.
    # shellcheck disable=SC2086
    "mpicc.$mpi" /mnt/filecast.c $flags -o "found-$mpi"
    counted "pkg-config, $mpi" "${launch[@]}" "${variables[@]}" "./found-$mpi" /mnt/filecast.c

    config=$libdir/rondo/$mpi/cmake/Rondo
    cmake -S /mnt -B "build-$mpi" "-DCMAKE_C_COMPILER=mpicc.$mpi" "-DRondo_DIR=$config" >cmake.log
    cmake --build "build-$mpi" >>cmake.log
    counted "CMake, $mpi" "${launch[@]}" "${variables[@]}" "./build-$mpi/filecast" /mnt/filecast.c

    "mpicc.$mpi" -I/usr/include /mnt/filecast.c -o "plain-$mpi"
    counted "rondo run, $mpi" rondo run "${launch[@]}" "./plain-$mpi" /mnt/filecast.c
    counted "for every MPI, $mpi" rondo run --lib "$libdir/rondo/librondo.so" "${launch[@]}" "./plain-$mpi" \
        /mnt/filecast.c
done
# There is no compiler wrapper here for the standard's ABI: what pkg-config says of it is a folder with a library.
standard=$(pkg-config --variable=libdir rondo-standard)
[[ $standard == "$libdir/rondo/standard" && $(pkg-config --libs rondo-standard) == *"-L$standard"*-lrondo* ]]
grep -q ' T MPI_Bcast_c$' <<<"$(nm -D --defined-only "$standard/librondo.so")"

# Without being told where it is.
cmake -S /mnt -B build -DCMAKE_C_COMPILER=mpicc.openmpi >cmake.log
[[ $(pkg-config --variable=libdir rondo) == "$libdir/rondo/openmpi" ]]

# What `man` would show; it may not be here itself.
for page in man1/rondo.1 man1/rondo-mpich.1 man1/rondo-check.1 man7/librondo.7; do
    zcat "/usr/share/man/$page.gz" | groff -man -Tascii -P-cbou >page
    grep -q '^NAME' page || { echo "$page is no manual page" >&2; exit 1; }
    echo "manual: $page"
done

dpkg --verify rondo
dpkg --listfiles rondo | while read -r file; do [[ -d $file ]] || echo "$file"; done >files
dpkg --purge rondo >purge.log
while read -r file; do
    [[ ! -e $file && ! -L $file ]] || { echo "$file is left" >&2; exit 1; }
done <files
echo "$(wc -l <files) files came and went"
