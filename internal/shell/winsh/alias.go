package winsh

// cmdlet folds an alias to the cmdlet it stands for. curl, wget and sc stay: they are programs as often as aliases.
func cmdlet(name string) string {
	switch name {
	case "rm", "del", "erase", "rd", "ri", "rmdir":
		return "remove-item"
	case "iwr":
		return "invoke-webrequest"
	case "irm":
		return "invoke-restmethod"
	case "iex":
		return "invoke-expression"
	case "icm":
		return "invoke-command"
	case "saps", "start":
		return "start-process"
	case "spps", "kill":
		return "stop-process"
	case "gps", "ps":
		return "get-process"
	case "rp":
		return "remove-itemproperty"
	case "sp":
		return "set-itemproperty"
	case "gp":
		return "get-itemproperty"
	case "si":
		return "set-item"
	case "ni":
		return "new-item"
	case "gi":
		return "get-item"
	case "ii":
		return "invoke-item"
	case "spsv":
		return "stop-service"
	case "sasv":
		return "start-service"
	case "gsv":
		return "get-service"
	case "ls", "dir", "gci":
		return "get-childitem"
	case "cat", "type", "gc":
		return "get-content"
	case "ac":
		return "add-content"
	case "clc":
		return "clear-content"
	case "cli":
		return "clear-item"
	case "clp":
		return "clear-itemproperty"
	case "cd", "chdir", "sl":
		return "set-location"
	case "pushd":
		return "push-location"
	case "popd":
		return "pop-location"
	case "pwd", "gl":
		return "get-location"
	case "echo", "write":
		return "write-output"
	case "%", "foreach":
		return "foreach-object"
	case "?", "where":
		return "where-object"
	case "cp", "copy", "cpi":
		return "copy-item"
	case "mv", "move", "mi":
		return "move-item"
	case "ren", "rni":
		return "rename-item"
	case "md":
		return "mkdir"
	case "sal":
		return "set-alias"
	case "nal":
		return "new-alias"
	case "gal":
		return "get-alias"
	case "gcm":
		return "get-command"
	case "gm":
		return "get-member"
	case "gwmi":
		return "get-wmiobject"
	case "iwmi":
		return "invoke-wmimethod"
	case "rwmi":
		return "remove-wmiobject"
	case "icim":
		return "invoke-cimmethod"
	case "gcim":
		return "get-ciminstance"
	case "sv", "set":
		return "set-variable"
	case "nv":
		return "new-variable"
	case "gv":
		return "get-variable"
	case "sls":
		return "select-string"
	case "select":
		return "select-object"
	case "sort":
		return "sort-object"
	case "group":
		return "group-object"
	case "measure":
		return "measure-object"
	case "ft":
		return "format-table"
	case "fl":
		return "format-list"
	case "fw":
		return "format-wide"
	case "oh":
		return "out-host"
	case "tee":
		return "tee-object"
	case "diff", "compare":
		return "compare-object"
	case "cls", "clear":
		return "clear-host"
	case "h", "history", "ghy":
		return "get-history"
	case "clhy":
		return "clear-history"
	case "sajb":
		return "start-job"
	case "sleep":
		return "start-sleep"
	case "man", "help":
		return "get-help"
	case "nsn":
		return "new-pssession"
	case "etsn":
		return "enter-pssession"
	}
	return name
}

// keyword reports whether name is a word of the language that stands in front of ( ), { } or a statement.
func keyword(name string) bool {
	switch name {
	case "if", "elseif", "else", "while", "switch", "until", "do", "for", "try", "catch", "finally", "begin", "process", "end",
		"clean", "return", "throw", "exit", "trap", "dynamicparam", "param", "break", "continue",
		"function", "filter", "workflow", "class", "enum", "configuration", "using":
		return true
	}
	return false
}
