from hishab.cli import main

raise SystemExit(main())
