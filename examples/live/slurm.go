// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/go-preempt/preempt/toleration"
)

// slurm reads partitions and qualities of service (QOS). A partition is a queue; a QOS
// is a priority class, and its GrpTRES is the max of the partitions that it is the QOS
// of. Without partitions each QOS is a queue.
type slurm struct {
	notes      *notes
	err        error
	partitions []*slurmRow
	qos        []*slurmRow
	classes    []classText
}

// A slurmRow is a partition or a QOS: what it has, by name.
type slurmRow struct {
	place, name string
	order       []string
	fields      map[string]string
}

func newSlurm(c *cluster) slurm { return slurm{notes: &c.notes} }

// slurmPartition begins each partition.
const slurmPartition = "PartitionName="

// slurmSilent are values that say nothing.
var slurmSilent = []string{"", "ALL", "NO", "YES", "UNLIMITED", "INFINITE", "NONE", "N/A", "(null)", "0", "1", "00:00:00", "1.000000"}

// Why fields of partitions and QOS have no place in a document. Other fields are told
// without a reason.
var (
	slurmPartitionReasons = map[string]string{
		"Nodes":             "tasks and asks name their nodes by labels",
		"NodeSets":          "tasks and asks name their nodes by labels",
		"TotalCPUs":         "TRES says it",
		"TotalNodes":        "TRES says it",
		"PriorityTier":      "tiers do not order queues; guarantees and priorities decide",
		"PriorityJobFactor": "it is in the priority of jobs already",
		"AllowGroups":       "who may submit does not matter to preemption",
		"AllowAccounts":     "who may submit does not matter to preemption",
		"DenyAccounts":      "who may submit does not matter to preemption",
		"AllowQos":          "who may submit does not matter to preemption",
		"DenyQos":           "who may submit does not matter to preemption",
		"OverSubscribe":     "nodes are not oversubscribed",
	}
	slurmQOSReasons = map[string]string{
		"GraceTime": "victims stop at once",
		"GrpTRES":   "no partition that was read has this QOS",
		"MinTRES":   "it is the least that a job asks for, and no guarantee",
	}
)

// isSlurm reports whether a text is what scontrol or sacctmgr prints.
func isSlurm(text []byte) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(string(text[:min(len(text), 4096)])), "\n")
	return strings.HasPrefix(first, slurmPartition) || isQOS(first)
}

// isQOS reports whether a line is the heading of a table of QOS.
func isQOS(line string) bool {
	columns := strings.Split(strings.TrimSpace(line), "|")
	return len(columns) > 1 && slices.Contains(columns, "Name")
}

// read reads a text.
func (s *slurm) read(file, text string) error {
	if len(text) > mostYAMLBytes {
		return fmt.Errorf("%s: more than %d bytes", file, mostYAMLBytes)
	}
	if strings.HasPrefix(strings.TrimSpace(text), slurmPartition) {
		return s.readPartitions(file, text)
	}
	return s.readQOS(file, text)
}

