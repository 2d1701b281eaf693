package configs

import (
	"embed"
	"io/fs"
)

//go:generate go test -run TestDefaultYAML -update .

//go:embed *.yaml
var shipped embed.FS

// Shipped returns the configuration files that come with the program: default.yaml, archive.yaml and own-site.yaml.
func Shipped() fs.FS { return shipped }
