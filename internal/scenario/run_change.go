package scenario

import "strconv"

// advance lets time pass.
func (r *runner) advance(i int, q *Request) error {
	r.step(i)
	now := r.now.Add(q.Advance)
	if err := r.instant(q.At, "advance", q.Advance, now); err != nil {
		return err
	}
	r.now = now
	return nil
}

// finish removes the tasks that are named. A grant is no task.
func (r *runner) finish(i int, q *Request) error {
	r.step(i)
	for _, ref := range q.Finish {
		if err := r.remove(ref.Key); err != nil {
			return r.doc.Fail(ref.At, strconv.Quote(ref.Key), err)
		}
	}
	return nil
}

// remove removes a task, and with it what is known of its class: another may
// get its key.
func (r *runner) remove(key string) error {
	delete(r.policies, key)
	delete(r.ports, key)
	return r.cluster.RemoveTask(key)
}

// start adds tasks, each in place of the grant of its key if there is one.
func (r *runner) start(i int, q *Request) error {
	r.step(i)
	for n := range q.Start {
		if err := r.addTask(&q.Start[n]); err != nil {
			return err
		}
	}
	return nil
}
