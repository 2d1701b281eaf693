package crawl

import (
	"context"
	"time"
)

// diskPeriod is the time between looks at the free space of the disk.
const diskPeriod = 5 * time.Second

// watchDisk ends the crawl when the data directory's disk is nearly full, until ctx ends.
func (c *Crawl) watchDisk(ctx context.Context) error {
	if c.cfg.Limits.MinFreeDisk <= 0 {
		return nil
	}
	tick := time.NewTicker(diskPeriod)
	defer tick.Stop()
	for {
		if free, ok := freeDisk(c.dir.Path()); ok && free < c.cfg.Limits.MinFreeDisk {
			return ErrMinFreeDisk
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}
