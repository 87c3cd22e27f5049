from common import covered, holds


def check(tree):
    per_cent = covered(tree, "support")
    return None if per_cent >= 90 else f"{per_cent:.0f} % of support/ is covered"


holds(check)
