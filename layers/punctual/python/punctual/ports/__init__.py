"""The interfaces through which the stages use storage, queues and AWS services: one small protocol per role.

The adapters in ``aws/`` implement them. Losing a race is a return value, never an exception. Writes can be retried:
every method is idempotent unless it says otherwise.
"""
