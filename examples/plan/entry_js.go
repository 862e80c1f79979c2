// SPDX-License-Identifier: Apache-2.0

//go:build js

package main

import (
	"runtime/debug"
	"syscall/js"
)

// In a browser the program is a function, preempt, which takes a question as
// JSON and returns the answer as JSON. It says that it is there by an event.
func main() {
	// The page waits while garbage is collected, and an answer makes much of it.
	debug.SetGCPercent(400)
	var l looker
	js.Global().Set("preempt", js.FuncOf(func(_ js.Value, args []js.Value) any {
		return string(l.answer([]byte(args[0].String())))
	}))
	js.Global().Call("dispatchEvent", js.Global().Get("Event").New("preempt"))
	select {}
}
