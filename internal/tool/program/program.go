// Package program holds the tool execute_code: a Python program in the terminal's backend that may call tools of the agent.
//
// The program starts through launch, and every command it runs by a tool is judged again.
//
// Failure direction: refuse. Without Python it says so.
package program
