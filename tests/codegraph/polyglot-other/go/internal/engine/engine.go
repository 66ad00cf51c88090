package engine

import "errors"

var ErrStalled = errors.New("stalled")

type Starter interface {
	Start(speed int) error
}

type Stopper interface {
	Stop()
}

type Engine interface {
	Starter
	Stopper
}

type base struct{ running bool }

func (b *base) Stop() { b.running = false }

type Diesel struct {
	base
	Gears []*Gear
}

type Gear struct{ Ratio int }

func (g *Gear) Turn() int { return g.Ratio }

func (d *Diesel) Start(speed int) error {
	for i := range d.Gears {
		d.Gears[i].Turn()
	}
	return check(speed)
}

func (d Diesel) Start2(speed string) error { return nil }

func check(speed int) error {
	if speed < 0 {
		return ErrStalled
	}
	return nil
}
