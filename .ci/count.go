// Count reads the output of go test -json, prints what go test prints without -v, and writes the number of tests,
// subtests included, that passed, failed and were skipped to the file that its argument names.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"
)

// event is a line of go test -json; see go doc test2json and go help buildjson.
type event struct {
	Action, Package, Test, Output string
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: go test -json ./... | go run .ci/count.go FILE")
	}
	count := make(map[string]int)
	output := make(map[string]*strings.Builder) // of the tests that run
	faulty := make(map[string]bool)             // packages with a failed test
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var e event
		if json.Unmarshal(line, &e) != nil {
			os.Stdout.Write(line)
			continue
		}
		id := e.Package + "." + e.Test
		switch {
		case e.Action == "build-output" || e.Action == "output" && e.Test == "" && e.Output != "PASS\n":
			fmt.Print(e.Output)
		case e.Action == "output" && e.Test != "":
			if output[id] == nil {
				output[id] = new(strings.Builder)
			}
			output[id].WriteString(e.Output)
		case e.Action == "pass" || e.Action == "skip" || e.Action == "fail":
			if e.Action == "fail" && output[id] != nil {
				fmt.Print(output[id])
			}
			delete(output, id)
			switch {
			case e.Test != "":
				count[e.Action]++
				faulty[e.Package] = faulty[e.Package] || e.Action == "fail"
			case e.Action == "fail" && !faulty[e.Package]:
				count["fail"]++ // it did not build, or ended outside a test
			}
		}
	}
	summary := fmt.Sprintf("%d passed, %d failed, %d skipped\n", count["pass"], count["fail"], count["skip"])
	if err := os.WriteFile(os.Args[1], []byte(summary), 0o644); err != nil {
		log.Fatal(err)
	}
}
