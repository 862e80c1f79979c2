// SPDX-License-Identifier: Apache-2.0

package trace

import "testing"

// Each team has a leaf of its weight, no guarantee, and about as many pods.
func TestNewTeams(t *testing.T) {
	w := Twin()
	c, err := w.NewTeams()
	if err != nil {
		t.Fatal(err)
	}
	tree := c.Tree()
	if tree.Len() != 1+Teams || c.NodeLen() != len(w.Nodes) {
		t.Fatalf("%d queues and %d nodes", tree.Len(), c.NodeLen())
	}
	var pods [Teams]int
	for i := range w.Pods {
		pods[w.Pods[i].Team()]++
	}
	for team := range Teams {
		q := TeamLeaf(team)
		if tree.Path(q) != "root."+TeamName(team) || int64(tree.Policies(q).Weight) != Weight(team) || tree.Guaranteed(q).Defined != 0 {
			t.Errorf("team %d is %s, of weight %d, guaranteed %v", team, tree.Path(q), tree.Policies(q).Weight, tree.Guaranteed(q))
		}
		if fourth := len(w.Pods) / Teams; pods[team] < fourth*9/10 || pods[team] > fourth*11/10 {
			t.Errorf("team %d has %d pods of %d", team, pods[team], len(w.Pods))
		}
	}
}
