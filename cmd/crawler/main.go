// Command crawler crawls the web. See README.md, or crawler help.
package main

import (
	"context"
	"os"
)

func main() {
	app := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr}
	os.Exit(app.run(context.Background(), os.Args[1:]))
}
