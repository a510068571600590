"""On which Linux a program runs: the tag of a wheel's platform, by the versions of symbols that its ELF file needs."""

import struct
import sys
from pathlib import Path

MACHINES = {62: "x86_64", 183: "aarch64"}
# What every glibc system has, by PEP 600; libgcc_s.so.1 up to the versions of manylinux2014.
LIBRARIES = {
    "ld-linux-aarch64.so.1", "ld-linux-x86-64.so.2", "libc.so.6", "libdl.so.2", "libgcc_s.so.1", "libm.so.6",
    "libpthread.so.0", "librt.so.1",
}
GCC = (4, 8, 0)
DYNAMIC, VERSIONS_NEEDED = 6, 0x6FFFFFFE
NEEDED, WEAK = 1, 2


class Elf:
    """A 64-bit file of little-endian order: its dynamic libraries, and the versions that it needs of their symbols."""

    def __init__(self, path):
        self._file = Path(path).read_bytes()
        if self._file[:6] != b"\x7fELF\x02\x01":
            sys.exit(f"{path} is no 64-bit ELF file: only wheels for Linux are written")
        (self.machine,) = struct.unpack_from("<H", self._file, 18)
        (table,) = struct.unpack_from("<Q", self._file, 40)
        size, number, _ = struct.unpack_from("<HHH", self._file, 58)
        # Name, kind, flags, address, offset, size, link, info, alignment, size of an entry.
        self._sections = [struct.unpack_from("<IIQQQQIIQQ", self._file, table + size * each) for each in range(number)]

    def _of_kind(self, kind):
        """The sections of a kind: where each begins and ends, and where its names are."""
        return [(it[4], it[4] + it[5], self._sections[it[6]][4]) for it in self._sections if it[1] == kind]

    def _name(self, at):
        return self._file[at : self._file.index(b"\0", at)].decode()

    def libraries(self):
        entries = (
            (*struct.unpack_from("<qQ", self._file, at), names)
            for begin, end, names in self._of_kind(DYNAMIC)
            for at in range(begin, end, 16)
        )
        return {self._name(names + value) for tag, value, names in entries if tag == NEEDED}

    def versions(self):
        """The versions without which the program does not start, such as `GLIBC_2.28`."""
        found = set()
        for library, _, names in self._of_kind(VERSIONS_NEEDED):
            more = 1
            while more:
                _, number, _, first, more = struct.unpack_from("<HHIII", self._file, library)
                version = library + first
                for _ in range(number):
                    _, flags, _, name, after = struct.unpack_from("<IHHII", self._file, version)
                    if not flags & WEAK:
                        found.add(self._name(names + name))
                    version += after
                library += more
        return found


def platform(path):
    """`manylinux_2_28_x86_64`; `linux_x86_64`, of no other machine than this one, if it needs more than glibc."""
    elf = Elf(path)
    machine = MACHINES.get(elf.machine) or sys.exit(f"{path} is for a machine that has no tag: {elf.machine}")
    versions = {"GLIBC": (2, 17), "GCC": (0,)}
    unknown = elf.libraries() - LIBRARIES
    for each in elf.versions():
        name, _, number = each.rpartition("_")
        if name not in versions or not number[0].isdigit():
            unknown.add(each)
        else:
            versions[name] = max(versions[name], tuple(map(int, number.split("."))))
    if unknown or versions["GCC"] > GCC:
        print(f"{path} needs more than glibc: {', '.join(sorted(unknown)) or versions['GCC']}", file=sys.stderr)
        return f"linux_{machine}"
    return f"manylinux_{versions['GLIBC'][0]}_{versions['GLIBC'][1]}_{machine}"


if __name__ == "__main__":
    print(platform(sys.argv[1]))
