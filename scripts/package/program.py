"""Builds the program: as cargo does, or optimised by what the calls of training.py go through (profile-guided
optimisation), which takes two builds. `python scripts/package/program.py` does the latter with the profile `dist`, and
prints where the program is.

What calls go through is read by the `llvm-profdata` of rustc's LLVM: `rustup component add llvm-tools`, or a package such
as llvm-22. The calls need what the stubs of the SDK need (scripts/sdk_stubs.py).
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# How often the function that is run most often is run at least, if the calls are counted.
FEWEST = 100_000
sys.path.insert(0, str(ROOT / "scripts"))

import sdk_stubs  # noqa: E402


def build(profile, glibc=None, *, flags=(), options=()):
    """Where the program of a profile is. With flags, for rustc, that of a target of its own."""
    command = ["cargo", "rustc", "--locked", "--profile", profile, "--package", "toolwire", "--bin", "toolwire", *options]
    environment = {**os.environ, "TOOLWIRE_GLIBC": glibc or ""}
    folder = target()
    if flags:
        # With a target, they are not those of build scripts and macros.
        command += ["--target", rustc("host")]
        folder /= rustc("host")
        environment["CARGO_ENCODED_RUSTFLAGS"] = "\x1f".join([*os.environ.get("RUSTFLAGS", "").split(), *flags])
    if glibc:
        # Of the program alone: nothing else that is built already is linked anew.
        command += ["--", "-C", f"linker={ROOT / 'scripts/package/zigcc'}"]
    subprocess.run(command, cwd=ROOT, check=True, env=environment)
    return folder / {"dev": "debug"}.get(profile, profile) / "toolwire"


def build_by_counts(profile, glibc=None):
    tool = profdata()
    folder = target() / "training"
    shutil.rmtree(folder, ignore_errors=True)
    # Counted in each crate as it is compiled, before functions of several are made into one.
    options = ["--config", f'profile.{profile}.lto="off"']
    train(build(profile, flags=[f"-Cprofile-generate={folder}"], options=options))
    merged = folder / "counts.profdata"
    subprocess.run([tool, "merge", "-o", merged, *folder.glob("*.profraw")], check=True)
    shown = subprocess.run([tool, "show", merged], capture_output=True, text=True, check=True).stdout
    # A server that is killed writes none; `toolwire --version` does.
    if int(re.search(r"^Maximum function count: (\d+)$", shown, re.MULTILINE)[1]) < FEWEST:
        sys.exit("the program counted too few calls: its server did not end by itself")
    # Cargo compiles dependencies anew for other flags, not for other counts.
    counts = merged.with_stem(f"counts-{hashlib.sha256(merged.read_bytes()).hexdigest()[:12]}")
    merged.rename(counts)
    flags = [f"-Cprofile-use={counts}"]
    if not glibc:
        # The functions that calls go through stand side by side. Zig's linker does not take this.
        flags.append("-Clink-arg=-Wl,-z,keep-text-section-prefix")
    return build(profile, glibc, flags=flags)


def train(program):
    with tempfile.TemporaryDirectory() as folder:
        others = shutil.ignore_patterns("_bin")
        package = shutil.copytree(ROOT / "sdk/python/toolwire", Path(folder) / "toolwire", ignore=others)
        sdk_stubs.main(package / "_stubs")
        environment = {**os.environ, "PYTHONPATH": folder, "TOOLWIRE_BINARY": str(program)}
        with open(Path(folder) / "log", "w+") as log:
            calls = [sys.executable, ROOT / "scripts/package/training.py"]
            if subprocess.run(calls, env=environment, stderr=log).returncode:
                log.seek(0)
                sys.exit(f"the calls failed:\n{log.read()[-4000:]}")


def target():
    return ROOT / (os.environ.get("CARGO_TARGET_DIR") or "target")


def rustc(what):
    version = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    return re.search(f"^{what}: (.*)$", version, re.MULTILINE)[1]


def profdata():
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, check=True).stdout.strip()
    major = rustc("LLVM version").partition(".")[0]
    for name in (f"{sysroot}/lib/rustlib/{rustc('host')}/bin/llvm-profdata", f"llvm-profdata-{major}"):
        if found := shutil.which(name):
            return found
    sys.exit(f"no llvm-profdata of LLVM {major}: `rustup component add llvm-tools`, or install the package llvm-{major}")


if __name__ == "__main__":
    print(build_by_counts("dist"))