// readPartitions reads what `scontrol show partition` prints: words of the form
// Name=value.
func (s *slurm) readPartitions(file, text string) error {
	var row *slurmRow
	n := 0
	for line := range strings.Lines(text) {
		n++
		for _, word := range strings.Fields(line) {
			field, value, ok := strings.Cut(word, "=")
			if !ok {
				return fmt.Errorf("%s: line %d: %q: want Name=value", file, n, word)
			}
			if field+"=" == slurmPartition {
				row = &slurmRow{place: file + ": partition " + value, name: value, fields: map[string]string{}}
				if value == "" || slices.ContainsFunc(s.partitions, func(other *slurmRow) bool { return other.name == value }) {
					return fmt.Errorf("%s: line %d: %q: want a name of its own", file, n, word)
				}
				s.partitions = append(s.partitions, row)
				continue
			}
			if err := row.set(field, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// readQOS reads what `sacctmgr show qos -P` prints: a heading, and a row for each.
func (s *slurm) readQOS(file, text string) error {
	var heading []string
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) == "" {
			continue
		}
		cells := strings.Split(line, "|")
		if heading == nil {
			heading = cells
			continue
		}
		if len(cells) != len(heading) {
			return fmt.Errorf("%s: line %d: %d columns, want %d as in the heading", file, n, len(cells), len(heading))
		}
		own := cells[slices.Index(heading, "Name")]
		if own == "" || slices.ContainsFunc(s.qos, func(other *slurmRow) bool { return other.name == own }) {
			return fmt.Errorf("%s: line %d: Name: %q: want a name of its own", file, n, own)
		}
		row := &slurmRow{place: file + ": QOS " + own, name: own, fields: map[string]string{}}
		for i, field := range heading {
			if field == "Name" || field == "" {
				continue
			}
			if err := row.set(field, cells[i]); err != nil {
				return err
			}
		}
		s.qos = append(s.qos, row)
	}
	return nil
}

// set gives a row a field.
func (r *slurmRow) set(field, value string) error {
	if _, ok := r.fields[field]; ok {
		return r.wrong(field, errors.New("is there already"))
	}
	r.fields[field] = value
	r.order = append(r.order, field)
	return nil
}

// wrong returns the error that a field is not as it should be.
func (r *slurmRow) wrong(field string, err error) error {
	return fmt.Errorf("%s: %s: %q: %w", r.place, field, r.fields[field], err)
}

// take returns a field, which is then not left out; "" if it says nothing.
func (r *slurmRow) take(field string) string {
	v := r.fields[field]
	r.order = slices.DeleteFunc(r.order, func(other string) bool { return other == field })
	if v == "N/A" || v == "(null)" {
		return ""
	}
	return v
}

// rest notes what was not taken.
func (s *slurm) rest(what string, r *slurmRow, reasons map[string]string) {
	for _, field := range r.order {
		v := r.fields[field]
		if slices.Contains(slurmSilent, v) {
			continue
		}
		why := reasons[field]
		if why == "" {
			why = "a document has no such thing"
		}
		s.notes.add(what+" "+r.name+" "+field+"="+v, "left out: "+field+": "+why)
	}
}

// finish makes queues and classes.
func (s *slurm) finish(c *cluster) {
	if len(s.partitions)+len(s.qos) == 0 {
		return
	}
	root := queueText{Name: rootName}
	byName := map[string]*slurmRow{}
	for _, q := range s.qos {
		byName[q.name] = q
	}
	slices.SortFunc(s.partitions, func(a, b *slurmRow) int { return cmp.Compare(a.name, b.name) })
	slices.SortFunc(s.qos, func(a, b *slurmRow) int { return cmp.Compare(a.name, b.name) })
	limits := map[string]map[string]amount{}
	for _, q := range s.qos {
		limits[q.name] = s.tres(q, "GrpTRES")
	}
	bounded := map[string]bool{} // QOS of a partition
	for _, p := range s.partitions {
		max := s.tres(p, "TRES")
		if own := p.take("QoS"); own != "" {
			if byName[own] == nil {
				s.notes.add("partition "+p.name, "left out: its QOS "+own+" was not read")
			}
			bounded[own] = true
			for t, n := range limits[own] {
				if max == nil {
					max = map[string]amount{}
				}
				if _, ok := max[t]; !ok || less(n, max[t]) {
					max[t] = n
				}
			}
		}
		root.Queues = append(root.Queues, s.queue(p, max))
		if state := p.take("State"); state != "" && state != "UP" {
			s.notes.add("partition "+p.name, "left out: its state "+state+"; it starts what waits here")
		}
		s.rest("partition", p, slurmPartitionReasons)
	}
	for _, q := range s.qos {
		if len(s.partitions) == 0 {
			root.Queues = append(root.Queues, queueText{Name: dotless(q.name), Resources: atMost(limits[q.name])})
		} else if !bounded[q.name] && len(limits[q.name]) > 0 {
			s.notes.add("QOS "+q.name+" GrpTRES="+q.fields["GrpTRES"], "left out: GrpTRES: "+slurmQOSReasons["GrpTRES"])
		}
		s.class(q)
	}
	for _, q := range s.qos {
		s.preempt(q, byName)
		s.rest("QOS", q, slurmQOSReasons)
	}
	s.notes.say("Slurm guarantees no queue anything: write guaranteed into the document, for only a queue under its guarantee takes from others")
	c.system(system{name: "Slurm", root: root, leaf: c.labelled})
}

// dotless returns the name of a queue, which has no dots.
func dotless(name string) string { return strings.ReplaceAll(name, ".", "_") }

// atMost returns bounds of a max alone.
func atMost(max map[string]amount) *bounds {
	if len(max) == 0 {
		return nil
	}
	return &bounds{Max: max}
}

// queue returns the queue of a partition.
func (s *slurm) queue(p *slurmRow, max map[string]amount) queueText {
	q := queueText{Name: dotless(p.name), Resources: atMost(max)}
	if s.mode(p) == "OFF" {
		q.Properties = map[string]string{propertyPolicy: "disabled"}
	}
	return q
}

// mode takes how jobs are stopped.
func (s *slurm) mode(r *slurmRow) string {
	mode := strings.ToUpper(r.take("PreemptMode"))
	for word := range strings.SplitSeq(mode, ",") {
		switch word {
		case "", "OFF", "CANCEL", "REQUEUE", "CLUSTER":
		case "SUSPEND", "GANG", "WITHIN":
			s.notes.add(r.name, "left out: PreemptMode "+word+": a victim is stopped, and that is all")
		default:
			s.failed(r.wrong("PreemptMode", errors.New("want OFF, CANCEL, REQUEUE, SUSPEND, GANG, WITHIN or cluster")))
		}
	}
	return mode
}

func (s *slurm) failed(err error) {
	if s.err == nil {
		s.err = err
	}
}

// tres reads trackable resources: cpu=16,mem=4000M,gres/gpu=4. Memory is in MiB if it
// has no unit.
func (s *slurm) tres(r *slurmRow, field string) map[string]amount {
	text := r.take(field)
	if text == "" {
		return nil
	}
	all := map[string]amount{}
	for part := range strings.SplitSeq(text, ",") {
		t, n, ok := strings.Cut(part, "=")
		if !ok || t == "" {
			s.failed(r.wrong(field, fmt.Errorf("%q: want type=amount", part)))
			return nil
		}
		switch t {
		case "node", "billing", "energy", "vmem", "pages":
			s.notes.add(r.name+" "+part, "left out: "+field+" of "+t+": tasks have no such amount")
			continue
		case "mem":
			t = "memory"
			if last := n[max(0, len(n)-1):]; strings.ContainsAny(last, "0123456789") {
				n += "Mi"
			} else {
				n += "i"
			}
		}
		q, err := resource.ParseQuantity(n)
		if err != nil || q.Sign() < 0 {
			s.failed(r.wrong(field, fmt.Errorf("%q: want an amount, 0 or more", part)))
			return nil
		}
		if _, ok := all[t]; ok {
			s.failed(r.wrong(field, fmt.Errorf("%q: the type is there already", part)))
			return nil
		}
		all[t] = amount(quantity(t, q))
	}
	return all
}

// class makes a priority class of a QOS. A time for which its jobs are exempt from
// preemption is a toleration; one that is never preempted has an endless one.
func (s *slurm) class(q *slurmRow) {
	c := classText{Name: q.name}
	if text := q.take("Priority"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		switch {
		case err != nil || n < 0 || n > math.MaxUint32:
			s.failed(q.wrong("Priority", fmt.Errorf("want a whole number from 0 to %d", uint32(math.MaxUint32))))
		case n > math.MaxInt32:
			s.failed(q.wrong("Priority", fmt.Errorf("above %d, which a priority class cannot have", math.MaxInt32)))
		}
		c.Value = int32(n)
	}
	seconds := int64(0)
	if text := q.take("PreemptExemptTime"); text != "" && text != "NONE" {
		var err error
		if seconds, err = slurmSeconds(text); err != nil {
			s.failed(q.wrong("PreemptExemptTime", err))
		}
	}
	if s.mode(q) == "OFF" {
		seconds = -1
	}
	if seconds != 0 {
		c.Annotations = map[string]string{
			toleration.AnnotationMinimum: strconv.Itoa(math.MaxInt32), toleration.AnnotationSeconds: strconv.FormatInt(seconds, 10)}
	}
	if q.fields["Preempt"] == "" {
		c.Policy = "Never"
	}
	s.classes = append(s.classes, c)
}

// preempt compares whom a QOS may preempt with what a document says: all of lower
// priority, but for those that are never preempted.
func (s *slurm) preempt(q *slurmRow, byName map[string]*slurmRow) {
	text := q.take("Preempt")
	if text == "" {
		return
	}
	want := strings.Split(text, ",")
	for _, other := range want {
		if byName[other] == nil {
			s.failed(q.wrong("Preempt", fmt.Errorf("no QOS %q was read", other)))
			return
		}
	}
	own := s.classes[slices.IndexFunc(s.classes, func(c classText) bool { return c.Name == q.name })]
	var get []string
	for _, c := range s.classes {
		if c.Value < own.Value && c.Annotations[toleration.AnnotationSeconds] != "-1" {
			get = append(get, c.Name)
		}
	}
	slices.Sort(want)
	if !slices.Equal(want, get) {
		s.notes.say(fmt.Sprintf("%s: Preempt: %q: a list of classes cannot be said: it takes from lower priority, and that is from %s",
			q.place, text, cmp.Or(strings.Join(get, ", "), "none")))
	}
}

// slurmSeconds reads a time: [days-]hours:minutes:seconds, minutes:seconds or minutes.
func slurmSeconds(text string) (int64, error) {
	if strings.EqualFold(text, "INFINITE") || strings.EqualFold(text, "UNLIMITED") {
		return -1, nil
	}
	days, rest, ok := strings.Cut(text, "-")
	if !ok {
		days, rest = "0", text
	}
	parts := append([]string{days}, strings.Split(rest, ":")...)
	units := map[int][]int64{2: {86400, 60}, 3: {86400, 60, 1}, 4: {86400, 3600, 60, 1}}[len(parts)]
	if ok {
		units = []int64{86400, 3600, 60, 1}
	}
	total := int64(0)
	for i, part := range parts {
		n, err := strconv.ParseInt(part, 10, 32)
		if err != nil || n < 0 || i >= len(units) {
			return 0, errors.New("want [days-]hours:minutes:seconds")
		}
		total += n * units[i]
	}
	return total, nil
}
