from common import REPOSITORIES, covered, holds


def check(tree):
    for name in ("models", "rules", "views", "urls"):
        path = f"support/{name}.py"
        if (tree / path).read_bytes() != (REPOSITORIES / "django_site" / path).read_bytes():
            return f"{path} was changed"
    per_cent = covered(tree, "support")
    return None if per_cent >= 90 else f"{per_cent:.0f} % of support/ is covered"


holds(check)
