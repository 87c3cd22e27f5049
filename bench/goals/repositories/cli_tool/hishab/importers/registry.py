IMPORTERS = {}


def importer(name):
    def keep(function):
        IMPORTERS[name] = function
        return function

    return keep
