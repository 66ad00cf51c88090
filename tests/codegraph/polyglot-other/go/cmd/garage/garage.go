package main

import (
	eng "github.com/acme/fleet/internal/engine"
	"github.com/acme/fleet/pkg/truck"
)

type fakeEngine struct{}

func (fakeEngine) Start(int) error { return nil }
func (fakeEngine) Stop()           {}

func build() truck.Truck {
	electric, err := eng.NewElectric(eng.Cell{Volts: 3})
	if err != nil {
		panic(err)
	}
	electric.Stop()
	return truck.Truck{Engine: electric}
}

func main() {
	t := build()
	t.Drive()
	other := truck.With(&eng.Diesel{Gears: []*eng.Gear{{Ratio: 1}}})
	go other.Drive()
	defer func() { truck.With(fakeEngine{}).Park() }()
	switch e := t.Engine.(type) {
	case *eng.Diesel:
		e.Gears[0].Turn()
	}
}
