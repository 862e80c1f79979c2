// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/resources"
)

// The laws of DESIGN.md, Shares: laws, each a property, and the slow twin.
var fairLaws = []law.Law{
	{Name: "Twin", Holds: fairTwin},
	{Name: "Sum", Holds: fairSum},
	{Name: "NotAboveDemand", Holds: fairNotAboveDemand},
	{Name: "NotBelowBase", Holds: fairNotBelowBase},
	{Name: "Level", Holds: fairLevel},
	{Name: "WeightsScaled", Holds: fairWeightsScaled},
	{Name: "MoreCapacity", Holds: fairMoreCapacity},
	{Name: "OneUnitMore", Holds: fairOneUnitMore},
	{Name: "NobodyDemands", Holds: fairNobodyDemands},
	{Name: "TypesAlone", Holds: fairTypesAlone},
	{Name: "Guarantees", Holds: fairGuarantees},
	{Name: "InputUnchanged", Holds: fairInputUnchanged},
	{Name: "CutTwin", Holds: fairCutTwin},
	{Name: "CutToUse", Holds: fairCutToUse},
	{Name: "ScarceAlone", Holds: fairScarceAlone},
	{Name: "Counting", Holds: fairCounting},
}

func TestFairLaws(t *testing.T) { law.Check(t, fairLaws) }

func FuzzFairLaws(f *testing.F) { law.Fuzz(f, fairLaws) }

// A division is what Divide is given, its twin, and what came out.
type division struct {
	tree     *Tree
	twin     slowShares
	demand   []resources.Vector
	capacity resources.Limit
	shares   FairShares
}

// drawDivision draws queues with what they demand, and a capacity near to that
// or to what they are guaranteed, and divides it.
func drawDivision(t *rapid.T) *division {
	tree, w := drawTree(t)
	d := &division{tree: tree, demand: make([]resources.Vector, tree.Len())}
	amounts := rapid.OneOf(rapid.Int64Range(-1, 9), rapid.Int64Range(0, math.MaxInt64/64))
	byPath := map[string]resources.Vector{}
	for q := range tree.Leaves(Root) {
		d.demand[q] = rapid.SliceOfN(amounts, 0, tree.Schema().Len()).Draw(t, "demand")
		byPath[tree.Path(q)] = d.demand[q]
	}
	d.capacity.Defined = mask(t, tree.Schema())
	for range tree.Schema().Len() {
		d.capacity.Value = append(d.capacity.Value, rapid.OneOf(rapid.Int64Range(0, 40), rapid.Int64Range(0, math.MaxInt64-100)).Draw(t, "capacity"))
	}
	d.twin = slowShares{w, byPath, d.capacity, map[claimed]*big.Rat{}}
	d.divide(t)
	return d
}

func (d *division) divide(t *rapid.T) {
	if err := d.shares.Divide(d.tree, d.demand, d.capacity); err != nil {
		t.Fatal(err)
	}
}

// each calls f with what was dealt, for every queue and type of the capacity.
func (d *division) each(f func(q ID, path string, i int, share int64)) {
	for q := range ID(d.tree.Len()) {
		for i := range d.capacity.Defined.All() {
			f(q, d.tree.Path(q), i, d.shares.dealtTo(q).Value[i])
		}
	}
}

// fairTwin: what is dealt is what fractions give, and so are the scarce types.
func fairTwin(t *rapid.T) {
	d := drawDivision(t)
	var scarce resources.Mask
	for i := range d.capacity.Defined.All() {
		want := map[string]*big.Rat{}
		root := d.twin.root.Name
		d.twin.shares(want, root, least(d.twin.want(root, i), number(d.capacity.Value[i])), i)
		for q := range ID(d.tree.Len()) {
			path := d.tree.Path(q)
			if got := d.shares.dealtTo(q).Value[i]; number(got).Cmp(want[path]) != 0 {
				t.Fatalf("dealt %d to %s in type %d, want %s", got, path, i, want[path].RatString())
			}
			if d.tree.IsLeaf(q) && want[path].Cmp(d.twin.want(path, i)) < 0 {
				scarce |= 1 << i
			}
		}
	}
	check(t, d.shares.scarce, scarce, "scarce types")
}

