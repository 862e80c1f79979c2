package preemptbyqueue

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/go-preempt/preempt/victims"
)

// serve serves /debug/preempt/ at the address of the arguments, if there is one,
// until the context ends.
func (c *core) serve(ctx context.Context) error {
	if c.args.DebugAddress == "" {
		return nil
	}
	listener, err := net.Listen("tcp", c.args.DebugAddress)
	if err != nil {
		return fmt.Errorf("%s: debugAddress: %w", Name, err)
	}
	server := &http.Server{Handler: c.handler(), ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(listener) // its error is that it was closed
	context.AfterFunc(ctx, func() { server.Close() })
	return nil
}

// handler answers /debug/preempt/tree with the queues and their usage, and
// /debug/preempt/grants with who was given a place and waits for whom.
func (c *core) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/preempt/tree", func(w http.ResponseWriter, _ *http.Request) {
		c.mu.Lock()
		text := c.queues().tree.String()
		c.mu.Unlock()
		fmt.Fprint(w, text)
	})
	mux.HandleFunc("GET /debug/preempt/grants", func(w http.ResponseWriter, _ *http.Request) {
		for _, line := range c.grantLines() {
			fmt.Fprintln(w, line)
		}
	})
	return mux
}

// grantLines describes the grants, a line for each.
func (c *core) grantLines() (lines []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.cluster.Grants() {
		var w victims.Waiting
		if err := c.cluster.Waiting(&w, c.cluster.Key(id)); err != nil {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s on %s since %s waits for %q", c.cluster.Key(id),
			c.cluster.NodeName(w.Node), w.Since.Format(time.RFC3339), w.Victims))
	}
	return lines
}
