package browser

import "testing"

// A portal goes through bad times: plans that are made again, sessions that are
// deleted, an API server that is away, then texts that mean harm. It is a portal of
// their own, because each of them touches everybody.
func TestBadTimes(t *testing.T) {
	t.Parallel()
	p := ownPortal(t)
	t.Run("a plan is made again", func(t *testing.T) { planIsMadeAgain(t, p) })
	t.Run("a session is deleted", func(t *testing.T) { sessionIsDeleted(t, p) })
	t.Run("the API server goes away", func(t *testing.T) { apiServerGoesAway(t, p) })
	t.Run("nothing that people write is executed", func(t *testing.T) { hostileTexts(t, p) })
}