// fairSum: the shares of children sum to the lesser of their parent's share and
// what they want.
func fairSum(t *rapid.T) {
	d := drawDivision(t)
	d.each(func(q ID, path string, i int, share int64) {
		if d.tree.IsLeaf(q) {
			return
		}
		sum, wants := new(big.Rat), new(big.Rat)
		for c := range d.tree.Children(q) {
			sum.Add(sum, number(d.shares.dealtTo(c).Value[i]))
			wants.Add(wants, d.twin.want(d.tree.Path(c), i))
		}
		if want := least(number(share), wants); sum.Cmp(want) != 0 {
			t.Fatalf("children of %s have %s of type %d, want %s", path, sum.RatString(), i, want.RatString())
		}
	})
}

// fairNotAboveDemand: no share is above what the queue wants, or below 0.
func fairNotAboveDemand(t *rapid.T) {
	d := drawDivision(t)
	d.each(func(_ ID, path string, i int, share int64) {
		if share < 0 || number(share).Cmp(d.twin.want(path, i)) > 0 {
			t.Fatalf("share %d of %s in type %d, which wants %s", share, path, i, d.twin.want(path, i).RatString())
		}
	})
}

// fairNotBelowBase: if the parent's share covers the bases of all its children,
// each of them gets at least its base.
func fairNotBelowBase(t *rapid.T) {
	d := drawDivision(t)
	d.each(func(q ID, path string, i int, share int64) {
		bases := new(big.Rat)
		for c := range d.tree.Children(q) {
			bases.Add(bases, d.twin.base(d.tree.Path(c), i))
		}
		for c := range d.tree.Children(q) {
			base := d.twin.base(d.tree.Path(c), i)
			if got := d.shares.dealtTo(c).Value[i]; bases.Cmp(number(share)) <= 0 && number(got).Cmp(base) < 0 {
				t.Fatalf("share %d of %s in type %d is below its base %s", got, d.tree.Path(c), i, base.RatString())
			}
		}
	})
}

// fairLevel: if the bases are covered, nobody has more beyond its base, for its
// weight, than a sibling that could use more: but for the rounding of a unit each.
func fairLevel(t *rapid.T) {
	d := drawDivision(t)
	beyond := func(c ID, i int, unit int64) *big.Rat {
		path := d.tree.Path(c)
		x := new(big.Rat).Sub(number(d.shares.dealtTo(c).Value[i]+unit), d.twin.base(path, i))
		return x.Quo(x, d.twin.weight(path))
	}
	d.each(func(q ID, _ string, i int, share int64) {
		bases := new(big.Rat)
		for c := range d.tree.Children(q) {
			bases.Add(bases, d.twin.base(d.tree.Path(c), i))
		}
		if bases.Cmp(number(share)) > 0 {
			return
		}
		for rich := range d.tree.Children(q) {
			for poor := range d.tree.Children(q) {
				full := number(d.shares.dealtTo(poor).Value[i]).Cmp(d.twin.want(d.tree.Path(poor), i)) == 0
				if has := beyond(rich, i, -1); !full && has.Sign() > 0 && has.Cmp(beyond(poor, i, +1)) >= 0 {
					t.Fatalf("%s has too much of type %d beside %s", d.tree.Path(rich), i, d.tree.Path(poor))
				}
			}
		}
	})
}

// fairWeightsScaled: if the weights of siblings are multiplied by one factor,
// nothing changes. The root's weight may be anything.
func fairWeightsScaled(t *rapid.T) {
	d := drawDivision(t)
	small, large := deepCopy(*d.twin.root), deepCopy(*d.twin.root)
	var scale func(a, b *Config, factor int64)
	scale = func(a, b *Config, factor int64) {
		weight, err := strconv.ParseInt(a.Properties[propertyFairWeight], 10, 32)
		if err != nil || weight < 1 {
			weight = 1
		}
		weight = min(weight, math.MaxInt32/9) // so that it can be multiplied
		setWeight(a, weight)
		setWeight(b, weight*factor)
		below := rapid.Int64Range(1, 9).Draw(t, "factor")
		for i := range a.Children {
			scale(&a.Children[i], &b.Children[i], below)
		}
	}
	scale(&small, &large, rapid.Int64Range(1, 9).Draw(t, "factor of the root"))
	check(t, d.with(t, large), d.with(t, small), "shares")
}

// setWeight gives c properties of its own, for a copy shares them.
func setWeight(c *Config, weight int64) {
	properties := map[string]string{propertyFairWeight: strconv.FormatInt(weight, 10)}
	for key, value := range c.Properties {
		if key != propertyFairWeight {
			properties[key] = value
		}
	}
	c.Properties = properties
}

// with returns the shares of the same division with other queues.
func (d *division) with(t *rapid.T, root Config) (shares []int64) {
	tree, err := NewLenient(d.tree.Schema(), root)
	if err != nil {
		t.Fatal(err)
	}
	var f FairShares
	if err := f.Divide(tree, d.demand, d.capacity); err != nil {
		t.Fatal(err)
	}
	return slices.Clone(f.shares)
}

