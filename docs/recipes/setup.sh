# Helpers of the recipes. In bash, at the root of the repository: source docs/recipes/setup.sh
#
# API and TOKEN default to those of `make up`. The functions below shorten the responses of the API.

: "${API:=$(python3 -c "import json; print(json.load(open('.local/stack.json'))['api_url'])")}"
: "${TOKEN:=$(.venv/bin/python -m local token)}"
AUTH=(-H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json")

# show FIELD…: print these fields of a response, a single text field without quotes. Print a list with one item per line,
# jobs and executions with the oldest first. Fail with the detail of an error response.
show() {
  python3 -c '
import json, sys

def field(answer, path):
    for name in path.split("."):
        answer = answer.get(name) if isinstance(answer, dict) else None
    return answer

def line(answer):
    fields = {path: field(answer, path) for path in sys.argv[1:]} or answer
    if "detail" in answer and "detail" not in fields:
        sys.exit(answer["detail"])
    alone = next(iter(fields.values())) if len(fields) == 1 else None
    return alone if isinstance(alone, str) else json.dumps(fields)

answer = json.load(sys.stdin)
items = answer.get("items", [answer])
for one in items[::-1] if items and "job_id" in items[0] and "cursor" in answer else items:
    print(line(one))
' "$@"
}

# until_status EXECUTION STATUS: wait until an execution has a status.
until_status() {
  for _ in $(seq 600); do
    [ "$(curl -s "$API/executions/$1" "${AUTH[@]}" | show status)" = "$2" ] && return
    sleep 0.5
  done
  echo "$1 did not become $2 in time" >&2 && return 1
}

# until_count NUMBER JOB STATUS: wait until a job has at least this many executions with a status.
until_count() {
  for _ in $(seq 600); do
    [ "$(curl -s "$API/jobs/$2/executions?status=$3" "${AUTH[@]}" | show status | wc -l)" -ge "$1" ] && return
    sleep 0.5
  done
  echo "$2 did not have $1 $3 executions in time" >&2 && return 1
}

# until_ended OPERATION: wait until a bulk operation has ended.
until_ended() {
  for _ in $(seq 600); do
    [ "$(curl -s "$API/operations/$1" "${AUTH[@]}" | show state)" != running ] && return
    sleep 0.5
  done
  echo "$1 did not end in time" >&2 && return 1
}
