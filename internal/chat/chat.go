// Package chat is a conversation as a person has it: lines come in, which are messages, commands of the chat or commands for the
// shell; what happens goes out as events, whoever shows them.
//
// It draws nothing (see tui) and runs nothing itself (see agent, launch).
//
// Failure direction: refuse. What destroys something asks first, and silence means no.
package chat
