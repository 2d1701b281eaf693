package frontier

import (
	"cmp"
	"container/heap"
)

// schedule orders hosts by the time they are due, soonest first, and those of a partition that are due at the same time by
// their IDs, so that the order does not depend on chance. It implements heap.Interface.
type schedule []*host

func (s schedule) Len() int { return len(s) }

func (s schedule) Less(i, j int) bool {
	return cmp.Or(s[i].due.Compare(s[j].due), cmp.Compare(s[i].ID, s[j].ID)) < 0
}

func (s schedule) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].place, s[j].place = i, j
}

func (s *schedule) Push(x any) {
	h := x.(*host)
	h.place = len(*s)
	*s = append(*s, h)
}

func (s *schedule) Pop() any {
	last := len(*s) - 1
	h := (*s)[last]
	(*s)[last] = nil
	*s = (*s)[:last]
	h.place = unscheduled
	return h
}

// unscheduled is the place of a host that is not in the schedule.
const unscheduled = -1

// put schedules h, or moves it to where its due time belongs.
func (s *schedule) put(h *host) {
	if h.place == unscheduled {
		heap.Push(s, h)
	} else {
		heap.Fix(s, h.place)
	}
}

// remove takes h out, if it is in.
func (s *schedule) remove(h *host) {
	if h.place != unscheduled {
		heap.Remove(s, h.place)
	}
}
