# What the recipes use. From the top of the repository, in bash: source docs/recipes/setup.sh
#
# API and TOKEN are those of `make up`, unless they are set already. The rest shortens what the API answers.

: "${API:=$(python3 -c "import json; print(json.load(open('.local/stack.json'))['api_url'])")}"
: "${TOKEN:=$(.venv/bin/python -m local token)}"
AUTH=(-H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json")

# show FIELD…: these fields of an answer; text that is alone comes bare. Of a list, each item on a line, executions and jobs the
# oldest first. If it is not there, the answer says why, and show fails.
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
for one in items[::-1] if "cursor" in answer else items:
    print(line(one))
' "$@"
}

# until_status EXECUTION STATUS: come back when it is that.
until_status() {
  for _ in $(seq 150); do
    [ "$(curl -s "$API/executions/$1" "${AUTH[@]}" | show status)" = "$2" ] && return
    sleep 0.5
  done
  echo "$1 is not $2" >&2 && return 1
}

# until_count NUMBER JOB STATUS: come back when it has so many executions that are that.
until_count() {
  for _ in $(seq 150); do
    [ "$(curl -s "$API/jobs/$2/executions?status=$3" "${AUTH[@]}" | show status | wc -l)" -ge "$1" ] && return
    sleep 0.5
  done
  echo "$2 has not $1 that are $3" >&2 && return 1
}
