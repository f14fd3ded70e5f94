"""Prints one line per sample from the output of `samtools flagstat` and `samtools stats`."""

import pathlib
import sys


def read_flagstat(path):
    """Returns the number of mapped reads, from "N + M mapped (...)"."""
    for line in path.read_text().splitlines():
        if " mapped (" in line and "primary" not in line:
            return int(line.split()[0])
    raise ValueError(f"{path}: no line of mapped reads")


def read_stats(path):
    """Returns the summary numbers, from "SN<tab>name:<tab>value"."""
    numbers = {}
    for line in path.read_text().splitlines():
        if line.startswith("SN\t"):
            name, value = line.split("\t")[1:3]
            numbers[name.rstrip(":")] = value
    return numbers


def main():
    samples = {}
    for path in map(pathlib.Path, sys.argv[1:]):
        samples.setdefault(path.stem, {})[path.suffix] = path
    print("sample", "reads", "mapped", "error_rate", sep="\t")
    for name, files in sorted(samples.items()):
        stats = read_stats(files[".stats"])
        mapped = read_flagstat(files[".flagstat"])
        print(name, stats["sequences"], mapped, stats["error rate"], sep="\t")


if __name__ == "__main__":
    main()
