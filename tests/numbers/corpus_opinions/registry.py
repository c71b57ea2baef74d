"""The opinions about the programs of tests/golden/corpus: for each program, functions by name."""

opinions = {}


def of(program):
    def register(function):
        own = opinions.setdefault(program, {})
        if function.__name__ in own:
            raise ValueError(f"two opinions about {function.__name__} of {program}")
        own[function.__name__] = function
        return function

    return register
