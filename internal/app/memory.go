package app

import (
	"hermes/internal/approval"
	"hermes/internal/config"
	"hermes/internal/guard/exposure"
	"hermes/internal/tool/notes"
	"hermes/internal/workspace"
)

// memory is what is remembered in this home. A person is asked about a note as about a file that decides what Hermes may do.
func (a *App) memory(o ToolsetOptions) notes.Memory {
	return notes.Memory{Dir: a.dir, Secret: a.secretIn(), Always: a.memoryAsks, Ask: workspace.Desk(a.desk, approval.Request{
		Session: o.Session, Backend: "local", Exposure: exposure.Exposure{Backend: "local"}, Presence: o.Presence, Platform: o.Platform, Prompter: o.Prompter,
	})}
}

// memoryAsks tells whether the owner wants to be asked about each note.
func (a *App) memoryAsks() bool {
	snap, err := a.settings()
	return err != nil || asksMemory(snap)
}

func asksMemory(snap *config.Snapshot) bool { return snap.Settings.Agents.MemoryAsks }
