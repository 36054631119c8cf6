# The image of the long lane: Punctual's container runner with the tasks of this checkout. `cdk deploy` builds it.
# The digest of the multi-platform index of python:3.13-slim, with Python 3.13.16: tags move, digests do not.
FROM python:3.13-slim@sha256:bb2988715db2cf7ace7b53f38f3cffbef7c7046a656bee66245eb0ed386e2e81

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=/punctual
WORKDIR /punctual

COPY layers/vendor/containers.lock ./
RUN pip install --no-cache-dir --only-binary :all: --require-hashes --no-deps --requirement containers.lock

COPY layers/punctual/python/ ./
COPY tasks/ tasks/

RUN useradd --system --create-home runner
USER runner

CMD ["python", "-m", "punctual.runtime.container.main"]
