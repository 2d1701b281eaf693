package seen

import (
	"math"
	"math/bits"
	"sync/atomic"
)

const (
	hashes    = 8   // bits a key sets, one in each 32-bit word of its block
	blockBits = 256 // a block is eight words of 32 bits, held as four of 64
	maxBlocks = 1 << 32
)

// salts are the odd multipliers that turn the low half of a hash into one bit position a word, those of the
// Parquet format's split-block Bloom filter (parquet-format, BloomFilter.md).
var salts = [hashes]uint32{
	0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
}

// Filter is a set of 64-bit hashes that never forgets one and may claim one that was not added: a split-block Bloom
// filter (parquet-format, BloomFilter.md; Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom
// Filters", 2007). A key touches one block of 32 bytes, so one cache line. The high 32 bits of the hash choose the
// block, the low 32 bits the eight bits in it.
//
// All methods may be called concurrently. A Has that begins after an Add of the same hash has returned says true.
type Filter struct {
	blocks [][blockBits / 64]atomic.Uint64
	ones   atomic.Uint64 // bits set
}

// NewFilter returns the smallest empty filter whose predicted false-positive rate is at most rate, in (0, 1), once
// it holds the given number of keys.
func NewFilter(keys uint64, rate float64) *Filter {
	return &Filter{blocks: make([][blockBits / 64]atomic.Uint64, blocksFor(keys, rate))}
}

// Add adds the hash and returns how many bits that has changed, 0 to 8; 0 means that Has said true before.
func (f *Filter) Add(h uint64) int {
	block := f.block(h)
	changed := 0
	for i := range block {
		mask := mask(h, i)
		// The test spares duplicates the locked instruction, and other cores the invalidated cache line.
		if block[i].Load()&mask != mask {
			changed += bits.OnesCount64(mask &^ block[i].Or(mask))
		}
	}
	if changed > 0 {
		f.ones.Add(uint64(changed))
	}
	return changed
}

// Has says whether the hash may have been added. False is certain.
func (f *Filter) Has(h uint64) bool {
	block := f.block(h)
	for i := range block {
		mask := mask(h, i)
		if block[i].Load()&mask != mask {
			return false
		}
	}
	return true
}

// block maps the high half of h to a block by multiplying and shifting. Blocks differ by at most one in how many of
// the 2^32 values they receive, which is even enough while there are far fewer blocks than values: with 2^22 of them,
// enough for 100 million keys at 1 %, each receives 1024.
func (f *Filter) block(h uint64) *[blockBits / 64]atomic.Uint64 {
	return &f.blocks[(h>>32)*uint64(len(f.blocks))>>32]
}

// mask returns the two bits that h has in the i-th 64-bit word of its block, one in each half.
func mask(h uint64, i int) uint64 {
	low := uint32(h) * salts[2*i] >> 27
	high := uint32(h) * salts[2*i+1] >> 27
	return 1<<low | 1<<(32+high)
}

// FPR returns the predicted share of absent keys that Has claims once the filter holds the given number of keys.
func (f *Filter) FPR(keys uint64) float64 {
	return predictFPR(float64(keys) / float64(len(f.blocks)))
}

// Bits returns the size of the filter in bits.
func (f *Filter) Bits() uint64 { return uint64(len(f.blocks)) * blockBits }

// MemoryBytes returns the size of the filter in bytes of memory.
func (f *Filter) MemoryBytes() uint64 { return f.Bits() / 8 }

// Occupancy returns the share of bits that are set.
func (f *Filter) Occupancy() float64 { return float64(f.ones.Load()) / float64(f.Bits()) }

// predictFPR returns the false-positive rate of a filter with the given mean number of keys a block.
//
// A block of j keys has had j bits thrown into each of its eight words, so a given bit of a word is set with
// probability 1 - (31/32)^j, and an absent key hits a set bit in all eight with the eighth power of that. Keys choose
// their blocks independently, so j follows a Poisson distribution, and the rate is the mixture
//
//	sum over j of  e^-load load^j / j!  (1 - (31/32)^j)^8
//
// All terms are positive, so that nothing cancels even where the rate is tiny. The sum ends where what is left of the
// distribution is below the precision of a float64.
func predictFPR(load float64) float64 {
	if load > 700 { // e^-load nears the least float64, and the rate differs from 1 by less than 1e-8
		return 1
	}
	poisson, clear, rate := math.Exp(-load), 1.0, 0.0
	for j, end := 1.0, load+12*math.Sqrt(load)+40; j < end; j++ {
		poisson *= load / j
		clear *= 31.0 / 32
		hit := 1 - clear
		hit *= hit
		hit *= hit
		hit *= hit
		rate += poisson * hit
	}
	return rate
}

// blocksFor returns the least number of blocks, at least 1, at which the predicted rate of a filter that holds the
// given number of keys is at most rate.
func blocksFor(keys uint64, rate float64) uint64 {
	return leastUint64(1, maxBlocks, func(blocks uint64) bool {
		return predictFPR(float64(keys)/float64(blocks)) <= rate
	})
}

// mostKeys returns the greatest number of keys at which the predicted rate of the filter is at most rate.
func (f *Filter) mostKeys(rate float64) uint64 {
	return leastUint64(0, 700*uint64(len(f.blocks)), func(keys uint64) bool {
		return f.FPR(keys+1) > rate
	})
}

// leastUint64 returns the least value in [low, high] for which ok holds, where ok holds for all values above one for
// which it does; high if it holds for none.
func leastUint64(low, high uint64, ok func(uint64) bool) uint64 {
	for low < high {
		if middle := low + (high-low)/2; ok(middle) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}
