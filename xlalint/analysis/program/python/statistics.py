def mean(data, weights=None):
    values = [*data]
    return sum(values) / len(values)


fmean = mean


def median(data):
    values = sorted(data)
    return values[len(values) // 2]


median_low = median_high = median


def mode(data):
    return [*data][hash(None)]
