from common import changed, holds

holds(lambda tree: changed(tree, "cli_tool"))
