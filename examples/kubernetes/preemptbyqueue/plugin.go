// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// Name is that of the plugin.
const Name = "PreemptByQueue"

// A Plugin is the plugin of one profile. All profiles of a scheduler share what
// they know and decide, for they share the nodes.
type Plugin struct {
	handle fwk.Handle
	core   *core
}

var (
	_ fwk.PreEnqueuePlugin  = &Plugin{}
	_ fwk.PreFilterPlugin   = &Plugin{}
	_ fwk.FilterPlugin      = &Plugin{}
	_ fwk.PostFilterPlugin  = &Plugin{}
	_ fwk.ReservePlugin     = &Plugin{}
	_ fwk.EnqueueExtensions = &Plugin{}
	_ fwk.SignPlugin        = &Plugin{}

	_ fwk.PodGroupPostFilterPlugin = &Plugin{}
)

// Factory returns what makes the plugins of one scheduler. Give it to app.WithPlugin.
// A process that runs another scheduler needs another factory.
func Factory() frameworkruntime.PluginFactory {
	f := &factory{}
	return f.plugin
}

// A factory keeps what the profiles of a scheduler share. Profiles are set up one
// after another, but a scheduler may be set up again with other informers.
type factory struct {
	mu        sync.Mutex
	informers informers.SharedInformerFactory
	args      []byte
	core      *core
}

func (f *factory) plugin(ctx context.Context, obj runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
	args, err := decode(obj)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.core == nil || f.informers != h.SharedInformerFactory() {
		s, err := args.check()
		if err != nil {
			return nil, err
		}
		c, err := newCore(ctx, s, h)
		if err != nil {
			return nil, err
		}
		f.informers, f.args, f.core = h.SharedInformerFactory(), text, c
	}
	if !bytes.Equal(f.args, text) {
		return nil, fmt.Errorf("%s: a profile gives other arguments than one before it; they share the queues", Name)
	}
	return &Plugin{handle: h, core: f.core}, nil
}

// Name is that of the plugin.
func (pl *Plugin) Name() string { return Name }

// log returns the logger of a context under the name of the plugin.
func log(ctx context.Context) klog.Logger { return klog.FromContext(ctx).WithName(Name) }
