#!/usr/bin/env bash
# hidden.sh: what the tool of the wheel, which is in /mnt, says on a system without an MPI library: the exit status of
# each command, and then its one line.

set -euo pipefail
find / -xdev \( -name 'libmpi*.so*' -o -name 'mpirun*' -o -name 'mpiexec*' \) -type f,l -not -path '/proc/*' \
    -not -path '/mnt/*' -delete
python3 -m venv hidden
hidden/bin/pip install --quiet --disable-pip-version-check --no-index /mnt/*.whl
for command in "run mpiexec -n 4 python app.py" "check mpiexec -n 4 python app.py" "bench"; do
    status=0
    # Its words are meant to be split.
    # shellcheck disable=SC2086
    said=$(hidden/bin/rondo $command 2>&1) || status=$?
    echo "$command: $status: $said"
done
