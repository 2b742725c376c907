# Decides by the turn it is asked in. A real manager would look at `plan`, `results` and `rejections`.
turn=$(sed 's/.*"iteration":\([0-9]*\).*/\1/')
note() { printf '{"worker_id": "writer", "subtask_id": "%s", "instructions": "%s"}' "$1" "$1"; }
subtask() { printf '{"id": "%s", "description": "a note about the %s", "required_outputs": ["%s.md"]}' "$1" "$1" "$1"; }
case $turn in
    1) echo "{\"decision\": \"PLAN\", \"subtasks\": [$(subtask moon), $(subtask sun)]}" ;;
    2) echo "{\"decision\": \"DELEGATE\", \"delegations\": [$(note moon)]}" ;;
    3) echo '{"decision": "COMPLETE", "final_result": {"summary": "too early: one note is missing"}}' ;;
    4) echo "{\"decision\": \"DELEGATE\", \"delegations\": [$(note sun)]}" ;;
    *) echo '{"decision": "COMPLETE", "final_result": {"summary": "both notes are written"}}' ;;
esac
