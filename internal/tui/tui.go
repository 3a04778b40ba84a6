// Package tui shows a chat: on a full screen, and as plain lines for pipes and dumb terminals.
//
// It decides nothing: what is typed goes to package chat, whose events it draws. Nothing of what it shows can command the
// terminal.
//
// Failure direction: a question that cannot be shown is answered by nobody, which refuses.
package tui
