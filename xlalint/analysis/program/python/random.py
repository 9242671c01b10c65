def choice(seq):
    return seq[hash(None)]


def choices(population, weights=None, *, cum_weights=None, k=1):
    return [population[hash(None)] for _ in range(k)]


def sample(population, k, *, counts=None):
    return [population[hash(None)] for _ in range(k)]


def shuffle(x):
    x.rotate()
