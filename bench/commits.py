"""Other versions of this project, to be measured beside this one."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def tree_of(commit):
    """The folder in which a commit is built, with its sources."""
    name = subprocess.check_output(["git", "rev-parse", commit + "^{commit}"], cwd=ROOT, text=True).strip()
    tree = ROOT / "build/against" / name
    if not tree.exists():
        new = ROOT / "build/against" / (name + ".new")
        (new / "build").mkdir(parents=True)
        sources = subprocess.check_output(["git", "archive", name], cwd=ROOT)
        subprocess.run(["tar", "-x"], cwd=new, input=sources, check=True)
        # scripts/build begins with a copy of the packages that are compiled in another folder of build/.
        (new / "build/packages").symlink_to("../../../openmpi")
        new.rename(tree)
    return tree
