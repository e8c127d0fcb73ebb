"""The taxes of the regions."""

TAX_PERCENT = {"north": 20, "south": 5}
