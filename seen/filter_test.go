package seen_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"crawler/seen"
)

// parquetFilter is the filter as the Parquet format specifies it, word by word.
type parquetFilter [][8]uint32

func (f parquetFilter) mask(h uint64) (block uint64, mask [8]uint32) {
	salts := [8]uint32{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31}
	for i, salt := range salts {
		mask[i] = 1 << (uint32(h) * salt >> 27)
	}
	return ((h >> 32) * uint64(len(f))) >> 32, mask
}

func (f parquetFilter) insert(h uint64) {
	block, mask := f.mask(h)
	for i := range mask {
		f[block][i] |= mask[i]
	}
}

func (f parquetFilter) check(h uint64) bool {
	block, mask := f.mask(h)
	for i := range mask {
		if f[block][i]&mask[i] == 0 {
			return false
		}
	}
	return true
}

func (f parquetFilter) ones() int {
	sum := 0
	for _, block := range f {
		for _, word := range block {
			for ; word != 0; word &= word - 1 {
				sum++
			}
		}
	}
	return sum
}

func TestFilterIsParquetsSplitBlockFilter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := seen.NewFilter(rapid.Uint64Range(0, 500).Draw(t, "keys"), 0.01)
		model := make(parquetFilter, f.Bits()/256)
		ones := 0
		for _, h := range rapid.SliceOf(rapid.Uint64()).Draw(t, "added") {
			model.insert(h)
			changed := f.Add(h)
			ones += changed
			if got, want := ones, model.ones(); got != want {
				t.Fatalf("after Add(%#x) the changed bits sum to %d, want %d", h, got, want)
			}
			if !f.Has(h) {
				t.Fatalf("Has(%#x) is false after Add", h)
			}
			if again := f.Add(h); again != 0 {
				t.Fatalf("Add(%#x) changed %d bits the second time", h, again)
			}
		}
		for _, h := range rapid.SliceOf(rapid.Uint64()).Draw(t, "asked") {
			if got, want := f.Has(h), model.check(h); got != want {
				t.Fatalf("Has(%#x) = %v, want %v", h, got, want)
			}
		}
		if got, want := f.Occupancy(), float64(ones)/float64(f.Bits()); got != want {
			t.Fatalf("Occupancy() = %v, want %v", got, want)
		}
	})
}

// closedFPR is the rate by another road than the sum over block loads: (1-q^j)^8 expanded by the binomial theorem, and
// the mean of each q^(ij) taken from the generating function of the Poisson distribution.
func closedFPR(load float64) float64 {
	rate, binomial := 0.0, 1.0
	for i := range 9 {
		term := binomial * math.Exp(-load*(1-math.Pow(31.0/32, float64(i))))
		if i%2 == 1 {
			term = -term
		}
		rate += term
		binomial = binomial * float64(8-i) / float64(i+1)
	}
	return rate
}

func TestPredictedRateIsThePoissonMixture(t *testing.T) {
	f := seen.NewFilter(100_000, 0.01)
	blocks := f.Bits() / 256
	for _, load := range []uint64{0, 1, 5, 24, 50, 100, 300, 699, 5000} {
		got, want := f.FPR(load*blocks), closedFPR(float64(load))
		if math.Abs(got-want) > 1e-8 {
			t.Errorf("at %d keys a block the predicted rate is %v, want %v", load, got, want)
		}
	}
}

func TestFilterIsTheLeastThatMeetsTheRate(t *testing.T) {
	for _, keys := range []uint64{1, 1000, 65_536, 1_000_000} {
		for _, rate := range []float64{0.5, 0.1, 0.01, 0.001, 1e-6} {
			f := seen.NewFilter(keys, rate)
			blocks := f.Bits() / 256
			if got := f.FPR(keys); got > rate {
				t.Errorf("%d keys at %v: predicted rate %v", keys, rate, got)
			}
			if blocks > 1 && closedFPR(float64(keys)/float64(blocks-1)) <= rate {
				t.Errorf("%d keys at %v: %d blocks where one less is enough", keys, rate, blocks)
			}
		}
	}
}

func TestMeasuredRateIsThePredictedOne(t *testing.T) {
	const keys, probes = 50_000, 100_000
	for _, target := range []float64{0.1, 0.01, 0.001} {
		f := seen.NewFilter(keys, target)
		rng := rand.New(rand.NewPCG(1, 2))
		for added, fill := uint64(0), 1; fill <= 3; fill++ {
			for ; added < uint64(fill)*keys; added++ {
				f.Add(rng.Uint64())
			}
			positives := 0
			for range probes {
				if f.Has(rng.Uint64()) {
					positives++
				}
			}
			got, want := float64(positives)/probes, f.FPR(added)
			// Five standard deviations of the probes, and 3 % for the loads that the blocks happen to have.
			if slack := 5*math.Sqrt(want*(1-want)/probes) + 0.03*want; math.Abs(got-want) > slack {
				t.Errorf("target %v, filled %d times: measured %v, predicted %v +- %v", target, fill, got, want, slack)
			}
		}
	}
}

func TestConcurrentAddsLoseNoBit(t *testing.T) {
	const rounds, goroutines, each = 100, 64, 64
	rng := rand.New(rand.NewPCG(3, 4))
	for range rounds {
		// Few blocks, so that goroutines meet in the same words, and not so many keys that others set a lost bit again.
		f, sequential := seen.NewFilter(1500, 0.01), seen.NewFilter(1500, 0.01)
		var hashes [goroutines][each]uint64
		for n := range hashes {
			for i := range each {
				hashes[n][i] = rng.Uint64()
				sequential.Add(hashes[n][i])
			}
		}
		start := make(chan struct{})
		var wg sync.WaitGroup
		for _, own := range hashes {
			wg.Go(func() {
				<-start
				for _, h := range own {
					f.Add(h)
				}
			})
		}
		close(start)
		wg.Wait()
		if got, want := f.Occupancy(), sequential.Occupancy(); got != want {
			t.Fatalf("Occupancy() = %v, want %v as of the same keys added in turn", got, want)
		}
		for _, own := range hashes {
			for _, h := range own {
				if !f.Has(h) {
					t.Fatalf("Has(%#x) is false", h)
				}
			}
		}
	}
}

func ExampleNewFilter() {
	f := seen.NewFilter(1_000_000, 0.01)
	f.Add(0x9e3779b97f4a7c15)
	fmt.Println(f.Has(0x9e3779b97f4a7c15), f.Has(0xbf58476d1ce4e5b9))
	fmt.Printf("%.2f bits a key, %.2f %% false positives when full, %.1f %% at twice the keys\n",
		float64(f.Bits())/1_000_000, 100*f.FPR(1_000_000), 100*f.FPR(2_000_000))
	// Output:
	// true false
	// 10.53 bits a key, 1.00 % false positives when full, 15.3 % at twice the keys
}
