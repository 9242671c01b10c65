def run(main, *, debug=None):
    return main


def gather(*aws, return_exceptions=False):
    return [*aws]


def wait_for(aw, timeout=None):
    return aw


def create_task(coro, *, name=None):
    return coro


ensure_future = shield = create_task


def to_thread(func, /, *args, **kwargs):
    return func(*args, **kwargs)