// fairMoreCapacity: more capacity lowers no share by more than one unit.
func fairMoreCapacity(t *rapid.T) {
	d := drawDivision(t)
	before := slices.Clone(d.shares.dealt)
	for i := range d.capacity.Value {
		d.capacity.Value[i] += rapid.OneOf(rapid.Int64Range(0, 9), rapid.Int64Range(0, math.MaxInt64-d.capacity.Value[i])).Draw(t, "more")
	}
	d.divide(t)
	for k, share := range d.shares.dealt {
		if share < before[k]-1 {
			t.Fatalf("row %d was %d and is %d", k, before[k], share)
		}
	}
}

// fairOneUnitMore: one unit more changes no share by more than one unit.
func fairOneUnitMore(t *rapid.T) {
	d := drawDivision(t)
	before := slices.Clone(d.shares.dealt)
	for i := range d.capacity.Value {
		d.capacity.Value[i]++
	}
	d.divide(t)
	for k, share := range d.shares.dealt {
		if share < before[k]-1 || share > before[k]+1 {
			t.Fatalf("row %d was %d and is %d", k, before[k], share)
		}
	}
}

// fairNobodyDemands: a type that nobody demands is shared out to nobody, and is
// not scarce.
func fairNobodyDemands(t *rapid.T) {
	d := drawDivision(t)
	clear(d.demand)
	d.divide(t)
	d.each(func(_ ID, path string, i int, share int64) {
		if share != 0 {
			t.Fatalf("share %d of %s in type %d", share, path, i)
		}
	})
	check(t, d.shares.scarce, resources.Mask(0), "scarce types")
}

// fairTypesAlone: each type is dealt as if there were no other, and a limit has
// the types of the capacity.
func fairTypesAlone(t *rapid.T) {
	d := drawDivision(t)
	for q := range ID(d.tree.Len()) {
		check(t, d.shares.Of(q).Defined, d.capacity.Defined, "types of", d.tree.Path(q))
	}
	for i := range d.capacity.Defined.All() {
		var alone FairShares
		only := resources.Limit{Value: d.capacity.Value, Defined: 1 << i}
		if err := alone.Divide(d.tree, d.demand, only); err != nil {
			t.Fatal(err)
		}
		d.each(func(q ID, path string, k int, share int64) {
			if k == i && alone.dealtTo(q).Value[i] != share {
				t.Fatalf("share of %s in type %d: %d, and alone %d", path, i, share, alone.dealtTo(q).Value[i])
			}
		})
		check(t, alone.scarce, d.shares.scarce&only.Defined, "scarce types")
	}
}

// fairGuarantees: a tree may have the shares as its guarantees, also a strict one;
// the leaves have them in the scarce types and no other queue has any.
func fairGuarantees(t *rapid.T) {
	d := drawDivision(t)
	planned := d.tree.Clone()
	if err := d.shares.SetGuarantees(planned); err != nil {
		t.Fatal(err)
	}
	for q := range ID(planned.Len()) {
		want := resources.Limit{}
		if planned.IsLeaf(q) {
			want = resources.Limit{Value: d.shares.Of(q).Value, Defined: d.shares.scarce}
		}
		if got := planned.Guaranteed(q); !got.Equal(want) {
			t.Fatalf("%s is guaranteed %v, want %v", planned.Path(q), got, want)
		}
	}
}

// fairInputUnchanged: what is divided, demanded and there stays as it was.
func fairInputUnchanged(t *rapid.T) {
	d := drawDivision(t)
	tree, demand, capacity := d.tree.String(), fmt.Sprint(d.demand), fmt.Sprint(d.capacity)
	d.divide(t)
	check(t, d.tree.String(), tree, "tree")
	check(t, fmt.Sprint(d.demand), demand, "demand")
	check(t, fmt.Sprint(d.capacity), capacity, "capacity")
}

