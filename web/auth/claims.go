package auth

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/towpath-dev/towpath/controller/plan"
)

const (
	maxName   = 256
	maxGroups = 2000

	reserved = "system:"

	emailClaim = "email"
)

// Claims say how the claims of an ID token become a Kubernetes user, as the
// flags --oidc-… of a kube-apiserver do.
type Claims struct {
	// Username is the claim with the username; empty means sub.
	Username string
	// UsernamePrefix is put before the username.
	UsernamePrefix string
	// Groups is the claim with the groups; empty means that groups are not taken
	// from the issuer.
	Groups string
	// GroupsPrefix is put before each group.
	GroupsPrefix string
}

// claimsError is a reason to refuse a person, with what to tell them.
type claimsError struct {
	code failureCode
	err  error
}

func (e *claimsError) Error() string { return e.err.Error() }
func (e *claimsError) Unwrap() error { return e.err }

func (c Claims) withDefaults() Claims {
	if c.Username == "" {
		c.Username = "sub"
	}
	return c
}

func (c Claims) check() error {
	for _, prefix := range []string{c.UsernamePrefix, c.GroupsPrefix} {
		if strings.HasPrefix(strings.ToLower(prefix), reserved) {
			return fmt.Errorf("the prefix %q belongs to Kubernetes itself", prefix)
		}
		if plan.Sanitize(prefix) != prefix {
			return fmt.Errorf("the prefix %q has characters that do not show", prefix)
		}
	}
	return nil
}

// person makes a Kubernetes user of claims, or refuses. What is missing, empty
// or of another type than expected is never taken for "no restriction".
func (c Claims) person(claims map[string]any) (Person, error) {
	username, err := c.username(claims)
	if err != nil {
		return Person{}, err
	}
	groups, err := c.groups(claims)
	if err != nil {
		return Person{}, err
	}
	return Person{Username: username, Groups: groups, Name: display(claims, "name"), Email: display(claims, emailClaim)}, nil
}

func (c Claims) username(claims map[string]any) (string, error) {
	name, ok := claims[c.Username].(string)
	if !ok {
		return "", &claimsError{codeUsername, fmt.Errorf("claim %q is missing or no string", c.Username)}
	}
	if verified, present := claims["email_verified"]; c.Username == emailClaim && present && verified != true {
		return "", &claimsError{codeEmail, errors.New("the email address is not verified")}
	}
	prefixed, err := prefix(c.UsernamePrefix, name)
	if err != nil {
		return "", &claimsError{codeUsername, fmt.Errorf("claim %q: %w", c.Username, err)}
	}
	return prefixed, nil
}

func (c Claims) groups(claims map[string]any) ([]string, error) {
	if c.Groups == "" {
		return nil, nil
	}
	if c.tooMany(claims) {
		return nil, &claimsError{codeOverage, fmt.Errorf("the issuer leaves claim %q out of the token, as there are too many", c.Groups)}
	}
	var values []any
	switch claim := claims[c.Groups].(type) {
	case string:
		values = []any{claim}
	case []any:
		values = claim
	}
	if len(values) == 0 || len(values) > maxGroups {
		return nil, &claimsError{codeGroups, fmt.Errorf("claim %q is missing, empty, no list, or has over %d entries", c.Groups, maxGroups)}
	}
	groups := make([]string, 0, len(values))
	for _, value := range values {
		name, ok := value.(string)
		if !ok {
			return nil, &claimsError{codeGroups, fmt.Errorf("claim %q holds a %T", c.Groups, value)}
		}
		group, err := prefix(c.GroupsPrefix, name)
		if err != nil {
			return nil, &claimsError{codeGroups, fmt.Errorf("claim %q: %w", c.Groups, err)}
		}
		groups = append(groups, group)
	}
	slices.Sort(groups)
	return slices.Compact(groups), nil
}

// tooMany reports whether the issuer says that groups are to be had elsewhere
// only. To take that for "no groups" would be to judge a person by half of what
// is known.
func (c Claims) tooMany(claims map[string]any) bool {
	elsewhere, _ := claims["_claim_names"].(map[string]any)
	_, distributed := elsewhere[c.Groups]
	return distributed || claims["hasgroups"] == true
}

// prefix checks a name both as the issuer gives it and as Kubernetes would see it.
func prefix(before, name string) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	return before + name, checkName(before + name)
}

// checkName refuses names that could pass for somebody else's.
func checkName(name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return errors.New("a name is empty")
	case strings.TrimSpace(name) != name:
		return fmt.Errorf("name %q begins or ends with a space", name)
	case len(name) > maxName:
		return fmt.Errorf("a name has over %d bytes", maxName)
	case strings.HasPrefix(strings.ToLower(name), reserved):
		return fmt.Errorf("name %q belongs to Kubernetes itself", name)
	case plan.Sanitize(name) != name:
		return fmt.Errorf("name %q has characters that do not show", name)
	}
	return nil
}

// display returns a claim that is only shown, if it is fit for that.
func display(claims map[string]any, claim string) string {
	text, _ := claims[claim].(string)
	if len(text) > maxName || plan.Sanitize(text) != text {
		return ""
	}
	return strings.TrimSpace(text)
}
