def run(main, *, debug=None):
    return main.__await__()


def gather(*aws, return_exceptions=False):
    return [aw.__await__() for aw in aws]


def wait_for(aw, timeout=None):
    return aw


def create_task(coro, *, name=None):
    return coro


ensure_future = shield = create_task


class Runner:
    def __enter__(self):
        return self

    def run(self, coro, *, context=None):
        return coro.__await__()


async def sleep(delay, result=None):
    return result


async def to_thread(func, /, *args, **kwargs):
    return func(*args, **kwargs)
