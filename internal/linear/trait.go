package linear

// Trait is something that is seen of a thing, by the name under which a model knows it.
type Trait[T any] struct {
	Name  string
	Value func(*T) float64
}

// Seen returns the features of a thing: its traits, but for those that are 0.
func Seen[T any](traits []Trait[T], thing *T) (all []Feature) {
	for _, t := range traits {
		if x := t.Value(thing); x != 0 {
			all = append(all, Feature{Name: t.Name, Value: x})
		}
	}
	return all
}

// Worth returns what each of some traits is worth to a model of one class.
func Worth[T any](traits []Trait[T], m *Model) []float64 {
	all := make([]float64, len(traits))
	for i, t := range traits {
		all[i] = m.Weight(t.Name, 0)
	}
	return all
}
