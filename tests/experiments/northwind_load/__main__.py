import sys

from tests.experiments.northwind_load.command import main

sys.exit(main())
