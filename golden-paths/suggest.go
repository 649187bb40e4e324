package goldenpaths

import (
	"fmt"
	"strings"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

func inputNames(inputs []v1alpha1.GoldenPathInput) []string {
	names := make([]string, len(inputs))
	for i, input := range inputs {
		names[i] = input.Name
	}
	return names
}

// didYouMean ends a sentence about an unknown name with the nearest known one, if
// one is near enough to be a slip.
func didYouMean(name string, known []string) string {
	best, least := "", max(2, len(name)/3)+1
	for _, candidate := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(candidate)); d < least {
			best, least = candidate, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// maxNameLength keeps a hostile name from costing time.
const maxNameLength = 100

// distance is Levenshtein's: how many characters to add, drop or change.
func distance(a, b string) int {
	if len(a) > maxNameLength || len(b) > maxNameLength {
		return maxNameLength
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
