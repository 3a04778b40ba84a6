// Package agent is the turn: a model is asked, what it asks for is done, and what came of it is given back, until it answers.
//
// It decides nothing about what a call may do (each tool asks the door of what it does), wraps no text (see prompt), and prints
// nothing (see Event).
//
// Failure direction: stop. A call that cannot be read is answered to the model and not made; what could not be stored ends the
// turn.
package agent
