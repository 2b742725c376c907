# Writes one note into the output directory.
input=$(cat)
about=$(printf '%s' "$input" | sed 's/.*"instructions":"\([a-z]*\)".*/\1/')
output=$(printf '%s' "$input" | sed 's/.*"output_dir":"\([^"]*\)".*/\1/')
printf '# The %s\n\nIt pulls at the sea, and the sea follows.\n' "$about" > "$output/$about.md"
echo "{\"file\": \"$about.md\"}"
