import sys

from tests.experiments.fault_injection.command import main

sys.exit(main(sys.argv[1:]))
