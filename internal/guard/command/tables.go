package command

// tables returns all rules in the order in which they are reported. From deletes to programs it is the order users know
// from the original's table.
func tables() []table {
	return []table{
		lifecycle(), floor(), sudoFloor(), limits(), unknowns(), contents(),
		deletes(), windows(), permissions(), disks(), sql(), systemWrites(), services(), remotes(), fileWrites(), finds(), hermesVerbs(), docker(), gateway(),
		copies(), edits(), heredocs(), git(), madeExecutable(), sudo(), packages(), programs(), windowsPrograms(),
		volumes(), assigns(), loops(), downloads(), system(),
		destroys(), clusters(), datastores(), publishes(), gitLoss(), escapes(), selfConfig(), packageScripts(), privileges(),
		toolWrites(), programsRun(), disksMore(), kills(), wipesMore(), dynamicWords(), windowsMore(), smallLanguages(), losses(), handed(),
		exfil(), reverseShells(), addresses(), persistence(), credentials(), history(), prefixEnv(),
	}
}
