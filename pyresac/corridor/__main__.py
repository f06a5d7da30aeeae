"""`python -m pyresac.corridor`."""

from pyresac.corridor import main

raise SystemExit(main())
