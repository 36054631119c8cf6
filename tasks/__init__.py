"""Your tasks: every module in this folder is imported, and every function marked with ``@task`` can be run.

A task gets the execution's context and the parameters; what it returns (JSON) is the result. An exception is tried
again as the job's retry rules say; ``raise Retry(after=60)`` and ``raise Fatal("why")`` say it more precisely.
"""
