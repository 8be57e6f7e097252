"""`python -m polars_ir`."""

import sys

from polars_ir.cli import main

sys.exit(main())
