class BaseExceptionGroup(BaseException):
    def __init__(self, message, exceptions):
        self.message = message
        self.exceptions = tuple(exceptions)


class ExceptionGroup(BaseExceptionGroup, Exception):
    pass
