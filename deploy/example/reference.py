"""Writes a random genome of one chromosome as FASTA: the same for the same seed."""

import argparse
import random


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bases", type=int, required=True, help="length of the chromosome")
    parser.add_argument("--seed", type=int, required=True)
    options = parser.parse_args()

    chromosome = "".join(random.Random(options.seed).choices("ACGT", k=options.bases))
    print(">chr1")
    for begin in range(0, len(chromosome), 60):
        print(chromosome[begin:begin + 60])


if __name__ == "__main__":
    main()
