// Command crawler crawls the web. See README.md, or crawler help.
package main

import (
	"context"
	"os"
	_ "time/tzdata" // visiting hours name time zones, also where the system has none
)

func main() {
	app := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr}
	os.Exit(app.run(context.Background(), os.Args[1:]))
}
