package engine

type Electric struct{ Pack Battery }

type Battery struct{ Cells map[string]Cell }

type Cell struct{ Volts int }

func (c Cell) Drain() {}

func (e *Electric) Start(speed int) error {
	for _, cell := range e.Pack.Cells {
		cell.Drain()
	}
	return check(speed)
}

func (e *Electric) Stop() {}

func NewElectric(cells ...Cell) (*Electric, error) {
	for _, cell := range cells {
		cell.Drain()
	}
	return &Electric{}, nil
}
