# Counts the letters of `state.text`.
text=$(sed 's/.*"text":"\([^"]*\)".*/\1/')
echo "{\"count\": $(printf '%s' "$text" | tr -cd '[:alpha:]' | wc -c)}"
