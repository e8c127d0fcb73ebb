"""Areas of shapes."""


def square_area(side):
    """Return the area of a square."""
    return side * side


def rectangle_area(width, height):
    """Return the area of a rectangle."""
    area = width * height
