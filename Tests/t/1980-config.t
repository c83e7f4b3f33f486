#!/bin/sh
# The configuration file: settings, sections with default options, and errors with the number of the line.
. "$(dirname "$0")/lib.sh"
people
file="$XDG_CONFIG_HOME/dm/config"
mkdir -p "$XDG_CONFIG_HOME/dm"
# write LINE...: the file has these lines.
write() { printf '%s\n' "$@" >"$file"; }
# setting NAME [FIELD]: a field of what 'dm config' says of a setting for all programs.
setting() { dm config --json | jq -r "select(.name == \"$1\" and .program == null).${2:-value}"; }

is "$(setting theme) $(setting theme origin)" "terminal default" "without a file, the defaults count"
write 'user = alice' '# a comment' '' "store = $DM_STORE"
is "$(dm-send bob first | jq -r .sender)" alice "the user of the file acts"
is "$(DM_USER=bob dm-send alice second | jq -r .sender)" bob "but not if the environment names another"
is "$(DM_USER=bob dm-send --as carol alice third | jq -r .sender)" carol "or an option"
is "$(env -u DM_STORE dm-list --count)" 2 "the store of the file is used"
is "$(setting user) $(setting user origin) $(setting user line)" "alice file 1" "dm config says the line"
is "$(DM_USER=bob setting user origin) $(DM_USER=bob setting user variable)" "environment DM_USER" "or the variable"
exits 66 "--no-config ignores the file" env -u DM_STORE HOME="$work" dm-list --no-config --store "$work/none"

for text in fourth fifth sixth; do dm-send bob $text -q; done
write 'user = alice' '[dm-tail]' 'limit = 2' 'peek = on' '[dm-list]' 'user = bob'
is "$(dm-tail bob | jq -r .text)" "fifth
sixth" "a section has default options"
is "$(dm-tail bob -n 1 | jq -r .text)" sixth "an option of the command line counts more"
is "$(dm-tail bob 1 | jq -r .text)" first "and operands, too"
is "$(dm-list | jq -r '.participants | index("bob") != null')" true "a section has settings"
is "$(dm-user list | wc -l)" 3 "which do not count for other programs"
is "$(dm config --json | jq -r 'select(.program) | "\(.program) \(.name) \(.value) \(.line)"')" "dm-tail limit 2 3
dm-tail peek on 4
dm-list user bob 6" "dm config has the sections"

# wrong LINES STATUS-TEXT NAME
wrong() {
  write '# a comment' "$1"
  exits 64 "$3" dm-tail bob
  is "$err" "dm-tail: line 2 of '$file': $2" "and says where"
}
wrong 'usr = alice' "there is no setting 'usr'; did you mean 'user'?" "an unknown name is an error"
wrong 'user' "'user' has no '='; write 'name = value'" "so is a line without a value"
wrong 'pipe = xml' "'xml' is not a value of 'pipe'; write json or text" "a word that a setting does not have"
wrong 'fresh = soon' "'soon' is not a time for 'fresh'; write 0, 2s or 1m" "a time that is none"
wrong 'store = dm' "'dm' is not a whole path; begin it with '/' or '~/'" "a path from the current folder"
write 'user = alice' '[dm-tail]' 'limti = 2'
exits 64 "an option that the program does not have" dm-tail bob
is "$err" "dm-tail: line 3 of '$file': 'dm-tail' has no option 'limti'; did you mean 'limit'?" "is named"
exits 0 "which other programs do not check" dm-list
exits 1 "but dm config does" dm config --json
like "$err" "dm: line 3: 'dm-tail' has no option 'limti'; did you mean 'limit'? (in '$file')" "by its number"
is "$(printf '%s\n' "$out" | jq -r 'select(.name == "user").value')" alice "and prints the other lines"
exits 0 "--help works with a wrong file" dm-tail --help
exits 0 "and so does a program that ignores it" dm-tail --no-config --as alice bob

write 'user = alice'
chmod 666 "$file"
exits 64 "a file that every user can write is refused" dm-list
like "$err" "dm-list: '$file' can be written by every user; remove that with 'chmod o-w'" "with what to type"
chmod 444 "$file"
exits 0 "one that every user can read is fine" dm-list
rm "$file" && mkdir "$file"
exits 64 "a folder is no file" dm-list
rmdir "$file" && mkfifo "$file"
exits 0 "a FIFO without a writer does not stop a program" dm-list --as alice
done_testing
