from common import changed, holds

holds(lambda tree: changed(tree, "django_site"))
