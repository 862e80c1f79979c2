package scenario

import (
	"errors"
	"strconv"
	"time"

	"github.com/go-preempt/preempt/toleration"
	"github.com/go-preempt/preempt/victims"
)

// addClasses reads what the annotations of the priority classes mean: of every
// class, used or not, and whether or not toleration is on.
func (r *runner) addClasses() error {
	var problems []error
	r.classes.StrictPriority = r.doc.Options.StrictPriority
	for i := range r.doc.Classes {
		c := &r.doc.Classes[i]
		err := r.classes.Set(toleration.Config{Name: c.Name, Value: c.Value, PreemptionPolicy: c.PreemptionPolicy, Annotations: c.Annotations})
		if bad, ok := errors.AsType[*toleration.AnnotationError](err); ok {
			problems = append(problems, r.doc.Fail(c.AnnotationAt(bad.Key), strconv.Quote(bad.Text), bad.Err))
		} else if err != nil {
			problems = append(problems, r.doc.Fail(c.At, strconv.Quote(c.Name), err))
		}
	}
	r.policies = make(map[string]toleration.Policy)
	return errors.Join(problems...)
}

// class returns the class of a name; Parse has seen to it that it is there.
func (r *runner) class(name string) toleration.Class {
	c, _ := r.classes.Lookup(name)
	return c
}

// exempt is the exemption function of everything that plans, where toleration
// is on: the policy of the victim's class against the preemptor's priority.
func (r *runner) exempt(e victims.Exemption) (until time.Time, exempt bool) {
	return r.policies[e.Cluster.Key(e.Task)].Until(e.Cluster.Scheduled(e.Task), e.Ask.Priority)
}

// optedOut reports whether a task asks to be spared: by itself, or by its class
// where the document does not say.
func optedOut(t *Task, class *toleration.Class) bool {
	if t.AllowPreemption != nil {
		return !*t.AllowPreemption
	}
	return class.OptedOut
}
