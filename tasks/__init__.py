"""Your tasks: every module in this package is imported, and every function decorated with ``@task`` can be run.

A task receives the execution's context and the parameters. Its return value (JSON) is the result. An exception is
retried under the job's retry policy; ``raise Retry(after=60)`` sets the delay, ``raise Fatal("why")`` prevents a retry.
"""
