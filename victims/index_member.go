package victims

import (
	"iter"
	"slices"
)

// membersOf returns the tasks and grants of a job by its number, in an order
// that depends on the history of additions and removals. The number 0 is that
// of no job, which has no members.
func (x *taskTable) membersOf(job int32) []TaskID {
	if int(job) >= len(x.members) {
		return nil
	}
	return x.members[job]
}

// JobTasks yields the tasks and grants of a job. Their order depends on the
// history of additions and removals. The empty name is that of no job.
func (x *taskTable) JobTasks(job string) iter.Seq[TaskID] {
	number, _ := x.jobs.lookup(job)
	return slices.Values(x.membersOf(number))
}

// join makes a row a member of its job.
func (x *taskTable) join(id TaskID) {
	job := x.tasks[id].job
	if job == 0 {
		return
	}
	// Numbers of jobs are small and used again, so the list stays as long as
	// the most jobs at once.
	for int(job) >= len(x.members) {
		x.members, x.running = append(x.members, nil), append(x.running, 0)
	}
	x.inJob.set(int(id), cap(x.tasks), int32(len(x.members[job])))
	x.members[job] = append(x.members[job], id)
}

// countRunning counts a row that runs among the members of its job that do, or no more.
// Bounds ask how many there are of every gang that they meet, and to look at its members
// takes longer than all else that they do.
func (x *taskTable) countRunning(r *taskRow, sign int64) {
	if r.job != 0 && r.state == Running {
		x.running[r.job] += int32(sign)
	}
}

// leave takes a row out of its job. The last member takes its place.
func (x *taskTable) leave(id TaskID) {
	job := x.tasks[id].job
	if job == 0 {
		return
	}
	// Places in these lists are a column: most clusters have no jobs.
	at := x.inJob.at(int(id))
	list, moved := swapOut(x.members[job], at)
	x.inJob.set(int(moved), cap(x.tasks), at)
	x.members[job] = list
}
