package components

import "slices"

// environmentsOf are the columns of a list of services, in the order in which the
// services name them: each service has its environments from first to last.
func environmentsOf(services []ServiceRowView) []string {
	var names []string
	for _, s := range services {
		at := 0
		for _, p := range s.Places {
			if i := slices.Index(names, p.Environment); i >= 0 {
				at = i + 1
				continue
			}
			names = slices.Insert(names, at, p.Environment)
			at++
		}
	}
	return names
}

func (v ServiceRowView) in(environment string) (ServicePlaceView, bool) {
	i := slices.IndexFunc(v.Places, func(p ServicePlaceView) bool { return p.Environment == environment })
	if i < 0 {
		return ServicePlaceView{}, false
	}
	return v.Places[i], true
}
