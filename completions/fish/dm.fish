# fish completion for the programs of dm; fish loads it under the name of each.
#
# Fish quotes what it inserts, and adds no space after a colon.
function __dm_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l lines (command $argv[1] --complete fish $words[2..-1] "$word" 2>/dev/null)
    switch "$lines[1]"
        case files
            set -l head (string match -r -- '^--[^=]*=' "$word")
            string join -- \n "$head"(__fish_complete_path (string replace -- "$head" '' "$word"))
        case folders
            __fish_complete_directories "$word"
        case '*'
            string join -- \n $lines[2..-1]
    end
end
for program in dm dm-attach dm-chat dm-conversation dm-digest dm-doctor dm-edit dm-export dm-hub dm-import dm-list \
        dm-mcp dm-preview dm-read dm-search dm-send dm-sync dm-tail dm-typing dm-usage dm-user
    complete -c $program -f -k -a "(__dm_complete $program)"
end
