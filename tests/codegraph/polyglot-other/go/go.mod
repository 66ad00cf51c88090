module github.com/acme/fleet

go 1.21
