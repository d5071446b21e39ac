#!/usr/bin/env bash
# clean.sh FOLDER COMMAND...: runs a command, as root, in a copy of this system. FOLDER is /mnt there, and this
# project's folder is empty. What the command changes, and what it leaves running, is gone afterwards.

set -euo pipefail
export PROJECT=${PROJECT:-$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)}
if [[ ${1:-} != --inside ]]; then
    exec unshare --mount --pid --fork --kill-child bash "${BASH_SOURCE[0]}" --inside "$@"
fi
folder=$2
shift 2
mount --make-rprivate /
at=$(mktemp -d)
mount -t tmpfs -o mode=755 none "$at"
mkdir "$at/upper" "$at/work" "$at/root"
mount -t overlay -o "lowerdir=/,upperdir=$at/upper,workdir=$at/work" none "$at/root"
mount --bind "$folder" "$at/root/mnt"
mount -t tmpfs none "$at/root$PROJECT"
mount -t proc none "$at/root/proc"
mount --rbind /sys "$at/root/sys"
mount --rbind /dev "$at/root/dev"
chroot "$at/root" /usr/bin/env -C /tmp -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root "$@"
