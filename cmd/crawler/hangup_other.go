//go:build !unix

package main

import "os"

// notifyHangup does nothing: this system has no such signal.
func notifyHangup(chan<- os.Signal) {}
