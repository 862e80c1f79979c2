// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// page returns what a debug page says.
func page(t *testing.T, address, path string) (text string, status int) {
	r, err := http.Get("http://" + address + "/debug/preempt/" + path)
	require.NoError(t, err)
	defer r.Body.Close()
	all, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(all), r.StatusCode
}

// freeAddress returns an address on which nobody listens.
func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

// debugPages: what the plugin says of a pod in shadow mode, and the document that it
// gives of it, which the program examples/plan decides as the plugin did.
func debugPages(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "4"), node("n2", "4"), node("n3", "4"))
	w.run(t, on("n1", pod("b", "teamb", "low", "4")), on("n2", pod("etl-0", "batch", "mid", "4")), on("n3", withPort(8080, pod("etl-1", "batch", "low", "4"))))
	address := freeAddress(t)
	w.schedule(t, queues(map[string]string{"prod": "4", "teamb": "4"}).with("dryRun", true).with("debugAddress", address))
	_, status := page(t, address, "explain")
	require.Equal(t, http.StatusNotFound, status, "nobody was refused yet")
	web := pod("web", "prod", "high", "2")
	web.Spec.NodeSelector = map[string]string{"kubernetes.io/hostname": "n2"}
	w.add(t, web)
	eventually(t, "web is refused", func() bool { return refusal(w.get(t, "web")) != "" })

	text, _ := page(t, address, "tree")
	require.Contains(t, text, "prod")
	_, status = page(t, address, "grants")
	require.Equal(t, http.StatusOK, status)
	text, status = page(t, address, "explain?pod=default/web")
	require.Equal(t, http.StatusOK, status, text)
	require.Contains(t, text, "chosen")
	text, status = page(t, address, "explain?format=json")
	require.Equal(t, http.StatusOK, status, text)
	require.True(t, json.Valid([]byte(text)), text)

	text, status = page(t, address, "snapshot?pod=default/web")
	require.Equal(t, http.StatusOK, status, text)
	requirePlan(t, text, "n2", w.keyOf(t, "etl-0"))
}

// keyOf returns the key that the plugin gives a pod.
func (w *world) keyOf(t *testing.T, name string) string {
	p := w.get(t, name)
	return fmt.Sprintf("%s/%s/%s", p.Namespace, p.Name, p.UID)
}

// requirePlan has examples/plan decide a document with one request.
func requirePlan(t *testing.T, document, node, victim string) {
	file := filepath.Join(t.TempDir(), "snapshot.json")
	require.NoError(t, os.WriteFile(file, []byte(document), 0o600))
	out, err := exec.Command("go", "run", "github.com/go-preempt/preempt/examples/plan", "-json", file).Output()
	require.NoError(t, err)
	var got struct {
		Results []struct {
			Outcome, Node string
			Victims       []string
		}
	}
	require.NoError(t, json.Unmarshal(out, &got))
	require.Len(t, got.Results, 1)
	require.Equal(t, "plan", got.Results[0].Outcome)
	require.Equal(t, node, got.Results[0].Node)
	require.Equal(t, []string{victim}, got.Results[0].Victims)
}
