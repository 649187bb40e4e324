package auth

import (
	"fmt"
	"net/http"
)

// failureCode names a kind of failure, for people to quote and for the log.
type failureCode string

const (
	codeAttempt     failureCode = "sign-in-not-found"
	codeReplay      failureCode = "sign-in-used"
	codeDeclined    failureCode = "declined"
	codeIssuer      failureCode = "wrong-issuer"
	codeProvider    failureCode = "provider"
	codeToken       failureCode = "token"
	codeUsername    failureCode = "username"
	codeEmail       failureCode = "email-not-verified"
	codeGroups      failureCode = "groups"
	codeOverage     failureCode = "too-many-groups"
	codeRate        failureCode = "too-many-sign-ins"
	codeStore       failureCode = "session-store"
	codeNoSession   failureCode = "no-session"
	codeCrossOrigin failureCode = "cross-origin"
)

// failures holds every text that a failed sign-in may show. None has a part
// that comes from a request or a token.
var failures = map[failureCode]struct {
	status         int
	title, message string
}{
	codeAttempt: {
		http.StatusBadRequest, "Sign-in not finished",
		"This sign-in was begun in another browser, or too long ago. Sign in again.",
	},
	codeReplay: {
		http.StatusBadRequest, "Sign-in not finished",
		"This sign-in has been used already. Sign in again.",
	},
	codeDeclined: {
		http.StatusUnauthorized, "Not signed in",
		"The identity provider did not sign you in. Try again, or ask those who run it.",
	},
	codeIssuer: {
		http.StatusBadRequest, "Not signed in",
		"The answer came from another identity provider than the one asked. Sign in again; if it happens twice, tell the platform team.",
	},
	codeProvider: {
		http.StatusBadGateway, "Not signed in",
		"The identity provider cannot be reached, or gave no usable answer. Try again in a minute.",
	},
	codeToken: {
		http.StatusUnauthorized, "Not signed in",
		"The identity provider's answer did not pass the checks. Sign in again; if it happens twice, tell the platform team.",
	},
	codeUsername: {
		http.StatusUnauthorized, "Not signed in",
		"The identity provider gave no username that can be used here. Tell the platform team.",
	},
	codeEmail: {
		http.StatusUnauthorized, "Not signed in",
		"Your email address is not verified at the identity provider. Verify it there, then sign in again.",
	},
	codeGroups: {
		http.StatusUnauthorized, "Not signed in",
		"The identity provider gave no groups that can be used here. Tell the platform team.",
	},
	codeOverage: {
		http.StatusUnauthorized, "Not signed in",
		"You are in more groups than the identity provider puts into a sign-in. Tell the platform team: they can limit which groups it sends.",
	},
	codeRate: {
		http.StatusTooManyRequests, "Too many sign-ins",
		"There were too many sign-ins in a short time. Wait a minute, then try again.",
	},
	codeStore: {
		http.StatusServiceUnavailable, "Sessions cannot be read",
		"The cluster does not answer just now, so nobody can be recognised. Try again in a minute; you stay signed in.",
	},
	codeNoSession: {
		http.StatusUnauthorized, "Not signed in",
		"Sign in first.",
	},
	codeCrossOrigin: {
		http.StatusForbidden, "Not accepted",
		"This came from another site. Open the page here and send it from there.",
	},
}

// Failure is why somebody could not sign in or be recognised. Title and Message
// are fixed texts for people, the code in them; Err is for the log only.
type Failure struct {
	Status         int
	Code           string
	Title, Message string
	Err            error
}

// Error implements error; it is for logs.
func (f *Failure) Error() string {
	if f.Err == nil {
		return "sign-in: " + f.Code
	}
	return fmt.Sprintf("sign-in: %s: %v", f.Code, f.Err)
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

func fail(code failureCode, err error) *Failure {
	text := failures[code]
	message := text.message + " Code: " + string(code) + "."
	return &Failure{Status: text.status, Code: string(code), Title: text.title, Message: message, Err: err}
}
