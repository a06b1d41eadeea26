import sys

from tests.experiments.benchmark.command import main

sys.exit(main(sys.argv[1:]))
