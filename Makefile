# make          a static binary, bin/crawler
# make test     the tests
# make check    what a change has to pass: all of .ci/check, with FUZZTIME for each fuzz target
# make lint     golangci-lint; apart from check, because building it takes minutes

VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
FUZZTIME ?= 20s
STEPS    := tidy fmt vet staticcheck shuffle race fuzz

.PHONY: build test check lint generate clean $(STEPS)

build:
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w -X main.version=$(VERSION)' -o bin/crawler ./cmd/crawler

test:
	go test ./...

check: $(STEPS)

$(STEPS):
	@FUZZTIME=$(FUZZTIME) .ci/check $@

lint:
	go tool -modfile=tools/lint/go.mod golangci-lint run

generate:
	go generate ./...

clean:
	rm -rf bin
