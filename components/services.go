package components

import "slices"

// environmentsOf are the columns of a list of services, in the order in which the
// services name them: each service has its environments from first to last. Of
// each only the name and title hold.
func environmentsOf(services []ServiceRowView) []ServicePlaceView {
	var columns []ServicePlaceView
	for _, s := range services {
		at := 0
		for _, p := range s.Places {
			if i := slices.IndexFunc(columns, func(c ServicePlaceView) bool { return c.Environment == p.Environment }); i >= 0 {
				at = i + 1
				continue
			}
			columns = slices.Insert(columns, at, p)
			at++
		}
	}
	return columns
}

func (v ServiceRowView) in(environment string) (ServicePlaceView, bool) {
	i := slices.IndexFunc(v.Places, func(p ServicePlaceView) bool { return p.Environment == environment })
	if i < 0 {
		return ServicePlaceView{}, false
	}
	return v.Places[i], true
}
