// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
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

// inquiryPatience is how long a question about a pod waits for the next attempt to place it.
const inquiryPatience = 10 * time.Second

// handler answers, below /debug/preempt/:
//
//	tree                the queues and their usage
//	grants              who was given a place, and waits for whom
//	explain?pod=ns/name every rule that decides about a pod, with &format=json for machines
//	snapshot?pod=...    the cluster and the pod as a document for examples/plan
//
// The last two have the scheduler try the pod now, for only then its Filter plugins
// can be asked. Without a pod they are about one that was refused.
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
	mux.HandleFunc("GET /debug/preempt/explain", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("format") == "json" {
			c.serveAnswer(w, r, explainJSON)
			return
		}
		c.serveAnswer(w, r, explain)
	})
	mux.HandleFunc("GET /debug/preempt/snapshot", func(w http.ResponseWriter, r *http.Request) {
		c.serveAnswer(w, r, snap)
	})
	return mux
}

// serveAnswer serves what a question about the pod of a request comes to.
func (c *core) serveAnswer(w http.ResponseWriter, r *http.Request, ask question) {
	ctx, cancel := context.WithTimeout(r.Context(), inquiryPatience)
	defer cancel()
	text, err := c.inquire(ctx, r.FormValue("pod"), ask)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.Write(text)
}

// grantLines describes the grants, a line for each.
func (c *core) grantLines() (lines []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for g := range c.cluster.Grants() {
		for _, id := range g.Places {
			lines = append(lines, fmt.Sprintf("%s on %s since %s waits for %q", c.cluster.Key(id),
				c.cluster.NodeName(c.cluster.NodeOf(id)), g.Since.Format(time.RFC3339), g.Leaving))
		}
	}
	return lines
}
