package victims

import (
	"iter"
	"slices"
)

// membersOf returns the tasks and grants of a job by its number, in an order
// that depends on the history of additions and removals. The number 0 is that
// of no job, which has no members.
func (c *Cluster) membersOf(job int32) []TaskID {
	if int(job) >= len(c.members) {
		return nil
	}
	return c.members[job]
}

// JobTasks yields the tasks and grants of a job. Their order depends on the
// history of additions and removals. The empty name is that of no job.
func (c *Cluster) JobTasks(job string) iter.Seq[TaskID] {
	number, _ := c.jobs.lookup(job)
	return slices.Values(c.membersOf(number))
}

// join makes a row a member of its job.
func (c *Cluster) join(id TaskID) {
	job := c.tasks[id].job
	if job == 0 {
		return
	}
	for int(job) >= len(c.members) {
		c.members = append(c.members, nil)
	}
	c.inJob.set(int(id), cap(c.tasks), int32(len(c.members[job])))
	c.members[job] = append(c.members[job], id)
}

// leave takes a row out of its job. The last member takes its place.
func (c *Cluster) leave(id TaskID) {
	job := c.tasks[id].job
	if job == 0 {
		return
	}
	list, at := c.members[job], c.inJob.at(int(id))
	last := list[len(list)-1]
	list[at] = last
	c.inJob.set(int(last), cap(c.tasks), at)
	c.members[job] = list[:len(list)-1]
}
