# Counts the words of `state.text`.
text=$(sed 's/.*"text":"\([^"]*\)".*/\1/')
echo "{\"count\": $(printf '%s' "$text" | wc -w)}"
