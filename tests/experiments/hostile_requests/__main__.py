import sys

from tests.experiments.hostile_requests.command import main

sys.exit(main(sys.argv[1:]))
