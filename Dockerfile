# The image of the long lane: Punctual's container runner with the tasks of this checkout. `cdk deploy` builds it.
FROM python:3.13-slim

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=/punctual
WORKDIR /punctual

COPY constraints.txt layers/vendor/requirements.txt ./
RUN pip install --no-cache-dir --constraint constraints.txt --requirement requirements.txt boto3

COPY layers/punctual/python/ ./
COPY tasks/ tasks/

RUN useradd --system --create-home runner
USER runner

CMD ["python", "-m", "punctual.runtime.container.main"]
