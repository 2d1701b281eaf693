package seen

import (
	"errors"
	"fmt"
)

// Config says how the gate's filter is sized. The zero value works: each zero field means its default.
type Config struct {
	// TargetFPR is the false-positive rate the filter is sized for, in (0, 0.5]. Default 0.01.
	TargetFPR float64
	// Headroom is the capacity of a new generation as a multiple of the keys known when it is made, >= 1. Default 1.5.
	Headroom float64
	// RebuildAt is the multiple of TargetFPR at which the filter is rebuilt, > 1. Default 2.
	RebuildAt float64
	// MinCapacity is the least capacity of a generation, in keys. Default 65536.
	MinCapacity uint64
}

func (c Config) withDefaults() Config {
	if c.TargetFPR == 0 {
		c.TargetFPR = 0.01
	}
	if c.Headroom == 0 {
		c.Headroom = 1.5
	}
	if c.RebuildAt == 0 {
		c.RebuildAt = 2
	}
	if c.MinCapacity == 0 {
		c.MinCapacity = 1 << 16
	}
	return c
}

// Validate reports every value that is out of range, joined.
func (c Config) Validate() error {
	c = c.withDefaults()
	var errs []error
	if !(c.TargetFPR > 0 && c.TargetFPR <= 0.5) {
		errs = append(errs, fmt.Errorf("target_fpr: %v is outside (0, 0.5]", c.TargetFPR))
	}
	if !(c.Headroom >= 1) {
		errs = append(errs, fmt.Errorf("headroom: %v is less than 1", c.Headroom))
	}
	if !(c.RebuildAt > 1) {
		errs = append(errs, fmt.Errorf("rebuild_at: %v is not more than 1", c.RebuildAt))
	}
	return errors.Join(errs...)
}
