// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"hash/fnv"
	"strconv"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Teams are another way to share a cluster, by weights alone: nothing is
// guaranteed to them, and pods belong to teams whatever their class.

// weights are those of the teams, in tree order.
var weights = [...]int64{4, 3, 2, 1}

// Teams is the number of teams.
const Teams = len(weights)

// Weight returns the weight of a team.
func Weight(team int) int64 { return weights[team] }

// TeamName returns the name of a team.
func TeamName(team int) string { return "team-" + string(rune('a'+team)) }

// Team returns the team of the pod. Each team has about as many pods.
func (p *Pod) Team() int {
	h := fnv.New64a()
	h.Write([]byte(p.Name))
	return int(h.Sum64() % uint64(Teams))
}

// TeamLeaf returns the queue of a team in a tree of [Workload.NewTeams].
func TeamLeaf(team int) queue.ID { return 1 + queue.ID(team) }

// NewTeams is [Workload.NewCluster] with a queue for each team below the root.
func (w *Workload) NewTeams() (*victims.Cluster, error) {
	root := queue.Config{Name: "root"}
	for team, weight := range weights {
		root.Children = append(root.Children, queue.Config{
			Name:       TeamName(team),
			Properties: map[string]string{"fair.weight": strconv.FormatInt(weight, 10)},
		})
	}
	schema, err := newSchema()
	if err != nil {
		return nil, err
	}
	tree, err := queue.New(schema, root)
	if err != nil {
		return nil, err
	}
	return w.fill(tree)
}

// Scarcest returns the type of which the pods together want the largest share of
// the cluster, the first of equals.
func (w *Workload) Scarcest() int {
	var sum resources.Vector
	for i := range w.Pods {
		sum = resources.Add(sum, sum, w.Pods[i].Size())
	}
	capacity := w.Capacity()
	best, most := 0, resources.Share{}
	for t, amount := range sum {
		if share := (resources.Share{Amount: amount, Of: capacity.At(t)}); t == 0 || share.Compare(most) > 0 {
			best, most = t, share
		}
	}
	return best
}
