// SPDX-License-Identifier: Apache-2.0

package scenario

// A Class is a priority class.
type Class struct {
	At    *Path
	Name  string
	Value int32

	// PreemptionPolicy is "", "Never" or "PreemptLowerPriority". With Never an
	// ask of the class must not preempt others, unless it says itself.
	PreemptionPolicy string

	// Annotations are raw: what they mean is checked where the document is
	// run, for every class, used or not. One is at AnnotationAt(key).
	Annotations map[string]string
}

// AnnotationAt returns the place of an annotation.
func (c *Class) AnnotationAt(key string) *Path {
	return c.At.Field("annotations").Field(key)
}

// class reads a priority class.
func (d *decoder) class(v value) Class {
	o := d.object(v, "name", "value", "annotations", "preemptionPolicy")
	c := Class{
		At:               v.at,
		Name:             required(o, "name", d.unique(d.known.classes)),
		Value:            required(o, "value", d.priority),
		Annotations:      optional(o, "annotations", d.texts, nil),
		PreemptionPolicy: optional(o, "preemptionPolicy", d.preemptionPolicy, ""),
	}
	d.known.values[c.Name] = c.Value
	d.known.never[c.Name] = c.PreemptionPolicy == "Never"
	return c
}

// classRef reads the name of a priority class, or the empty string.
func (d *decoder) classRef(v value) string {
	if _, ok := d.known.classes[v.text]; d.want(v, text) && v.text != "" && !ok {
		d.refer(v, d.known.doubt.classes, "no priority class of this name")
	}
	return v.text
}
