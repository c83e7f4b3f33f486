# fish completion for dm-chat; made by 'make generate'
function __dm_chat
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l lines (command dm-chat --complete fish $words[2..-1] "$word" 2>/dev/null)
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
complete -c dm-chat -f -k -a '(__dm_chat)'
