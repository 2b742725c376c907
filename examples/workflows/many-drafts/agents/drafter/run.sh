# Drafts a line about `inputs.topic`.
topic=$(sed 's/.*"topic":"\([^"]*\)".*/\1/')
echo "{\"line\": \"what the $topic does to the tide\"}"
