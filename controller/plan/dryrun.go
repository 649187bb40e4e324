package plan

import (
	"maps"
	"regexp"
	"slices"
)

// DryRunConsumers lists the URNs of resources with an input that comes from what
// the API server made up for the dry run of another resource: a uid, a time, a
// cluster IP. The real apply gives another value, so a saved plan cannot hold it
// and the engine would stop half way.
func DryRunConsumers(events []Event) ([]string, error) {
	decoded, err := decodeEvents(events)
	if err != nil {
		return nil, err
	}
	names, ips := dryRunTexts(decoded).canonical(), clusterIPs(decoded)
	found := map[string]bool{}
	for _, e := range decoded {
		if e.Pre == nil || e.Pre.Metadata.New == nil {
			continue
		}
		for name, v := range e.Pre.Metadata.New.Inputs {
			leaves(path{name}, v, func(_ path, text string) {
				if names.Replace(text) != text || holdsAddress(text, ips) {
					found[e.Pre.Metadata.URN] = true
				}
			})
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// clusterIPs are the addresses that Services to be created got in the dry run.
func clusterIPs(events []event) map[string]bool {
	ips := map[string]bool{}
	for _, e := range events {
		if e.Out == nil || !creates(e.Out.Metadata.Op) {
			continue
		}
		s := e.Out.Metadata.after()
		ip, _ := lookup(s.Outputs, path{"spec", "clusterIP"}).v.(string)
		if asked := lookup(s.Inputs, path{"spec", "clusterIP"}).ok; !asked && ip != unknownValue && ip != "None" {
			ips[ip] = true
		}
	}
	return ips
}

// notYetKnown returns a function that says [unknown] where a text holds what only
// this preview knows: the apply will give another value.
func notYetKnown(events []event) func(string) string {
	names, ips := madeUp(events).shown(), clusterIPs(events)
	return func(text string) string {
		text = names.Replace(text)
		if len(ips) == 0 {
			return text
		}
		return address.ReplaceAllStringFunc(text, func(found string) string {
			if ips[found] {
				return unknownText
			}
			return found
		})
	}
}

// address matches an IPv4 address, alone or with the length of its network.
var address = regexp.MustCompile(`\d+\.\d+\.\d+\.\d+(/\d+)?`)

// holdsAddress reports whether a text is or holds one of the addresses. The dry
// run gives the address of the whole network, so with a length it is innocent.
func holdsAddress(text string, ips map[string]bool) bool {
	if len(ips) == 0 {
		return false
	}
	return ips[text] || slices.ContainsFunc(address.FindAllString(text, -1), func(ip string) bool { return ips[ip] })
}
