"""Small matrices, as lists of rows."""


class Singular(ValueError):
    """The system has no single solution."""


def multiply(a, b):
    """The product of two matrices."""
    if len(a[0]) != len(b):
        raise ValueError("shapes do not fit")
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def solve(matrix, right):
    """x with matrix · x = right, by Gauss. Raises Singular."""
    size = len(matrix)
    rows = [[*map(float, row), float(value)] for row, value in zip(matrix, right)]
    for column in range(size):
        if rows[column][column] == 0:
            raise Singular("no single solution")
        for other in range(column + 1, size):
            factor = rows[other][column] / rows[column][column]
            for place in range(column, size + 1):
                rows[other][place] -= factor * rows[column][place]
    found = [0.0] * size
    for row in reversed(range(size)):
        rest = sum(rows[row][column] * found[column] for column in range(row + 1, size))
        found[row] = (rows[row][size] - rest) / rows[row][row]
    return found


def identity(size):
    return [[float(row == column) for column in range(size)] for row in range(size)]
