package seen

import "context"

// Hooks for tests.
var (
	OpenWithHash = open
	Seeded       = seeded
	MaxRing      = ringSize
)

// Cover does what Run does first.
func (g *Gate) Cover() error { return g.cover(context.Background()) }
