# Writes report.md into the output directory. Its inputs are what the two others share with it.
input=$(cat)
field() { printf '%s' "$input" | sed "s/.*\"inputs\":{\"letters\":{\"count\":\([0-9]*\)},\"words\":{\"count\":\([0-9]*\)}}.*/\\$1/"; }
output=$(printf '%s' "$input" | sed 's/.*"output_dir":"\([^"]*\)".*/\1/')
printf '# Report\n\nThe text has %s words and %s letters.\n' "$(field 2)" "$(field 1)" > "$output/report.md"
echo "{\"report\": \"$(field 2) words, $(field 1) letters\"}"