// fairCutTwin: the shares are what is dealt after the cut, by fractions.
func fairCutTwin(t *rapid.T) {
	d := drawDivision(t)
	want := map[ID][]*big.Rat{}
	for q := ID(d.tree.Len() - 1); q >= Root; q-- {
		path := d.tree.Path(q)
		for i := range d.tree.Schema().Len() {
			share := new(big.Rat)
			switch {
			case !d.capacity.Defined.Has(i):
			case !d.tree.IsLeaf(q):
				for c := range d.tree.Children(q) {
					share.Add(share, want[c][i])
				}
				if !d.shares.scarce.Has(i) {
					share = number(d.shares.dealtTo(q).Value[i])
				}
			default:
				share = number(d.shares.dealtTo(q).Value[i])
				if part := d.tightest(q); part != nil && d.shares.scarce.Has(i) {
					most := ceiling(new(big.Rat).Mul(part, number(max(d.demand[q].At(i), 0))))
					if base := d.twin.base(path, i); most.Cmp(base) < 0 {
						most = base
					}
					share = least(share, most)
				}
			}
			want[q] = append(want[q], share)
			if got := d.shares.Of(q).Value[i]; number(got).Cmp(share) != 0 {
				t.Fatalf("share %d of %s in type %d, want %s", got, path, i, share.RatString())
			}
		}
	}
}

// tightest returns the least part of its demand that a leaf was dealt of a scarce type,
// or nil if it demands none.
func (d *division) tightest(q ID) (part *big.Rat) {
	for u := range d.shares.scarce.All() {
		if v := d.demand[q].At(u); v > 0 {
			p := new(big.Rat).Quo(number(d.shares.dealtTo(q).Value[u]), number(v))
			if part == nil || p.Cmp(part) < 0 {
				part = p
			}
		}
	}
	return part
}

// ceiling returns the least whole number that is not below x.
func ceiling(x *big.Rat) *big.Rat {
	up := new(big.Int).Add(x.Num(), new(big.Int).Sub(x.Denom(), big.NewInt(1)))
	return new(big.Rat).SetInt(up.Div(up, x.Denom()))
}

// fairCutToUse: no leaf keeps of one scarce type more than its tightest one lets it use,
// promises apart. Nobody gets more by the cut, and no leaf less than it is promised and
// wants, as far as that was dealt. With one scarce type nothing changes.
func fairCutToUse(t *rapid.T) {
	d := drawDivision(t)
	for q := range d.tree.Leaves(Root) {
		path, part := d.tree.Path(q), d.tightest(q)
		for i := range d.capacity.Defined.All() {
			share, dealt := d.shares.Of(q).Value[i], d.shares.dealtTo(q).Value[i]
			base := d.twin.base(path, i)
			switch {
			case share > dealt, number(share).Cmp(least(number(dealt), base)) < 0:
				t.Fatalf("%s has %d of type %d, and was dealt %d with a base of %s", path, share, i, dealt, base.RatString())
			case bits.OnesCount64(uint64(d.shares.scarce)) < 2 || !d.shares.scarce.Has(i):
				check(t, share, dealt, "share of", path)
			case part != nil && number(share-1).Cmp(new(big.Rat).Mul(part, number(max(d.demand[q].At(i), 0)))) >= 0 && number(share).Cmp(base) > 0:
				t.Fatalf("%s keeps %d of type %d, and can use %s of its demand", path, share, i, part.RatString())
			}
		}
	}
}

// fairScarceAlone: what is scarce is known without a share, and without guarantees or weights.
func fairScarceAlone(t *rapid.T) {
	d := drawDivision(t)
	plain := d.tree.Clone()
	plain.policies = slices.Clone(plain.policies)
	for q := range ID(plain.Len()) {
		plain.in().Guaranteed.Set(int(q), plain.schema.Len(), resources.Limit{})
		plain.policies[q].Weight = 1
	}
	for _, tree := range []*Tree{d.tree, plain} {
		scarce, err := Scarce(tree, d.demand, d.capacity)
		if err != nil {
			t.Fatal(err)
		}
		check(t, scarce, d.shares.scarce, "scarce types")
	}
}

// fairCounting: a tree that counts some types is one in which no others are guaranteed.
func fairCounting(t *rapid.T) {
	tree, _ := drawTree(t)
	types := mask(t, tree.Schema())
	fewer := tree.Clone()
	for q := range ID(fewer.Len()) {
		g := fewer.Guaranteed(q)
		g.Defined &= types
		fewer.in().Guaranteed.Set(int(q), fewer.schema.Len(), g)
	}
	view := *tree
	view.in().Ignored = ^types
	check(t, view.String(), fewer.String(), "the tree")
	for q := range ID(tree.Len()) {
		check(t, fmt.Sprint(view.Surplus(nil, q)), fmt.Sprint(fewer.Surplus(nil, q)), "surplus")
		for i := range tree.Schema().Len() {
			at, ok := view.Governing(q, i)
			want, also := fewer.Governing(q, i)
			check(t, fmt.Sprint(at, ok), fmt.Sprint(want, also), "governing queue")
		}
	}
}
