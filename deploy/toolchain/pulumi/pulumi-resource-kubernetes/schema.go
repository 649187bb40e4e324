package main

import _ "embed"

// Both files are written by the toolchain build from the provider's module and
// are not in the repository: together they are 8 MB.
var (
	//go:embed schema-embed.json
	schema []byte
	//go:embed terraform-mapping-embed.json
	terraformMapping []byte
)
