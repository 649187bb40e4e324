package auth

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// cookies makes all cookies of this package alike.
type cookies struct {
	secure bool
	// prefix and suffix keep names apart from those of other servers. On plain
	// http the browser shares cookies between all ports of the loopback
	// interface, so the port is part of the name.
	prefix, suffix string
}

func newCookies(portal string) cookies {
	// The address was checked by New.
	u, _ := url.Parse(portal)
	if u.Scheme == "https" {
		return cookies{secure: true, prefix: "__Host-"}
	}
	c := cookies{}
	if port := u.Port(); port != "" {
		c.suffix = "-" + port
	}
	return c
}

func (c cookies) session() string { return c.prefix + "towpath-session" + c.suffix }

func (c cookies) attempt(name string) string { return c.attemptPrefix() + name }

func (c cookies) attemptPrefix() string { return c.prefix + "towpath-sign-in" + c.suffix + "-" }

func (c cookies) set(w http.ResponseWriter, name, value string, life time.Duration) {
	c.write(w, name, value, int(life.Seconds()))
}

func (c cookies) clear(w http.ResponseWriter, name string) {
	c.write(w, name, "", -1)
}

func (c cookies) write(w http.ResponseWriter, name, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: maxAge,
		Secure: c.secure, HttpOnly: true,
		// Lax, not Strict: the way back from the identity provider crosses sites.
		SameSite: http.SameSiteLaxMode,
	})
}

// attemptsIn returns the names of the cookies of sign-ins under way.
func (c cookies) attemptsIn(r *http.Request) []string {
	var names []string
	for _, cookie := range r.Cookies() {
		if strings.HasPrefix(cookie.Name, c.attemptPrefix()) {
			names = append(names, cookie.Name)
		}
	}
	return names
}

func value(r *http.Request, name string) string {
	cookie, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return cookie.Value
}
